//! Servers that cannot be reached, die and come back, and reactors that are stopped.

use std::sync::atomic::Ordering;

use super::*;

#[test]
fn who_cannot_connect_is_told_why_at_once() {
    let bench = Bench::of_size(4);
    for kind in [
        DatabaseErrorKind::Refused,
        DatabaseErrorKind::Authentication,
    ] {
        bench.world.refuse(Some(kind));
        let since = Instant::now();
        let pending: Vec<Pending> = (0..20).map(|_| bench.start("select 1")).collect();
        for pending in &pending {
            let error = pending.error();
            assert_kind(&error, kind, "the fake refuses");
            assert_eq!(error.sql.as_deref(), Some("select 1"));
        }
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{:?}",
            since.elapsed()
        );
        std::thread::sleep(Duration::from_millis(400));
    }
    bench.world.refuse(None);
    assert!(eventually(|| bench.start("select 1").result().is_ok()));
    bench.assert_at_rest();
}

#[test]
fn a_dead_server_is_not_hammered_and_found_again_soon() {
    let bench = Bench::of_size(2);
    bench.world.refuse(Some(DatabaseErrorKind::Refused));
    let since = Instant::now();
    let mut refused = 0;
    while since.elapsed() < Duration::from_millis(500) {
        assert_eq!(bench.start("select 1").kind(), DatabaseErrorKind::Refused);
        refused += 1;
    }
    assert!(refused > 100, "they were told at once: {refused}");
    bench.world.refuse(None);
    let since = Instant::now();
    assert!(eventually(|| bench.start("select 1").result().is_ok()));
    assert!(
        since.elapsed() < Duration::from_millis(1500),
        "{:?}",
        since.elapsed()
    );
}

#[test]
fn while_another_connection_lives_waiters_wait_for_it() {
    let bench = Bench::of_size(4);
    let running = bench.start("sleep 300");
    assert!(eventually(|| bench.server.stats().busy == 1));
    bench.world.refuse(Some(DatabaseErrorKind::Connection));
    let waiting: Vec<Pending> = (0..10).map(|_| bench.start("select 1")).collect();
    running.result().unwrap();
    waiting
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
}

#[test]
fn a_server_that_is_full_for_a_moment_is_tried_again_for_those_who_wait() {
    let bench = Bench::of_size(2);
    let running = bench.start("sleep 1500");
    assert!(eventually(|| bench.server.stats().busy == 1));
    bench.world.refuse(Some(DatabaseErrorKind::Connection));
    let waiting = bench.start("select 1");
    assert!(waiting.within(Duration::from_millis(50)).is_none());
    bench.world.refuse(None);
    let since = Instant::now();
    waiting.result().unwrap();
    assert!(
        since.elapsed() < Duration::from_millis(1000),
        "{:?}",
        since.elapsed()
    );
    running.result().unwrap();
}

#[test]
fn after_a_restart_every_statement_works_and_only_one_connection_had_to_find_out() {
    let bench = Bench::of_size(4);
    let open = || {
        let pending: Vec<Pending> = (0..4).map(|_| bench.start("sleep 20")).collect();
        pending
            .iter()
            .for_each(|pending| drop(pending.result().unwrap()));
    };
    open();
    bench.assert_at_rest();
    bench.world.die();
    bench.run("select 1");
    let transaction = bench.begin();
    bench.finishing(transaction, true).result().unwrap();
    bench.script("select 1; select 2", None).result().unwrap();
    open();
    bench.assert_at_rest();
    assert_eq!(bench.server.stats().reconnects, 4);
    bench.world.die();
    open();
    bench.assert_at_rest();
}

#[test]
fn what_may_have_taken_effect_is_not_repeated() {
    let bench = Bench::of_size(1);
    let broken = bench.start("break").error();
    assert_kind(
        &broken,
        DatabaseErrorKind::ConnectionLost,
        "effect is unknown",
    );
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    bench.run("select 1");
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 2);
}

#[test]
fn a_server_that_stays_dead_ends_the_repetition() {
    let bench = Bench::of_size(2);
    bench.run("select 1");
    bench.world.die();
    bench.world.refuse(Some(DatabaseErrorKind::Refused));
    let since = Instant::now();
    assert_eq!(bench.start("select 1").kind(), DatabaseErrorKind::Refused);
    assert!(since.elapsed() < Duration::from_secs(1));
    assert_eq!(bench.server.stats().size, 0);
}

#[test]
fn a_transaction_on_a_dead_connection_is_no_hope_for_who_waits() {
    let bench = Bench::of_size(3);
    let transaction = bench.begin();
    bench.run("select 1");
    bench.world.die();
    bench.world.refuse(Some(DatabaseErrorKind::Refused));
    let since = Instant::now();
    for _ in 0..10 {
        assert_eq!(bench.start("select 1").kind(), DatabaseErrorKind::Refused);
    }
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    let dead = bench.finishing(transaction, true).error();
    assert_kind(
        &dead,
        DatabaseErrorKind::ConnectionLost,
        "did not take effect",
    );
    assert_eq!(bench.server.stats().size, 0);
}

#[test]
fn a_stopped_reactor_takes_its_work_along_and_the_next_one_serves() {
    let bench = Bench::of_size(1);
    for _ in 0..3 {
        let transaction = bench.begin();
        let running = bench.start(Query::new("sleep 60000").within(transaction));
        let inside = bench.start(Query::new("select 1").within(transaction));
        let waiting = bench.start("select 1");
        assert!(waiting.within(Duration::from_millis(20)).is_none());
        let fresh = Reactor::start().unwrap();
        let stopped = std::mem::replace(&mut *lock(&bench.reactor), fresh);
        stopped.stop();
        assert_kind(
            &running.error(),
            DatabaseErrorKind::ConnectionLost,
            "reactor was stopped",
        );
        assert_kind(
            &inside.error(),
            DatabaseErrorKind::TransactionClosed,
            "reactor",
        );
        assert!(matches!(waiting.result(), Err(Error::NotRunning(_))));
        bench.run("select 1");
        bench.assert_at_rest();
    }
}

#[test]
fn without_a_reactor_operations_are_refused() {
    let bench = Bench::of_size(2);
    lock(&bench.reactor).stop();
    for _ in 0..3 {
        assert!(matches!(
            bench.start("select 1").result(),
            Err(Error::NotRunning(_))
        ));
    }
    assert_eq!(bench.server.stats().size, 0);
    let world = Arc::new(World::default());
    let none = Arc::new(|| Err(Error::NotRunning("no reactor".into())));
    let server = Server::new(Fake(world), sized(2), none);
    let pending = Pending::new(|completer| Some(server.submit(Query::new("select 1"), completer)));
    assert!(matches!(pending.result(), Err(Error::NotRunning(text)) if text == "no reactor"));
    assert!(server.close(PATIENCE));
}

#[test]
fn an_operation_in_a_forked_child_is_refused() {
    let world = Arc::new(World::default());
    let none = Arc::new(|| Err(Error::NotRunning("no reactor".into())));
    let mut server = Server::new(Fake(world), sized(2), none);
    let pool = Arc::get_mut(&mut server.pool).expect("nobody else has it yet");
    pool.process = crate::db::process::Process::of_a_stranger();
    let pending = Pending::new(|completer| Some(server.submit(Query::new("select 1"), completer)));
    assert!(matches!(pending.result(), Err(Error::NotRunning(text)) if text.contains("fork")));
    server.rouse();
    assert_eq!(server.stats().size, 0);
    assert!(server.close(PATIENCE));
}
