//! A fork finds nobody inside SQLite: not beside a statement that runs, nor beside one whose rows wait for a reader.

mod db_support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use db_support::{ENDLESS, PATIENCE, file_with};
use fastr_core::db::{DatabaseOptions, Query, standstill};
use fastr_core::waiter::{Waited, Waiter};
use fastr_core::{Completer, CompletionId, Outcome};

#[test]
fn threads_leave_sqlite_while_asked_and_go_on_afterwards() {
    let test = file_with(DatabaseOptions::default());
    let completer =
        |waiter: &Arc<Waiter>, id| Completer::waiter(Arc::clone(waiter), CompletionId(id));
    let (running, streaming, late) = (Arc::default(), Arc::default(), Arc::default());
    let handle = test.submit(Query::new(ENDLESS), completer(&running, 1));
    test.stream(
        Query::new(
            "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n",
        ),
        1,
        completer(&streaming, 2),
    );
    let Waited::Completed(Ok(Outcome::Stream(stream))) = streaming.wait(Some(PATIENCE)) else {
        panic!("a stream begins at once");
    };
    std::thread::sleep(Duration::from_millis(50));

    let asked = Instant::now();
    assert!(standstill::ask(Duration::from_secs(5)));
    assert!(asked.elapsed() < Duration::from_secs(4));
    test.submit(Query::new("select 1"), completer(&late, 3));
    let waited = late.wait(Some(Duration::from_millis(50)));
    assert!(matches!(waited, Waited::TimedOut), "{waited:?}");
    standstill::release();
    standstill::release();
    let waited = late.wait(Some(PATIENCE));
    assert!(matches!(waited, Waited::Completed(Ok(_))), "{waited:?}");

    stream.close();
    handle.cancel();
    assert!(matches!(
        running.wait(Some(PATIENCE)),
        Waited::Completed(Err(_))
    ));
    assert!(test.close(PATIENCE));
}
