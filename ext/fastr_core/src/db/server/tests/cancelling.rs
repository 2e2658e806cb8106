//! Cancels, time limits and statements that do not end.

use std::sync::atomic::Ordering;

use super::*;

#[test]
fn a_cancelled_statement_frees_its_connection_at_once() {
    let bench = Bench::of_size(1);
    let freed = (0..5).map(|_| {
        let running = bench.start("sleep 60000");
        assert!(running.within(Duration::from_millis(50)).is_none());
        let waiting = bench.start("select 1");
        let since = Instant::now();
        running.cancel();
        assert_eq!(running.kind(), DatabaseErrorKind::Cancelled);
        waiting.result().unwrap();
        since.elapsed()
    });
    // The best of some tries: a busy machine may take the processor away for longer than what is measured.
    let freed: Vec<Duration> = freed.collect();
    assert!(
        freed.iter().any(|freed| *freed < Duration::from_millis(50)),
        "{freed:?}"
    );
    assert_eq!(
        bench.world.connects.load(Ordering::SeqCst),
        1,
        "the connection was kept"
    );
}

#[test]
fn a_cancelled_waiter_leaves_the_queue_at_once() {
    let bench = Bench::of_size(1);
    let running = bench.start("sleep 60000");
    assert!(eventually(|| bench.server.stats().busy == 1));
    let waiting = bench.start("select 1");
    assert_eq!(bench.server.stats().waiting, 1);
    waiting.cancel();
    assert_eq!(waiting.kind(), DatabaseErrorKind::Cancelled);
    assert_eq!(bench.server.stats().waiting, 0);
    assert_eq!(bench.server.stats().cancelled, 1);
    running.cancel();
    assert_eq!(running.kind(), DatabaseErrorKind::Cancelled);
}

#[test]
fn a_statement_past_its_limit_is_stopped() {
    let bench = Bench::new(DatabaseOptions {
        query_timeout: Some(Duration::from_millis(50)),
        ..sized(1)
    });
    let since = Instant::now();
    let stopped = bench.start("sleep 60000").error();
    assert_kind(&stopped, DatabaseErrorKind::QueryTimeout, "0.050 s");
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    let limited = Query {
        timeout: Some(Duration::from_millis(500)),
        ..Query::new("sleep 100")
    };
    bench.start(limited).result().unwrap();
    bench.assert_at_rest();
}

#[test]
fn the_stop_of_one_statement_never_hits_the_next() {
    let bench = Bench::of_size(1);
    *lock(&bench.world.delay) = Duration::from_millis(1);
    for round in 0..500 {
        let victim = bench.start(if round % 2 == 0 { "sleep 1" } else { "sleep 2" });
        let next = bench.start("sleep 3");
        if round % 3 == 0 {
            std::thread::sleep(Duration::from_micros(round * 4));
        }
        victim.cancel();
        victim.result().ok();
        next.result().unwrap();
    }
    assert!(
        bench.world.stops.load(Ordering::SeqCst) > 100,
        "it stopped some"
    );
}

#[test]
fn a_statement_that_does_not_even_end_then_loses_its_connection_not_its_place() {
    let bench = Bench::of_size(1);
    let stuck = bench.start("stuck");
    assert!(eventually(|| bench.server.stats().busy == 1));
    let waiting = bench.start("select 1");
    stuck.cancel();
    assert_kind(
        &stuck.error(),
        DatabaseErrorKind::Cancelled,
        "did not confirm",
    );
    waiting.result().unwrap();
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 2);
    bench.assert_at_rest();
}

#[test]
fn what_succeeded_before_the_cancel_is_told_unless_it_only_read() {
    let bench = Bench::of_size(1);
    *lock(&bench.world.delay) = Duration::from_millis(50);
    let finished = |sql: &str| {
        let pending = bench.start(sql);
        assert!(eventually(|| bench.server.stats().busy == 1));
        pending.cancel();
        pending.result()
    };
    assert!(matches!(finished("sleep 20"), Ok(Outcome::Written(_))));
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
}

#[test]
fn a_cancelled_begin_leaves_no_transaction() {
    let bench = Bench::of_size(1);
    for _ in 0..200 {
        let beginning = bench.beginning();
        beginning.cancel();
        if let Ok(Outcome::Transaction(id)) = beginning.result() {
            bench.finishing(id, true).result().unwrap();
        }
    }
    bench.assert_at_rest();
}

#[test]
fn a_finish_is_never_cancelled_and_a_panic_costs_one_statement() {
    let bench = Bench::of_size(1);
    let transaction = bench.begin();
    let slow = bench.start(Query::new("sleep 20").within(transaction));
    let end = bench.finishing(transaction, true);
    slow.cancel();
    slow.result().ok();
    end.result().unwrap();
    assert!(matches!(
        bench.start("panic").result(),
        Err(Error::Panicked(_))
    ));
    bench.run("select 1");
    bench.assert_at_rest();
}
