//! Several statements on one connection: which ones, in which order, and what becomes of each when something fails.

use std::sync::atomic::Ordering;

use super::*;

/// Statements with texts of their own: what a busy machine makes of the first ones says nothing about the others.
fn different(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("select {number}"))
        .collect()
}

#[test]
fn quick_statements_share_a_connection_when_there_are_more_of_them_than_connections() {
    let bench = Bench::of_size(1);
    let statements = ["select log a", "select log b", "select log c"];
    for pending in bench.rush(&statements) {
        pending.result().unwrap();
    }
    assert_eq!(bench.batches(), [statements]);
    assert_eq!(bench.world.log(), ["a", "b", "c"], "in their order");
    assert_eq!(bench.server.stats().queries, 4);
    bench.assert_at_rest();
}

#[test]
fn connections_are_used_before_they_are_shared() {
    let bench = Bench::of_size(4);
    for pending in bench.rush(&["select 1"; 4]) {
        pending.result().unwrap();
    }
    assert!(bench.batches().is_empty(), "{:?}", bench.batches());
    for pending in bench.rush(&different(8)) {
        pending.result().unwrap();
    }
    let most = bench.batches().iter().map(Vec::len).max();
    assert_eq!(most, Some(2), "a fair share: {:?}", bench.batches());
}

#[test]
fn connections_that_transactions_hold_do_not_count() {
    let bench = Bench::of_size(2);
    let held = bench.begin();
    let busy = bench.start("sleep 60000");
    assert!(eventually(|| bench.server.stats().busy == 2));
    bench.trust("select 1");
    let pending: Vec<Pending> = (0..4).map(|_| bench.start("select 1")).collect();
    let within = bench.start(Query::new("select 1").within(held));
    within.result().unwrap();
    busy.cancel();
    for pending in pending {
        pending.result().unwrap();
    }
    assert_eq!(bench.batches(), [["select 1"; 4]]);
    bench.finishing(held, true).result().unwrap();
    bench.assert_at_rest();
}

#[test]
fn a_batch_is_as_long_as_the_driver_allows() {
    let bench = Bench::of_size(1);
    for pending in bench.rush(&different(20)) {
        pending.result().unwrap();
    }
    let lengths: Vec<usize> = bench.batches().iter().map(Vec::len).collect();
    assert_eq!(lengths, [8, 8, 4]);
}

#[test]
fn what_is_not_known_to_be_quick_travels_alone_and_is_not_overtaken() {
    let bench = Bench::of_size(1);
    let busy = bench.occupy();
    let quick = |sql: &str| {
        bench.trust(sql);
        bench.start(sql)
    };
    let impatient = Query {
        timeout: Some(Duration::from_millis(900)),
        ..Query::new("select log f")
    };
    bench.trust("select log f");
    let pending = [
        bench.start("select log unknown"),
        quick("select log a"),
        quick("select log b"),
        bench.start("select log unknown"),
        quick("select log c"),
        bench.script("log script", None),
        quick("select log d"),
        quick("select log e"),
        bench.start(impatient),
    ];
    busy[0].cancel();
    for pending in pending {
        pending.result().unwrap();
    }
    let batches = [
        ["select log a", "select log b"],
        ["select log d", "select log e"],
    ];
    assert_eq!(bench.batches(), batches);
    let expected = ["unknown", "a", "b", "unknown", "c", "script", "d", "e", "f"];
    assert_eq!(bench.world.log(), expected);
}

#[test]
fn nothing_waits_behind_a_write() {
    let bench = Bench::of_size(1);
    let statements = [
        "select 1", "select 2", "update 3", "update 4", "select 5", "update 6", "select 7",
    ];
    for pending in bench.rush(&statements) {
        pending.result().unwrap();
    }
    let expected = [
        vec!["select 1", "select 2", "update 3"],
        vec!["select 5", "update 6"],
    ];
    assert_eq!(bench.batches(), expected);
}

#[test]
fn a_statement_is_learned_to_be_quick_by_itself() {
    let bench = Bench::of_size(1);
    let learned = eventually(|| {
        let many: Vec<Pending> = (0..20).map(|_| bench.start("select 1")).collect();
        many.iter().for_each(|pending| drop(pending.result()));
        !bench.batches().is_empty()
    });
    assert!(learned);
    bench.assert_at_rest();
}

#[test]
fn the_failure_of_one_touches_no_other() {
    let bench = Bench::of_size(1);
    let results = bench.rush(&["select 1", "select wrong", "select violate", "select 2"]);
    let results: Vec<_> = results.iter().map(Pending::result).collect();
    assert!(results[0].is_ok() && results[3].is_ok(), "{results:?}");
    assert!(results[1].is_err() && results[2].is_err(), "{results:?}");
    assert_eq!(bench.batches()[0].len(), 4);
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    bench.assert_at_rest();
}

#[test]
fn of_a_broken_connection_only_what_certainly_did_not_run_is_repeated() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&[
        "select log a",
        "select break",
        "select log b",
        "update log c",
    ]);
    pending[0].result().unwrap();
    for lost in [&pending[1], &pending[3]] {
        assert_kind(
            &lost.error(),
            DatabaseErrorKind::ConnectionLost,
            "effect is unknown",
        );
    }
    pending[2].result().unwrap();
    assert_eq!(bench.world.log(), ["a", "b"]);
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 2);
    bench.assert_at_rest();
}

#[test]
fn a_batch_that_meets_a_dead_connection_is_repeated_once_in_its_order() {
    let bench = Bench::of_size(1);
    let busy = bench.occupy();
    bench.world.die();
    let statements = ["select log a", "select log b", "select log c"];
    let pending = statements.map(|sql| {
        bench.trust(sql);
        bench.start(sql)
    });
    busy[0].cancel();
    for pending in pending {
        pending.result().unwrap();
    }
    assert_eq!(bench.world.log(), ["a", "b", "c"]);
    assert_eq!(bench.batches(), [statements], "the second time alone");
    assert_eq!(bench.server.stats().queries, 4);
    bench.assert_at_rest();
}

#[test]
fn a_panic_costs_what_was_not_answered() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&["select 1", "select panic", "select 2"]);
    pending[0].result().unwrap();
    for panicked in &pending[1..] {
        assert!(matches!(panicked.result(), Err(Error::Panicked(_))));
    }
    bench.run("select 1");
    bench.assert_at_rest();
}

#[test]
fn a_pool_that_closes_answers_a_batch() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&["select 1", "select sleep 60000", "select 1", "update 1"]);
    assert!(pending[0].result().is_ok());
    assert!(bench.server.close(PATIENCE));
    assert_eq!(pending[1].kind(), DatabaseErrorKind::Cancelled);
    assert_eq!(pending[2].kind(), DatabaseErrorKind::Cancelled);
    assert!(pending[3].result().is_ok(), "it was written");
    assert_eq!(bench.world.sessions(), 0);
}

#[test]
fn a_batch_whose_reactor_is_stopped_is_answered() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&["select 1", "select sleep 60000", "select 1"]);
    assert!(pending[0].result().is_ok());
    bench.replace_reactor();
    for pending in &pending[1..] {
        assert_kind(
            &pending.error(),
            DatabaseErrorKind::ConnectionLost,
            "the reactor was stopped",
        );
    }
    bench.run("select 1");
    bench.assert_at_rest();
}
