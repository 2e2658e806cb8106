//! Waiting, cancelling, timing out, opening and closing.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::time::{Duration, Instant};

use db_support::*;
use fastr_core::db::{BeginOptions, Database, DatabaseOptions, Query, Value};
use fastr_core::error::DatabaseErrorKind;
use fastr_core::{Error, Outcome};

fn readers(readers: usize) -> DatabaseOptions {
    DatabaseOptions {
        readers,
        ..DatabaseOptions::default()
    }
}

fn endless() -> Query {
    Query::new(ENDLESS)
}

#[test]
fn a_cancelled_query_frees_its_connection_at_once() {
    let database = file_with(readers(1));
    let running = start(&database, endless());
    assert!(running.within(Duration::from_millis(200)).is_none());
    let waiting = start(&database, Query::new("select 7"));
    let since = Instant::now();
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    waiting.result().unwrap();
    assert!(
        since.elapsed() < Duration::from_millis(50),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(integer(&database, "select 8"), 8);
    assert_eq!(database.stats().size, 1, "the connection was kept");
    running.cancel();
    assert_eq!(
        integer(&database, "select 9"),
        9,
        "a late cancel hit the next query"
    );
}

#[test]
fn a_cancelled_waiter_leaves_the_queue_at_once() {
    let database = file_with(readers(1));
    let running = start(&database, endless());
    let waiting = start(&database, Query::new("select 1"));
    assert_eq!(database.stats().waiting, 1);
    waiting.cancel();
    assert_eq!(waiting.error().kind, DatabaseErrorKind::Cancelled);
    assert_eq!(database.stats().waiting, 0);
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
}

#[test]
fn a_query_past_its_limit_is_stopped() {
    let database = file();
    let limited = Query {
        timeout: Some(Duration::from_millis(100)),
        ..endless()
    };
    let since = Instant::now();
    let stopped = error(&database, limited);
    assert_kind(&stopped, DatabaseErrorKind::QueryTimeout, "0.1 s");
    assert!(
        since.elapsed() < Duration::from_millis(300),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(integer(&database, "select 1"), 1);
}

#[test]
fn the_default_query_limit_is_the_databases() {
    let database = file_with(DatabaseOptions {
        query_timeout: Some(Duration::from_millis(50)),
        ..DatabaseOptions::default()
    });
    assert_eq!(
        error(&database, endless()).kind,
        DatabaseErrorKind::QueryTimeout
    );
}

#[test]
fn a_waiter_past_its_deadline_is_answered_on_time() {
    let database = file_with(DatabaseOptions {
        pool_timeout: Duration::from_millis(100),
        ..readers(1)
    });
    let running = start(&database, endless());
    assert!(eventually(|| database.stats().busy == 1));
    for _ in 0..2 {
        let since = Instant::now();
        let late = error(&database, "select 1");
        let waited = since.elapsed();
        assert!(waited >= Duration::from_millis(100), "{waited:?}");
        assert!(waited < Duration::from_millis(200), "{waited:?}");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "size 1, busy 1");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "with recursive");
    }
    assert_eq!(database.stats().timeouts, 2);
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    assert_eq!(integer(&database, "select 1"), 1);
}

#[test]
fn a_writer_behind_a_transaction_times_out_too() {
    let database = file_with(DatabaseOptions {
        pool_timeout: Duration::from_millis(50),
        ..DatabaseOptions::default()
    });
    let transaction = begin(&database);
    let late = error(&database, "create table t (n)");
    assert_kind(
        &late,
        DatabaseErrorKind::PoolTimeout,
        "transaction 1 has been open",
    );
    let late = begin_with(&database, BeginOptions::default()).error();
    assert_eq!(late.kind, DatabaseErrorKind::PoolTimeout);
    commit(&database, transaction);
    written(&database, "create table t (n)");
}

#[test]
fn one_waiter_too_many_is_refused_at_once() {
    let database = file_with(DatabaseOptions {
        max_waiting: 3,
        ..readers(1)
    });
    let running = start(&database, endless());
    assert!(eventually(|| database.stats().busy == 1));
    let waiting: Vec<Pending> = (0..3)
        .map(|_| start(&database, Query::new("select 1")))
        .collect();
    let refused = error(&database, "select 1");
    assert_kind(&refused, DatabaseErrorKind::PoolTimeout, "waiting 3");
    running.cancel();
    for pending in waiting {
        pending.result().unwrap();
    }
}

#[test]
fn two_hundred_queries_half_of_them_cancelled_leak_nothing() {
    let database = file_with(readers(2));
    let pending: Vec<Pending> = (0..200)
        .map(|number| match number % 2 {
            0 => start(&database, endless()),
            _ => start(&database, Query::new("select 1")),
        })
        .collect();
    for pending in pending.iter().step_by(2) {
        pending.cancel();
    }
    for (number, pending) in pending.iter().enumerate() {
        match number % 2 {
            0 => assert_eq!(pending.error().kind, DatabaseErrorKind::Cancelled),
            _ => assert!(pending.result().is_ok()),
        }
    }
    let stats = database.stats();
    assert_eq!((stats.busy, stats.waiting, stats.size), (0, 0, 2));
    let again: Vec<Pending> = (0..50)
        .map(|_| start(&database, Query::new("select 1")))
        .collect();
    assert!(again.iter().all(|pending| pending.result().is_ok()));
}

#[test]
fn a_cancel_never_hits_the_next_query() {
    let database = file_with(readers(1));
    for _ in 0..2000 {
        let victim = start(&database, Query::new("select 1"));
        let next = start(&database, Query::new("select 2"));
        victim.cancel();
        victim.result().ok();
        assert!(next.result().is_ok());
    }
}

#[test]
fn low_load_stays_on_one_reader_and_more_come_as_needed() {
    let database = file();
    for _ in 0..100 {
        assert_eq!(integer(&database, "select 1"), 1);
    }
    assert_eq!(database.stats().size, 1);
    let running: Vec<Pending> = (0..4).map(|_| start(&database, endless())).collect();
    assert!(eventually(|| database.stats().busy == 4));
    assert_eq!(database.stats().size, 4);
    running.iter().for_each(Pending::cancel);
    running.iter().for_each(|pending| drop(pending.result()));
    let stats = database.stats();
    assert_eq!((stats.idle, stats.busy), (4, 0));
}

#[test]
fn many_threads_get_their_own_answers() {
    let database = file();
    written(&database, "create table t (thread integer, n integer)");
    std::thread::scope(|scope| {
        for thread in 0..8_i64 {
            let database = &database;
            scope.spawn(move || {
                for number in 0..100_i64 {
                    let binds = vec![Value::Integer(thread), Value::Integer(number)];
                    written(
                        database,
                        Query::new("insert into t values (?, ?)").binds(binds),
                    );
                    let own = Query::new("select count(*) from t where thread = ?");
                    let count = integer(database, own.binds(vec![Value::Integer(thread)]));
                    assert_eq!(count, number + 1);
                }
            });
        }
    });
    assert_eq!(integer(&database, "select count(*) from t"), 800);
}

#[test]
fn many_handles_open_one_new_file_together() {
    let first = file();
    let url = first.url();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let url = &url;
            scope.spawn(move || {
                let database = Database::open(url, DatabaseOptions::default()).unwrap();
                let read = start(&database, Query::new("select count(*) from sqlite_schema"));
                written(&database, &*format!("create table t{thread} (n)"));
                read.result().unwrap();
            });
        }
    });
    assert_eq!(integer(&first, "select count(*) from sqlite_schema"), 8);
    assert_eq!(
        rows(&first, "select * from pragma_journal_mode").row(0),
        Some(&[text("wal")][..])
    );
}

#[test]
fn a_lock_of_another_process_is_waited_for_and_then_reported() {
    let database = file_with(DatabaseOptions {
        busy_timeout: Duration::from_millis(150),
        ..DatabaseOptions::default()
    });
    written(&database, "create table t (n)");
    let stranger = database.stranger();
    stranger
        .execute_batch("begin immediate; insert into t values (1)")
        .unwrap();
    let since = Instant::now();
    let busy = error(&database, "insert into t values (2)");
    assert_kind(&busy, DatabaseErrorKind::Busy, "busy_timeout");
    assert!(since.elapsed() >= Duration::from_millis(150));
    assert_eq!(
        begin_with(&database, BeginOptions::default()).error().kind,
        DatabaseErrorKind::Busy
    );
    assert_eq!(
        integer(&database, "select count(*) from t"),
        0,
        "readers go on"
    );
    stranger.execute_batch("commit").unwrap();
    written(&database, "insert into t values (2)");
    assert_eq!(integer(&database, "select count(*) from t"), 2);
}

#[test]
fn waiting_for_a_lock_can_be_cancelled_and_timed() {
    let database = file();
    written(&database, "create table t (n)");
    let stranger = database.stranger();
    stranger.execute_batch("begin immediate").unwrap();
    let write = start(&database, Query::new("insert into t values (2)"));
    assert!(write.within(Duration::from_millis(100)).is_none());
    let since = Instant::now();
    write.cancel();
    assert_eq!(write.error().kind, DatabaseErrorKind::Cancelled);
    assert!(
        since.elapsed() < Duration::from_millis(50),
        "{:?}",
        since.elapsed()
    );
    let limited = Query {
        timeout: Some(Duration::from_millis(50)),
        ..Query::new("insert into t values (2)")
    };
    assert_eq!(
        error(&database, limited).kind,
        DatabaseErrorKind::QueryTimeout
    );
}

#[test]
fn a_database_that_cannot_be_opened_names_the_file_and_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let garbage = directory.path().join("garbage.db");
    std::fs::write(
        &garbage,
        "this is not a database, whatever its name says ".repeat(50),
    )
    .unwrap();
    let missing = directory.path().join("missing.db");
    for (url, reason) in [
        (
            format!("sqlite:{}/no/such/x.db", directory.path().display()),
            "does not exist; create it",
        ),
        (
            format!("sqlite:{}", directory.path().display()),
            "it is a directory",
        ),
        (
            format!("sqlite:{}?mode=rw", missing.display()),
            "use mode=rwc",
        ),
        (
            format!("sqlite:{}?mode=ro", missing.display()),
            "use mode=rwc",
        ),
        (format!("sqlite:{}", garbage.display()), "not a database"),
    ] {
        let database = Database::open(&url, DatabaseOptions::default()).unwrap();
        for sql in ["select 1", "create table t (n)"] {
            let failed = error(&database, sql);
            assert_kind(&failed, DatabaseErrorKind::Connection, reason);
            assert_kind(
                &failed,
                DatabaseErrorKind::Connection,
                &directory.path().display().to_string(),
            );
        }
    }
    let unknown = Database::open("postgres://localhost/x", DatabaseOptions::default());
    assert!(
        matches!(unknown, Err(Error::Database(error)) if error.kind == DatabaseErrorKind::Connection)
    );
}

#[test]
fn a_database_that_appears_later_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("later/test.db");
    let database = Database::open(&path.display().to_string(), DatabaseOptions::default()).unwrap();
    assert_eq!(
        error(&database, "select 1").kind,
        DatabaseErrorKind::Connection
    );
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    assert_eq!(integer(&database, "select 1"), 1);
}

#[test]
fn a_read_only_database_reads_and_refuses_to_write() {
    let database = file();
    written(&database, "create table t (n)");
    let url = format!("{}?mode=ro", database.url());
    let read_only = Database::open(&url, DatabaseOptions::default()).unwrap();
    assert_eq!(integer(&read_only, "select count(*) from t"), 0);
    let refused = error(&read_only, "insert into t values (1)");
    assert_kind(&refused, DatabaseErrorKind::Query, "readonly");
}

#[test]
fn closing_answers_what_waits_and_stops_what_runs() {
    let database = file_with(readers(1));
    let transaction = begin(&database);
    let running = start(&database, endless());
    assert!(eventually(|| database.stats().busy == 2));
    let waiting = start(&database, Query::new("select 1"));
    let since = Instant::now();
    assert!(
        database.close(Duration::from_secs(5)),
        "the threads did not end"
    );
    assert!(
        since.elapsed() < Duration::from_millis(500),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    assert_kind(&waiting.error(), DatabaseErrorKind::Connection, "closed");
    assert_eq!(
        error(&database, "select 1").kind,
        DatabaseErrorKind::Connection
    );
    let late = finishing(&database, transaction, true).error();
    assert_eq!(late.kind, DatabaseErrorKind::Connection);
}

#[test]
fn a_dropped_database_stops_its_query() {
    let database = file();
    let running = start(&database, endless());
    assert!(running.within(Duration::from_millis(50)).is_none());
    let TestDatabase {
        database,
        directory,
    } = database;
    drop(database);
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    drop(directory);
}

#[test]
fn results_arrive_on_the_event_queue() {
    use fastr_core::queue::{Drained, EventQueue};
    use fastr_core::{Completer, CompletionId, Event};
    let database = file();
    let queue = std::sync::Arc::new(EventQueue::default());
    let completer = Completer::queue(std::sync::Arc::clone(&queue), CompletionId(7));
    database.submit(Query::new("select 1"), completer);
    let mut batch = Vec::new();
    assert_eq!(queue.drain(&mut batch, Some(PATIENCE)), Drained::Events);
    assert!(matches!(
        batch[..],
        [Event::Completion(CompletionId(7), Ok(Outcome::Rows(_)))]
    ));
}
