//! What a session keeps, refuses and tells: statements, limits, sizes, times, transactions, poolers.

use std::sync::Arc;
use std::time::Duration;

use super::{block, driver_for, text, url_with, with_session};
use crate::db::query::{Query, Shape};
use crate::db::rows::{Value, Written};
use crate::db::server::driver::{Driver, Fate, Session};
use crate::db::{JsonOptions, Timings};
use crate::error::DatabaseErrorKind;
use crate::event::Outcome;

const INTEGER: Value = Value::Integer(42);

#[test]
fn more_statements_than_are_kept_go_on_working() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (a int); insert into t values (1)")
            .await;
        for _ in 0..2 {
            for number in 0..200_i64 {
                let sql = format!("select {number}::int8 from t where a = $1");
                let value = session.value(&sql, vec![Value::Integer(1)]).await;
                assert_eq!(value, Value::Integer(number));
            }
        }
        let kept = "select count(*) from pg_prepared_statements";
        let Value::Integer(kept) = session.value(kept, vec![]).await else {
            panic!("a count")
        };
        assert!(kept <= 129, "{kept}");
    });
}

#[test]
fn a_read_with_too_many_rows_is_stopped_and_the_connection_goes_on() {
    with_session(|mut session| async move {
        let query = Query {
            row_limit: Some(10),
            ..Query::new("select generate_series(1, 1000000000)")
        };
        let failure = session.run(&query).await.unwrap_err();
        assert_eq!(failure.fate, Fate::Usable);
        assert!(
            failure.error.message.contains("more than 10 rows"),
            "{}",
            failure.error.message
        );
        assert_eq!(session.value("select 42::int8", vec![]).await, INTEGER);
        let query = Query {
            row_limit: Some(10),
            ..Query::new("select * from generate_series(1, 10)")
        };
        assert!(session.run(&query).await.is_ok());
    });
}

#[test]
fn large_values_and_wide_rows_come_whole() {
    with_session(|mut session| async move {
        let large = "x".repeat(20_000_000);
        let sql = "select $1::text || 'y'";
        let Value::Text(back) = session.value(sql, vec![Value::Text(large)]).await else {
            panic!("text")
        };
        assert_eq!(back.len(), 20_000_001);
        let columns: Vec<String> = (0..1600)
            .map(|number| format!("{number} as c{number}"))
            .collect();
        let rows = session
            .rows(&format!("select {}", columns.join(",")), vec![])
            .await;
        assert_eq!(rows.row(0).unwrap()[1599], Value::Integer(1599));
        let rows = session
            .rows(
                "select n, n::text from generate_series(1, 100000) n",
                vec![],
            )
            .await;
        assert_eq!(rows.len(), 100_000);
        assert_eq!(rows.row(99_999).unwrap()[1], text("100000"));
    });
}

#[test]
fn statements_that_cannot_be_are_refused_and_notices_are_nothing() {
    with_session(|mut session| async move {
        session.run_all("create temp table t (a int)").await;
        for (sql, part) in [
            ("copy t from stdin", "insert many rows"),
            ("copy t to stdout", "stream"),
            ("listen jobs", "use `listen`"),
            ("select 1; select 2", "execute_script"),
            ("", "no statement"),
            ("-- nothing", "no statement"),
            ("select 'a\0b'", "NUL"),
            (
                "select wrong from t",
                "LINE 1: select wrong from t\n               ^",
            ),
        ] {
            let failure = session.failure(sql, vec![]).await;
            assert!(
                failure.error.message.contains(part),
                "{sql}: {}",
                failure.error.message
            );
            assert_eq!(failure.fate, Fate::Usable, "{sql}");
        }
        session
            .run_all("do $$ begin raise notice 'x'; raise warning 'y'; end $$")
            .await;
        let Ok(Outcome::Written(_)) = session
            .run(&Query::new("drop table if exists nothing"))
            .await
        else {
            panic!("a notice is no failure");
        };
    });
}

#[test]
fn the_parts_of_the_time_are_told() {
    with_session(|mut session| async move {
        let timings = Arc::new(Timings::default());
        let query = Query {
            timings: Some(Arc::clone(&timings)),
            ..Query::new("select pg_sleep(0.02)::text, n from generate_series(1, 3) n where n > $1")
                .binds(vec![Value::Integer(2)])
        };
        session.run(&query).await.unwrap();
        assert!(!timings.was_prepared());
        assert!(
            timings.database() >= Duration::from_millis(20),
            "{timings:?}"
        );
        assert!(timings.decode() > Duration::ZERO);
        session.run(&query).await.unwrap();
        assert!(timings.was_prepared());
    });
}

#[test]
fn a_session_speaks_utc_and_says_who_it_is() {
    with_session(|mut session| async move {
        assert_eq!(session.value("show timezone", vec![]).await, text("UTC"));
        assert_eq!(
            session.value("show application_name", vec![]).await,
            text("fastr")
        );
        assert_eq!(
            session.value("select pg_backend_pid()", vec![]).await,
            Value::from(session.key().0)
        );
    });
    block(async {
        let driver = driver_for(&url_with(
            "application_name=till&statement_timeout=5s&search_path=pg_catalog",
        ));
        let mut session = driver.connect().await.unwrap();
        assert_eq!(
            session.value("show application_name", vec![]).await,
            text("till")
        );
        assert_eq!(
            session.value("show statement_timeout", vec![]).await,
            text("5s")
        );
        assert_eq!(
            session.value("show search_path", vec![]).await,
            text("pg_catalog")
        );
        session.close().await;
    });
}

#[test]
fn scripts_say_whether_they_left_a_transaction_open() {
    with_session(|mut session| async move {
        for (script, is_open) in [
            ("select 1; select 2", false),
            ("begin", true),
            ("select 1", true),
            ("commit", false),
            ("begin; select 1; commit", false),
            ("begin; select 1/1", true),
            ("rollback", false),
            ("start transaction", true),
            ("end", false),
        ] {
            session.run_all(script).await;
            assert_eq!(session.is_in_transaction(), is_open, "{script}");
        }
        assert!(session.script("begin; select 1/0").await.is_err());
        assert!(session.is_in_transaction());
        session.run_all("rollback").await;
        assert!(!session.is_in_transaction());
        session.run(&Query::new("begin")).await.unwrap();
        assert!(session.is_in_transaction());
        session.run(&Query::new("commit and chain")).await.unwrap();
        assert!(session.is_in_transaction());
        session.run(&Query::new("rollback")).await.unwrap();
        assert!(!session.is_in_transaction());
        assert!(session.ping(Duration::from_secs(1)).await);
    });
}

#[test]
fn without_prepared_statements_the_same_is_true() {
    block(async {
        let driver = driver_for(&url_with("prepared_statements=false"));
        let mut session = driver.connect().await.unwrap();
        session
            .run_all("create temp table t (id int8, name text, data bytea, at timestamptz)")
            .await;
        let insert = Query::new("insert into t values ($1, $2, $3, $4)").binds(vec![
            INTEGER,
            text("it's \\ $1 \"x\""),
            Value::Blob(vec![0, 255, 92]),
            Value::Timestamp(-1),
        ]);
        assert!(matches!(
            session.run(&insert).await,
            Ok(Outcome::Written(Written {
                rows_affected: 1,
                ..
            }))
        ));
        let rows = session
            .rows(
                "select * from t where id = $1 and name like $2",
                vec![text("42"), text("it's%")],
            )
            .await;
        assert_eq!(
            rows.row(0).unwrap(),
            [
                INTEGER,
                text("it's \\ $1 \"x\""),
                Value::Blob(vec![0, 255, 92]),
                Value::Timestamp(-1)
            ]
        );
        let sql = "select 1.50::numeric a, array[1,null]::int[] b, '1 mon 2 days 03:04:05.5'::interval c, null d, \
                   '{\"a\":1}'::jsonb e, true f, '[1,5)'::int4range g, 1.1::float4 h, pg_sleep(0) i, '0044-03-15 BC'::date j";
        let simple = session.rows(sql, vec![]).await;
        let mut prepared = super::driver().connect().await.unwrap();
        assert_eq!(simple, prepared.rows(sql, vec![]).await);
        let json = Query {
            shape: Shape::Json(JsonOptions::default()),
            ..Query::new("select 1 as a where $1").binds(vec![Value::Bool(false)])
        };
        assert!(matches!(session.run(&json).await, Ok(Outcome::Json(json)) if &json[..] == b"[]"));
        assert!(
            session
                .rows("delete from t where false returning id", vec![])
                .await
                .is_empty()
        );
        for (sql, part) in [
            ("select 1; select 2", "second statement"),
            ("select $1", "one placeholder"),
            ("", "no statement"),
        ] {
            let error = session.error(sql, vec![]).await;
            assert!(error.message.contains(part), "{sql}: {}", error.message);
        }
        let query = Query {
            row_limit: Some(10),
            ..Query::new("select generate_series(1, 1000000000)")
        };
        assert!(
            session
                .run(&query)
                .await
                .unwrap_err()
                .error
                .message
                .contains("more than 10 rows")
        );
        let Value::Integer(kept) = session
            .value("select count(*) from pg_prepared_statements", vec![])
            .await
        else {
            panic!("a count")
        };
        assert_eq!(kept, 0);
        session.run(&Query::new("begin")).await.unwrap();
        assert!(session.is_in_transaction());
        session.run(&Query::new("rollback")).await.unwrap();
    });
}

#[test]
fn what_runs_behind_a_pooler_is_stopped_as_well() {
    block(async {
        let driver = driver_for(&url_with("pgbouncer=true"));
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        let (failure, ()) = tokio::join!(session.failure("select pg_sleep(10)", vec![]), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            driver.stop(key).await.unwrap();
        });
        assert_eq!(failure.error.kind, DatabaseErrorKind::Cancelled);
        assert_eq!(failure.fate, Fate::Usable);
        assert_eq!(session.value("select 42::int8", vec![]).await, INTEGER);
    });
}
