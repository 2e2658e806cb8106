//! Transactions: pinned to one connection, in order, and never left behind.

use std::sync::atomic::Ordering;

use super::*;

#[test]
fn statements_of_a_transaction_run_in_order_on_one_connection() {
    let bench = Bench::of_size(4);
    let transaction = bench.begin();
    let inside: Vec<Pending> = (0..50)
        .map(|number| bench.start(Query::new(format!("log {number}")).within(transaction)))
        .collect();
    let end = bench.finishing(transaction, true);
    end.result().unwrap();
    inside
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    let order: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    assert_eq!(bench.world.log(), order);
    bench.assert_at_rest();
}

#[test]
fn a_transaction_pins_its_connection_and_others_wait_or_go_elsewhere() {
    let bench = Bench::of_size(2);
    let first = bench.begin();
    bench.run("select 1");
    let second = bench.begin();
    assert_ne!(first, second);
    let waiting = bench.start("select 1");
    assert!(waiting.within(Duration::from_millis(30)).is_none());
    assert_eq!(bench.server.stats().waiting, 1);
    assert!(bench.server.stats().transaction_open);
    bench.finishing(first, false).result().unwrap();
    waiting.result().unwrap();
    bench.finishing(second, true).result().unwrap();
    bench.assert_at_rest();
}

#[test]
fn transaction_control_is_refused_and_savepoints_belong_inside() {
    let bench = Bench::of_size(1);
    for sql in ["begin", "start transaction", "commit", "rollback", "end"] {
        assert_kind(
            &bench.start(sql).error(),
            DatabaseErrorKind::Query,
            "`transaction`",
        );
    }
    assert_kind(
        &bench.start("savepoint a").error(),
        DatabaseErrorKind::Query,
        "only inside",
    );
    let transaction = bench.begin();
    bench
        .start(Query::new("savepoint a").within(transaction))
        .result()
        .unwrap();
    bench.finishing(transaction, true).result().unwrap();
}

#[test]
fn a_transaction_that_is_over_says_why() {
    let bench = Bench::of_size(1);
    let transaction = bench.begin();
    bench.finishing(transaction, true).result().unwrap();
    let late = bench
        .start(Query::new("select 1").within(transaction))
        .error();
    assert_kind(&late, DatabaseErrorKind::TransactionClosed, "was committed");
    let unknown = TransactionId(u64::MAX);
    let never = bench.start(Query::new("select 1").within(unknown)).error();
    assert_kind(&never, DatabaseErrorKind::TransactionClosed, "not open");
    let cannot = BeginOptions {
        deferrable: true,
        ..BeginOptions::default()
    };
    let refused = Pending::new(|completer| Some(bench.server.begin(cannot, completer)));
    assert!(matches!(refused.result(), Err(Error::Invalid(_))));
}

#[test]
fn a_transaction_of_a_closed_pool_is_none_of_the_next_one() {
    let old = Bench::of_size(1);
    let left = old.begin();
    let next = Bench::of_size(1);
    let open = next.begin();
    assert_ne!(left, open);
    for is_commit in [true, false] {
        let refused = next.finishing(left, is_commit).error();
        assert_kind(
            &refused,
            DatabaseErrorKind::TransactionClosed,
            "its database was closed",
        );
    }
    next.finishing(open, true).result().unwrap();
    old.finishing(left, true).result().unwrap();
}

#[test]
fn a_commit_that_fails_has_rolled_back() {
    let bench = Bench::of_size(1);
    bench.world.commit_fails.store(true, Ordering::SeqCst);
    let transaction = bench.begin();
    assert_eq!(
        bench.finishing(transaction, true).kind(),
        DatabaseErrorKind::ForeignKey
    );
    bench.world.commit_fails.store(false, Ordering::SeqCst);
    let late = bench
        .start(Query::new("select 1").within(transaction))
        .error();
    assert_kind(&late, DatabaseErrorKind::TransactionClosed, "commit failed");
    bench.assert_at_rest();
    bench.run("select 1");
    assert_eq!(
        bench.world.connects.load(Ordering::SeqCst),
        1,
        "the connection was kept"
    );
}

#[test]
fn a_commit_that_would_roll_back_is_an_error() {
    let bench = Bench::of_size(1);
    let fail = |id| {
        let failed = bench.start(Query::new("violate").within(id));
        assert_eq!(failed.kind(), DatabaseErrorKind::Unique);
    };
    let transaction = bench.begin();
    fail(transaction);
    let silent = bench.finishing(transaction, true).error();
    assert_kind(&silent, DatabaseErrorKind::TransactionClosed, "had failed");
    let transaction = bench.begin();
    fail(transaction);
    bench
        .start(Query::new("rescue").within(transaction))
        .result()
        .unwrap();
    bench.finishing(transaction, true).result().unwrap();
    let transaction = bench.begin();
    fail(transaction);
    bench.finishing(transaction, false).result().unwrap();
    bench.assert_at_rest();
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
}

#[test]
fn an_idle_transaction_is_rolled_back_and_one_in_use_is_not() {
    let bench = Bench::new(DatabaseOptions {
        idle_in_transaction: Duration::from_millis(100),
        ..sized(1)
    });
    let transaction = bench.begin();
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(20));
        bench
            .start(Query::new("select 1").within(transaction))
            .result()
            .unwrap();
    }
    let waiting = bench.start("select 1");
    let since = Instant::now();
    waiting.result().unwrap();
    assert!(
        since.elapsed() > Duration::from_millis(60),
        "{:?}",
        since.elapsed()
    );
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    let late = bench
        .start(Query::new("select 1").within(transaction))
        .error();
    assert_kind(
        &late,
        DatabaseErrorKind::TransactionClosed,
        "idle_in_transaction",
    );
    bench.assert_at_rest();
}

#[test]
fn what_a_statement_leaves_open_is_rolled_back() {
    let bench = Bench::of_size(1);
    assert_kind(
        &bench.start("open").error(),
        DatabaseErrorKind::Query,
        "left a transaction open",
    );
    let left = bench.script("open; select 1", None).error();
    assert_kind(&left, DatabaseErrorKind::Query, "left a transaction open");
    let transaction = bench.begin();
    let sneaky = bench.script("close", Some(transaction)).error();
    assert_kind(
        &sneaky,
        DatabaseErrorKind::TransactionClosed,
        "ended the transaction",
    );
    let late = bench.finishing(transaction, true).error();
    assert_kind(
        &late,
        DatabaseErrorKind::TransactionClosed,
        "a script in it",
    );
    bench.assert_at_rest();
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
}

#[test]
fn a_transaction_ends_with_its_connection() {
    let bench = Bench::of_size(2);
    let transaction = bench.begin();
    let breaking = bench.start(Query::new("break").within(transaction));
    let after = bench.start(Query::new("select 1").within(transaction));
    let end = bench.finishing(transaction, true);
    assert_kind(
        &breaking.error(),
        DatabaseErrorKind::ConnectionLost,
        "effect is unknown",
    );
    assert_kind(
        &after.error(),
        DatabaseErrorKind::TransactionClosed,
        "connection was lost",
    );
    assert_kind(
        &end.error(),
        DatabaseErrorKind::TransactionClosed,
        "connection was lost",
    );
    let transaction = bench.begin();
    bench.world.die();
    let dead = bench.finishing(transaction, true).error();
    assert_kind(
        &dead,
        DatabaseErrorKind::ConnectionLost,
        "did not take effect",
    );
    bench.run("select 1");
    bench.assert_at_rest();
}
