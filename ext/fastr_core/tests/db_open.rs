//! The life of a database beside others: opening, foreign locks, a full disk, closing.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::time::{Duration, Instant};

use db_support::*;
use fastr_core::Error;
use fastr_core::db::{BeginOptions, Database, DatabaseOptions, Query};
use fastr_core::error::{DatabaseErrorKind, ErrorCode};

#[test]
fn many_handles_open_one_new_file_together() {
    let first = file();
    let url = first.url();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let url = &url;
            scope.spawn(move || {
                let database = Database::open(url, DatabaseOptions::default(), reactor()).unwrap();
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
fn a_file_locked_while_it_is_opened_is_busy_and_opens_later() {
    let database = file_with(DatabaseOptions {
        busy_timeout: Duration::from_millis(100),
        ..DatabaseOptions::default()
    });
    let stranger = database.stranger();
    stranger
        .execute_batch("create table t (n); begin exclusive")
        .unwrap();
    for sql in ["select count(*) from t", "insert into t values (1)"] {
        let busy = error(&database, sql);
        assert_kind(&busy, DatabaseErrorKind::Busy, "test.db");
    }
    stranger.execute_batch("rollback").unwrap();
    assert_eq!(integer(&database, "select count(*) from t"), 0);
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
        since.elapsed() < Duration::from_secs(2),
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
        let database = Database::open(&url, DatabaseOptions::default(), reactor()).unwrap();
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
    let unknown = Database::open(
        "oracle://localhost/x",
        DatabaseOptions::default(),
        reactor(),
    );
    assert!(
        matches!(unknown, Err(Error::Database(error)) if error.kind == DatabaseErrorKind::Connection)
    );
}

#[test]
fn a_database_that_appears_later_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("later/test.db");
    let database = Database::open(
        &path.display().to_string(),
        DatabaseOptions::default(),
        reactor(),
    )
    .unwrap();
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
    let read_only = Database::open(&url, DatabaseOptions::default(), reactor()).unwrap();
    assert_eq!(integer(&read_only, "select count(*) from t"), 0);
    let refused = error(&read_only, "insert into t values (1)");
    assert_kind(&refused, DatabaseErrorKind::Query, "readonly");
}

#[test]
fn closing_answers_what_waits_and_stops_what_runs() {
    let database = file_with(DatabaseOptions {
        size: Some(1),
        ..DatabaseOptions::default()
    });
    let transaction = begin(&database);
    let running = start(&database, Query::new(ENDLESS));
    assert!(eventually(|| database.stats().busy == 2));
    let waiting = start(&database, Query::new("select 1"));
    let since = Instant::now();
    assert!(
        database.close(Duration::from_secs(5)),
        "the threads did not end"
    );
    assert!(
        since.elapsed() < Duration::from_secs(2),
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
    let running = start(&database, Query::new(ENDLESS));
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
fn a_full_disk_is_an_error_and_the_connection_survives() {
    let database = file();
    written(&database, "create table t (b blob)");
    rows(&database, "pragma max_page_count = 20");
    let full = error(&database, "insert into t values (randomblob(1000000))");
    assert_kind(&full, DatabaseErrorKind::Query, "full");
    assert_eq!(full.code, Some(ErrorCode::Number(13)));
    written(&database, "insert into t values (randomblob(10))");
    assert_eq!(integer(&database, "select count(*) from t"), 1);
}

#[test]
fn a_process_ends_although_a_query_runs() {
    const CHILD: &str = "FASTR_TEST_ENDS_WITH_A_QUERY";
    if std::env::var_os(CHILD).is_some() {
        let database = memory();
        let running = start(&database, Query::new(ENDLESS));
        assert!(running.within(Duration::from_millis(50)).is_none());
        // The database is still open when the process leaves main.
        std::mem::forget(database);
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_ends_although_a_query_runs"])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() && since.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Killing a child that has ended changes nothing.
    child.kill().unwrap();
    assert!(child.wait().unwrap().success());
}
