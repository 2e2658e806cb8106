//! Transactions on SQLite: one at a time, in order, and never left behind.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::time::{Duration, Instant};

use db_support::*;
use fastr_core::Outcome;
use fastr_core::db::{BeginOptions, Database, DatabaseOptions, Query, TransactionMode, Value};
use fastr_core::error::{DatabaseErrorKind, ErrorCode};

fn with_table() -> TestDatabase {
    let database = file();
    written(&database, "create table t (n integer unique)");
    database
}

fn count(database: &Database) -> i64 {
    integer(database, "select count(*) from t")
}

#[test]
fn a_commit_keeps_and_a_rollback_forgets() {
    let database = with_table();
    let first = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(first),
    );
    let inside = Query::new("select count(*) from t").within(first);
    assert_eq!(integer(&database, inside), 1);
    assert_eq!(
        count(&database),
        0,
        "a reader outside saw an open transaction"
    );
    commit(&database, first);
    assert_eq!(count(&database), 1);
    let second = begin(&database);
    assert_ne!(first, second);
    written(&database, Query::new("delete from t").within(second));
    roll_back(&database, second);
    assert_eq!(count(&database), 1);
}

#[test]
fn one_that_only_reads_refuses_writes_and_keeps_no_writer_waiting() {
    let database = with_table();
    let only = BeginOptions {
        read_only: true,
        ..BeginOptions::default()
    };
    let reading = transaction_of(&begin_with(&database, only));
    let refused = error(
        &database,
        Query::new("insert into t values (1)").within(reading),
    );
    assert_eq!(refused.kind, DatabaseErrorKind::Query);
    roll_back(&database, reading);
    written(&database, "insert into t values (2)");
    assert_eq!(count(&database), 1);
}

#[test]
fn writers_wait_for_the_transaction_and_readers_do_not() {
    let database = with_table();
    let transaction = begin(&database);
    let outside = start(&database, Query::new("insert into t values (2)"));
    let next = begin_with(&database, BeginOptions::default());
    assert_eq!(count(&database), 0);
    assert!(outside.within(Duration::from_millis(50)).is_none());
    assert_eq!(database.stats().waiting, 2);
    written(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    commit(&database, transaction);
    outside.result().unwrap();
    commit(&database, transaction_of(&next));
    assert_eq!(count(&database), 2);
}

#[test]
fn the_statements_of_a_transaction_run_in_order_and_before_its_end() {
    let database = with_table();
    let transaction = begin(&database);
    let inserts: Vec<Pending> = (0..100)
        .map(|number| {
            let query = Query::new("insert into t select ? where (select count(*) from t) = ?")
                .binds(vec![Value::Integer(number), Value::Integer(number)]);
            start(&database, query.within(transaction))
        })
        .collect();
    let end = finishing(&database, transaction, true);
    end.result().unwrap();
    for insert in inserts {
        assert!(matches!(insert.result(), Ok(Outcome::Written(w)) if w.rows_affected == 1));
    }
    assert_eq!(count(&database), 100);
}

#[test]
fn writers_are_served_first_come_first_served() {
    let database = with_table();
    let transaction = begin(&database);
    let writes: Vec<Pending> = (0..100)
        .map(|number| {
            let query = Query::new("insert into t select ? where (select count(*) from t) = ?")
                .binds(vec![Value::Integer(number), Value::Integer(number)]);
            start(&database, query)
        })
        .collect();
    roll_back(&database, transaction);
    for write in writes {
        assert!(matches!(write.result(), Ok(Outcome::Written(w)) if w.rows_affected == 1));
    }
}

#[test]
fn savepoints_are_statements_inside_a_transaction() {
    let database = with_table();
    let transaction = begin(&database);
    for sql in [
        "insert into t values (1)",
        "savepoint a",
        "insert into t values (2)",
        "rollback to a",
        "release savepoint a",
    ] {
        written(&database, Query::new(sql).within(transaction));
    }
    for sql in ["begin", "commit", "rollback"] {
        let refused = error(&database, Query::new(sql).within(transaction));
        assert_kind(&refused, DatabaseErrorKind::Query, "`transaction`");
    }
    commit(&database, transaction);
    assert_eq!(integer(&database, "select n from t"), 1);
}

#[test]
fn a_failed_statement_leaves_the_transaction_open() {
    let database = with_table();
    let transaction = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    let twice = error(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    assert_eq!(twice.kind, DatabaseErrorKind::Unique);
    commit(&database, transaction);
    assert_eq!(count(&database), 1);
}

#[test]
fn a_transaction_that_is_over_says_why() {
    let database = with_table();
    let transaction = begin(&database);
    commit(&database, transaction);
    let late = error(&database, Query::new("select 1").within(transaction));
    assert_kind(&late, DatabaseErrorKind::TransactionClosed, "was committed");
    let twice = finishing(&database, transaction, true).error();
    assert_eq!(twice.kind, DatabaseErrorKind::TransactionClosed);
    let unknown = fastr_core::db::TransactionId(u64::MAX);
    let never = error(&database, Query::new("select 1").within(unknown));
    assert_kind(&never, DatabaseErrorKind::TransactionClosed, "not open");
}

#[test]
fn an_idle_transaction_is_rolled_back() {
    let database = file_with(DatabaseOptions {
        idle_in_transaction: Duration::from_millis(100),
        ..DatabaseOptions::default()
    });
    written(&database, "create table t (n)");
    let transaction = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    let waiting = start(&database, Query::new("insert into t values (2)"));
    let since = Instant::now();
    waiting.result().unwrap();
    assert!(since.elapsed() > Duration::from_millis(80));
    assert!(since.elapsed() < Duration::from_secs(1));
    let late = error(&database, Query::new("select 1").within(transaction));
    assert_kind(
        &late,
        DatabaseErrorKind::TransactionClosed,
        "idle_in_transaction",
    );
    assert_eq!(integer(&database, "select n from t"), 2);
}

#[test]
fn a_transaction_in_use_is_not_idle() {
    let database = file_with(DatabaseOptions {
        idle_in_transaction: Duration::from_millis(150),
        ..DatabaseOptions::default()
    });
    written(&database, "create table t (n)");
    let transaction = begin(&database);
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(400) {
        std::thread::sleep(Duration::from_millis(30));
        written(
            &database,
            Query::new("insert into t values (1)").within(transaction),
        );
    }
    commit(&database, transaction);
}

#[test]
fn a_commit_that_fails_has_rolled_back() {
    let database = file();
    written(&database, "create table a (id integer primary key)");
    written(
        &database,
        "create table b (a_id integer references a deferrable initially deferred)",
    );
    let transaction = begin(&database);
    written(
        &database,
        Query::new("insert into b values (9)").within(transaction),
    );
    let failed = finishing(&database, transaction, true).error();
    assert_eq!(failed.kind, DatabaseErrorKind::ForeignKey);
    assert!(!database.stats().transaction_open);
    assert_eq!(integer(&database, "select count(*) from b"), 0);
    commit(&database, begin(&database));
}

#[test]
fn a_conflict_clause_that_rolls_back_ends_the_transaction() {
    let database = with_table();
    let transaction = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    let conflict = Query::new("insert or rollback into t values (1)").within(transaction);
    assert_eq!(error(&database, conflict).kind, DatabaseErrorKind::Unique);
    let late = finishing(&database, transaction, true).error();
    assert_kind(
        &late,
        DatabaseErrorKind::TransactionClosed,
        "rolled it back",
    );
    written(&database, "insert into t values (5)");
}

#[test]
fn a_script_that_commits_inside_a_transaction_is_an_error() {
    let database = with_table();
    let transaction = begin(&database);
    let sneaky = Pending::new(|completer| {
        Some(database.execute_script(
            "insert into t values (1); commit",
            Some(transaction),
            completer,
        ))
    });
    assert_kind(
        &sneaky.error(),
        DatabaseErrorKind::TransactionClosed,
        "ended the transaction",
    );
    let next = begin(&database);
    roll_back(&database, next);
}

#[test]
fn a_deferred_transaction_that_upgrades_too_late_is_busy_with_code_517() {
    let database = with_table();
    let options = BeginOptions {
        mode: TransactionMode::Deferred,
        ..BeginOptions::default()
    };
    let transaction = transaction_of(&begin_with(&database, options));
    rows(&database, Query::new("select * from t").within(transaction));
    database
        .stranger()
        .execute("insert into t values (1)", [])
        .unwrap();
    let since = Instant::now();
    let late = error(
        &database,
        Query::new("insert into t values (2)").within(transaction),
    );
    assert_kind(&late, DatabaseErrorKind::Busy, "another process wrote");
    assert_eq!(late.code, Some(ErrorCode::Number(517)));
    assert!(since.elapsed() < Duration::from_secs(1));
    roll_back(&database, transaction);
    written(&database, "insert into t values (2)");
}

#[test]
fn a_cancelled_write_in_a_transaction_does_not_block_the_next_transaction() {
    let database = with_table();
    let transaction = begin(&database);
    let endless = format!("insert into t select i from ({ENDLESS})")
        .replace("select max(i) from n", "select i from n");
    let running = start(&database, Query::new(endless).within(transaction));
    assert!(running.within(Duration::from_millis(100)).is_none());
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    // SQLite may have rolled the whole transaction back; both answers are right.
    let _ = finishing(&database, transaction, false).result();
    let next = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(next),
    );
    commit(&database, next);
    assert_eq!(count(&database), 1);
}

#[test]
fn two_users_of_a_memory_database_share_it_and_wait_for_each_other() {
    let database = memory();
    written(&database, "create table t (n)");
    let transaction = begin(&database);
    written(
        &database,
        Query::new("insert into t values (1)").within(transaction),
    );
    let other = start(&database, Query::new("select count(*) from t"));
    assert!(other.within(Duration::from_millis(50)).is_none());
    commit(&database, transaction);
    assert!(
        matches!(other.result(), Ok(Outcome::Rows(rows)) if rows.row(0) == Some(&[Value::Integer(1)]))
    );
    assert_eq!(database.stats().size, 1);
    assert_eq!(database.stats().limit, 1);
    assert_eq!(integer(&memory(), "select count(*) from sqlite_schema"), 0);
}
