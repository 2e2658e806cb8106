//! Order, limits, deadlines, numbers.

use super::*;
use crate::db::server::slot::Phase;
use crate::db::timings::Timings;

#[test]
fn an_unused_pool_has_neither_a_connection_nor_a_task() {
    let bench = Bench::of_size(2);
    assert_eq!(bench.server.stats().size, 0);
    assert_eq!(bench.world.sessions(), 0);
}

#[test]
fn waiters_are_served_first_come_first_served() {
    let bench = Bench::of_size(1);
    let pending: Vec<Pending> = (0..50)
        .map(|number| bench.start(&*format!("log {number}")))
        .collect();
    pending
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    let order: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    assert_eq!(bench.world.log(), order);
    assert_eq!(bench.server.stats().size, 1);
    bench.assert_at_rest();
}

#[test]
fn low_load_stays_on_one_connection_and_a_burst_opens_as_many_as_it_needs() {
    let bench = Bench::of_size(20);
    for _ in 0..100 {
        bench.run("select 1");
    }
    assert_eq!(
        bench
            .world
            .connects
            .load(std::sync::atomic::Ordering::SeqCst),
        1
    );
    *lock(&bench.world.delay) = Duration::from_millis(50);
    let since = Instant::now();
    let pending: Vec<Pending> = (0..40).map(|_| bench.start("sleep 200")).collect();
    pending
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    assert!(
        since.elapsed() < Duration::from_millis(700),
        "{:?}",
        since.elapsed()
    );
    let stats = bench.server.stats();
    assert_eq!((stats.size, stats.limit, stats.queries), (20, 20, 140));
    bench.assert_at_rest();
}

#[test]
fn a_statement_never_waits_for_a_connect_while_another_connection_is_free() {
    let bench = Bench::of_size(3);
    bench.run("select 1");
    *lock(&bench.world.delay) = Duration::from_millis(1500);
    let first = bench.start("sleep 50");
    let second = bench.start("sleep 50");
    let since = Instant::now();
    first.result().unwrap();
    second.result().unwrap();
    bench.run("select 1");
    assert!(
        since.elapsed() < Duration::from_millis(1000),
        "{:?}",
        since.elapsed()
    );
}

#[test]
fn statements_submitted_quietly_run_at_the_latest_once_somebody_is_roused() {
    let bench = Bench::of_size(3);
    bench.run("select 1");
    assert!(eventually(|| bench
        .server
        .pool
        .lock()
        .count(&[Phase::Idle])
        == 1));
    let quiet = |sql: &str| {
        Pending::new(|completer| Some(bench.server.submit_quietly(Query::new(sql), completer)))
    };
    let pending: Vec<Pending> = (0..10).map(|_| quiet("sleep 1")).collect();
    // Whoever is awake by chance may take them before; nobody sleeps on afterwards.
    bench.server.rouse();
    pending
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    let transaction = bench.begin();
    let quiet = Pending::new(|completer| {
        let query = Query::new("select 1").within(transaction);
        Some(bench.server.submit_quietly(query, completer))
    });
    bench.server.rouse();
    quiet.result().unwrap();
    bench.finishing(transaction, true).result().unwrap();
    bench.server.rouse();
    bench.assert_at_rest();
}

#[test]
fn a_waiter_past_its_deadline_is_answered_on_time_and_told_who_holds_the_connection() {
    let bench = Bench::new(DatabaseOptions {
        pool_timeout: Duration::from_millis(100),
        ..sized(1)
    });
    let running = bench.start("sleep 5000");
    assert!(eventually(|| bench.server.stats().busy == 1));
    for _ in 0..2 {
        let since = Instant::now();
        let late = bench.start("select 1").error();
        let waited = since.elapsed();
        assert!(waited >= Duration::from_millis(100), "{waited:?}");
        assert!(waited < Duration::from_millis(500), "{waited:?}");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "size 1, busy 1");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "sleep 5000");
    }
    assert_eq!(bench.server.stats().timeouts, 2);
    running.cancel();
    assert_eq!(running.kind(), DatabaseErrorKind::Cancelled);
    bench.run("select 1");
}

#[test]
fn a_server_that_never_answers_a_connect_ends_the_wait_on_time() {
    let bench = Bench::new(DatabaseOptions {
        connect_timeout: Duration::from_millis(100),
        ..sized(2)
    });
    *lock(&bench.world.delay) = Duration::from_secs(3600);
    let pending = [bench.start("select 1"), bench.start("select 1")];
    for pending in &pending {
        assert_kind(
            &pending.error(),
            DatabaseErrorKind::Connection,
            "connect_timeout",
        );
    }
    let bench = Bench::new(DatabaseOptions {
        pool_timeout: Duration::from_millis(100),
        ..sized(2)
    });
    *lock(&bench.world.delay) = Duration::from_secs(3600);
    let late = bench.start("select 1").error();
    assert_kind(&late, DatabaseErrorKind::PoolTimeout, "1 still connecting");
}

#[test]
fn one_waiter_too_many_is_refused_at_once() {
    let bench = Bench::new(DatabaseOptions {
        max_waiting: 3,
        ..sized(1)
    });
    let running = bench.start("sleep 5000");
    assert!(eventually(|| bench.server.stats().busy == 1));
    let waiting: Vec<Pending> = (0..3).map(|_| bench.start("select 1")).collect();
    let refused = bench.start("select 1").error();
    assert_kind(&refused, DatabaseErrorKind::PoolTimeout, "waiting 3");
    running.cancel();
    waiting
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
}

#[test]
fn timings_and_the_percentile_tell_how_long_the_queue_was() {
    let bench = Bench::of_size(1);
    let timings = Arc::new(Timings::default());
    let running = bench.start("sleep 50");
    let query = Query {
        timings: Some(Arc::clone(&timings)),
        ..Query::new("select 1")
    };
    bench.start(query).result().unwrap();
    running.result().unwrap();
    assert!(timings.queue() >= Duration::from_millis(45), "{timings:?}");
    assert!(bench.server.stats().wait_p95 >= Duration::from_millis(45));
}

#[test]
fn idle_connections_are_closed_down_to_the_minimum() {
    let bench = Bench::new(DatabaseOptions {
        idle_timeout: Some(Duration::from_millis(100)),
        min_size: 1,
        ..sized(4)
    });
    let pending: Vec<Pending> = (0..4).map(|_| bench.start("sleep 30")).collect();
    pending
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    assert_eq!(bench.server.stats().size, 4);
    assert!(eventually(|| bench.server.stats().size == 1));
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(bench.server.stats().size, 1, "the minimum stays");
    assert_eq!(
        bench
            .world
            .goodbyes
            .load(std::sync::atomic::Ordering::SeqCst),
        3
    );
    assert_eq!(bench.server.stats().reconnects, 0);
}

#[test]
fn old_connections_are_replaced() {
    let bench = Bench::new(DatabaseOptions {
        max_lifetime: Some(Duration::from_millis(60)),
        ..sized(1)
    });
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(250) {
        bench.run("select 1");
    }
    let connects = bench
        .world
        .connects
        .load(std::sync::atomic::Ordering::SeqCst);
    assert!((3..=6).contains(&connects), "{connects}");
    assert!(
        eventually(|| bench.server.stats().size == 0),
        "also an idle one"
    );
}
