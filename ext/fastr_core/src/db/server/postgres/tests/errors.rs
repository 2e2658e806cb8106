//! Failures: their kinds, and what becomes of the connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{block, driver, driver_for, url_with, with_session};
use crate::db::query::Query;
use crate::db::rows::Value;
use crate::db::server::driver::{Driver, Fate, Session};
use crate::error::{DatabaseErrorKind, ErrorCode};

#[test]
fn constraints_have_their_kind_and_name() {
    with_session(|mut session| async move {
        session
            .run_all(
                "create temp table p (id int primary key);
                 create temp table t (id int constraint one primary key, name text not null,
                   age int constraint adult check (age >= 18), p int constraint parent references p,
                   span int4range, constraint apart exclude using gist (span with &&))",
            )
            .await;
        session
            .run_all("insert into t values (1, 'a', 20, null, '[1,5)')")
            .await;
        for (values, kind, constraint, state) in [
            (
                "1, 'b', 20, null, null",
                DatabaseErrorKind::Unique,
                "one",
                "23505",
            ),
            (
                "2, null, 20, null, null",
                DatabaseErrorKind::NotNull,
                "t.name",
                "23502",
            ),
            (
                "2, 'b', 2, null, null",
                DatabaseErrorKind::Check,
                "adult",
                "23514",
            ),
            (
                "2, 'b', 20, 7, null",
                DatabaseErrorKind::ForeignKey,
                "parent",
                "23503",
            ),
            (
                "2, 'b', 20, null, '[2,3)'",
                DatabaseErrorKind::Constraint,
                "apart",
                "23P01",
            ),
        ] {
            let failure = session
                .failure(&format!("insert into t values ({values})"), vec![])
                .await;
            assert_eq!(failure.fate, Fate::Usable);
            assert_eq!(failure.error.kind, kind, "{:?}", failure.error);
            assert_eq!(failure.error.constraint.as_deref(), Some(constraint));
            assert_eq!(failure.error.code, Some(ErrorCode::State(state.into())));
            assert!(failure.error.sql.is_some() && failure.error.detail.is_some());
        }
    });
}

#[test]
fn a_failed_transaction_says_why_it_goes_no_further() {
    with_session(|mut session| async move {
        session.run_all("begin").await;
        session.error("select 1/0", vec![]).await;
        let error = session.error("select 1", vec![]).await;
        assert!(error.message.contains("SAVEPOINT"), "{}", error.message);
        session.run_all("rollback").await;
        assert!(!session.is_in_transaction());
    });
}

#[test]
fn timeouts_and_locks_have_their_kinds() {
    block(async {
        let driver = driver();
        let mut one = driver.connect().await.unwrap();
        let mut two = driver.connect().await.unwrap();
        let error = {
            one.run_all("set statement_timeout = '20ms'").await;
            let error = one.error("select pg_sleep(5)", vec![]).await;
            one.run_all("reset statement_timeout").await;
            error
        };
        assert_eq!(error.kind, DatabaseErrorKind::QueryTimeout);
        one.run_all(
            "drop table if exists pg_locks_test; create table pg_locks_test (id int); \
                     insert into pg_locks_test values (1)",
        )
        .await;
        one.run_all("begin; lock table pg_locks_test").await;
        two.run_all("set lock_timeout = '20ms'").await;
        let error = two.error("select * from pg_locks_test", vec![]).await;
        assert_eq!(error.kind, DatabaseErrorKind::LockTimeout);
        let error = two
            .error("select * from pg_locks_test for update nowait", vec![])
            .await;
        assert_eq!(error.kind, DatabaseErrorKind::LockTimeout);
        one.run_all("rollback").await;
        // Two serializable transactions that read and write the same.
        for session in [&mut one, &mut two] {
            session.run_all("begin isolation level serializable").await;
            session
                .rows("select sum(id) from pg_locks_test", vec![])
                .await;
        }
        one.run_all("insert into pg_locks_test values (2)").await;
        two.run_all("insert into pg_locks_test values (3)").await;
        one.run_all("commit").await;
        let failure = two.script("commit").await.unwrap_err();
        assert_eq!(failure.error.kind, DatabaseErrorKind::Serialization);
        assert!(!two.is_in_transaction());
        one.run_all("drop table pg_locks_test").await;
    });
}

#[test]
fn a_statement_is_stopped_from_outside_and_the_next_one_is_not() {
    block(async {
        let driver = driver_for(&url_with("application_name=stopped"));
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        for _ in 0..20 {
            let stopper = Arc::clone(&driver);
            let stop = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                stopper.stop(key).await.unwrap();
            });
            let since = Instant::now();
            let failure = session.failure("select pg_sleep(10)", vec![]).await;
            assert!(since.elapsed() < Duration::from_secs(5));
            assert_eq!(failure.error.kind, DatabaseErrorKind::Cancelled);
            assert_eq!(failure.fate, Fate::Usable);
            stop.await.unwrap();
            assert_eq!(
                session.value("select 7::int8", vec![]).await,
                Value::Integer(7)
            );
        }
        // Nothing runs: nothing happens, now or later.
        for _ in 0..20 {
            driver.stop(key).await.unwrap();
            assert_eq!(
                session.value("select 7::int8", vec![]).await,
                Value::Integer(7)
            );
        }
        // Nothing that stopped it is left over.
        let count = "select count(*) from pg_stat_activity where application_name = 'stopped'";
        assert_eq!(session.value(count, vec![]).await, Value::Integer(1));
        // A session that is gone has nothing to stop.
        session.close().await;
        driver.stop(key).await.unwrap();
    });
}

#[test]
fn a_connection_that_the_server_ends_is_lost() {
    block(async {
        let driver = driver();
        let mut other = driver.connect().await.unwrap();
        let terminate = "select pg_terminate_backend($1, 5000)";
        // While it idles: the next statement was not run.
        for sql in ["select 1", "insert into nowhere values (1)"] {
            let mut session = driver.connect().await.unwrap();
            let pid = Value::from(session.key().0);
            other.value(terminate, vec![pid]).await;
            let failure = session.failure(sql, vec![]).await;
            assert_eq!(
                failure.fate,
                Fate::Lost { repeatable: true },
                "{:?}",
                failure.error
            );
            assert_eq!(failure.error.kind, DatabaseErrorKind::ConnectionLost);
            assert!(!session.ping(Duration::from_secs(1)).await);
        }
        // While it runs something that may have committed a part.
        let mut session = driver.connect().await.unwrap();
        let pid = Value::from(session.key().0);
        let (failure, ()) = tokio::join!(
            session.failure("do $$ begin perform pg_sleep(10); end $$", vec![]),
            async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                other.value(terminate, vec![pid]).await;
            }
        );
        assert_eq!(
            failure.fate,
            Fate::Lost { repeatable: false },
            "{:?}",
            failure.error
        );
        let query = Query::new("select 1");
        assert!(session.run(&query).await.is_err());
    });
}

#[test]
fn who_cannot_connect_is_told_why() {
    block(async {
        let failure = |url: String| async move { driver_for(&url).connect().await.err().unwrap() };
        let error = failure("postgres://nobody:s3cret@127.0.0.1:1/x".into()).await;
        assert_eq!(error.kind, DatabaseErrorKind::Refused);
        assert!(
            error.message.contains("127.0.0.1:1") && !error.message.contains("s3cret"),
            "{}",
            error.message
        );
        let error = failure("postgres://nobody:s3cret@localhost/x?host=/nowhere".into()).await;
        assert_eq!(error.kind, DatabaseErrorKind::Refused);
        let error = failure(url_with("dbname=nowhere")).await;
        assert_eq!(error.kind, DatabaseErrorKind::Connection);
        assert!(error.message.contains("nowhere"), "{}", error.message);
        let error = failure(url_with("user=nobody_at_all")).await;
        assert_eq!(
            error.kind,
            DatabaseErrorKind::Authentication,
            "{}",
            error.message
        );
    });
}
