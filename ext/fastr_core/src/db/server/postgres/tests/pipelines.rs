//! Several statements in one write: each gets its own answer, in order, whatever becomes of the others.

use std::time::Duration;

use super::{PostgresSession, block, driver, text, with_session};
use crate::db::query::{Query, Shape};
use crate::db::rows::Value;
use crate::db::server::driver::{Driver, Failure, Fate, Session};
use crate::db::{JsonOptions, Timings};
use crate::error::DatabaseErrorKind;
use crate::event::Outcome;

type Answer = Result<Outcome, Failure>;

/// Runs them at once; every one is answered once, and in order.
async fn many(session: &mut PostgresSession, queries: &[Query]) -> Vec<Answer> {
    let queries: Vec<&Query> = queries.iter().collect();
    let mut answers = Vec::new();
    let answered = |index: usize, answer| {
        assert_eq!(index, answers.len());
        answers.push(answer);
    };
    session.run_many(&queries, answered).await;
    assert_eq!(answers.len(), queries.len());
    answers
}

fn value(answer: &Answer) -> Value {
    match answer {
        Ok(Outcome::Rows(rows)) if rows.len() == 1 => rows.row(0).unwrap()[0].clone(),
        other => panic!("expected one value, got {other:?}"),
    }
}

fn failure(answer: &Answer) -> &Failure {
    answer.as_ref().expect_err("it fails")
}

fn echo(number: i64) -> Query {
    Query::new("select $1::int8").binds(vec![Value::Integer(number)])
}

#[test]
fn every_statement_gets_its_own_answer() {
    with_session(|mut session| async move {
        // Once with statements that are unknown, once with statements that are known.
        for _ in 0..2 {
            let queries: Vec<Query> = (0..16).map(echo).collect();
            let answers = many(&mut session, &queries).await;
            for (answer, number) in answers.iter().zip(0..) {
                assert_eq!(value(answer), Value::Integer(number));
            }
        }
        let json = Query {
            shape: Shape::Json(JsonOptions::default()),
            ..Query::new("select 1 as a")
        };
        let mixed = [echo(1), json, Query::new("select 'x'"), echo(2)];
        let answers = many(&mut session, &mixed).await;
        assert_eq!(value(&answers[0]), Value::Integer(1));
        assert!(matches!(&answers[1], Ok(Outcome::Json(json)) if &json[..] == b"[{\"a\":1}]"));
        assert_eq!(value(&answers[2]), text("x"));
        assert_eq!(value(&answers[3]), Value::Integer(2));
        assert!(many(&mut session, &[]).await.is_empty());
    });
}

#[test]
fn a_statement_that_fails_touches_no_other() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (id int primary key)")
            .await;
        let insert =
            |id: i64| Query::new("insert into t values ($1)").binds(vec![Value::Integer(id)]);
        let queries = [
            insert(1),
            insert(1),
            Query::new("select wrong"),
            insert(2),
            Query::new("select $1::int").binds(vec![text("no number")]),
            Query::new("select 1 / (id - 1) from t"),
            Query::new("select count(*) from t"),
        ];
        for _ in 0..2 {
            let answers = many(&mut session, &queries).await;
            assert_eq!(failure(&answers[1]).error.kind, DatabaseErrorKind::Unique);
            for (index, part) in [
                (1, "duplicate key"),
                (2, "wrong"),
                (4, "does not read as int4"),
                (5, "division by zero"),
            ] {
                let failure = failure(&answers[index]);
                assert_eq!(failure.fate, Fate::Usable);
                assert!(failure.error.message.contains(part), "{:?}", failure.error);
                assert_eq!(failure.error.sql.as_deref(), Some(&*queries[index].sql));
            }
            assert_eq!(value(&answers[6]), Value::Integer(2));
            assert!(!session.is_in_transaction());
        }
    });
}

#[test]
fn a_stale_statement_is_prepared_anew_and_answered_in_its_turn() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (a int); insert into t values (1)")
            .await;
        let all = || Query::new("select * from t");
        let queries = [echo(1), all(), echo(2), all(), echo(3)];
        many(&mut session, &queries).await;
        session.run_all("alter table t add column b int").await;
        let answers = many(&mut session, &queries).await;
        for (index, number) in [(0, 1), (2, 2), (4, 3)] {
            assert_eq!(value(&answers[index]), Value::Integer(number));
        }
        for index in [1, 3] {
            let Ok(Outcome::Rows(rows)) = &answers[index] else {
                panic!("{:?}", answers[index]);
            };
            assert_eq!(rows.columns().len(), 2);
        }
        session.run_all("deallocate all").await;
        let answers = many(&mut session, &queries).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    });
}

#[test]
fn too_many_rows_stop_only_the_statement_that_has_them() {
    with_session(|mut session| async move {
        let limited = |sql: &str| Query {
            row_limit: Some(10),
            ..Query::new(sql)
        };
        let queries = [
            echo(1),
            limited("select generate_series(1, 1000000000)"),
            limited("select generate_series(1, 10)"),
            echo(2),
        ];
        let answers = many(&mut session, &queries).await;
        let failed = failure(&answers[1]);
        assert_eq!(failed.fate, Fate::Usable);
        assert!(
            failed.error.message.contains("more than 10 rows"),
            "{failed:?}"
        );
        assert!(matches!(&answers[2], Ok(Outcome::Rows(rows)) if rows.len() == 10));
        assert_eq!(value(&answers[3]), Value::Integer(2));
    });
}

#[test]
fn large_statements_with_large_answers_block_nobody() {
    with_session(|mut session| async move {
        let large = "x".repeat(2_000_000);
        let queries: Vec<Query> = (0..8)
            .map(|_| Query::new("select $1::text || 'y'").binds(vec![text(&large)]))
            .collect();
        for answer in &many(&mut session, &queries).await {
            assert!(matches!(value(answer), Value::Text(back) if back.len() == 2_000_001));
        }
    });
}

#[test]
fn the_parts_of_the_time_are_told_of_each() {
    with_session(|mut session| async move {
        let timings: Vec<_> = (0..3)
            .map(|_| std::sync::Arc::new(Timings::default()))
            .collect();
        let queries: Vec<Query> = timings
            .iter()
            .map(|timings| Query {
                timings: Some(timings.clone()),
                ..Query::new("select pg_sleep(0.02)::text")
            })
            .collect();
        many(&mut session, &queries).await;
        for timings in &timings {
            let database = timings.database();
            assert!(database >= Duration::from_millis(15), "{timings:?}");
        }
        assert!(!timings[0].was_prepared());
    });
}

#[test]
fn a_connection_that_ends_takes_those_along_that_it_has_not_begun() {
    block(async {
        let driver = driver();
        let mut other = driver.connect().await.unwrap();
        let mut session = driver.connect().await.unwrap();
        session.run_all("create temp table t (id int)").await;
        let terminate = "select pg_terminate_backend($1, 5000)";
        let queries = [
            echo(1),
            Query::new("do $$ begin perform pg_sleep(10); end $$"),
            Query::new("insert into t values (1)"),
            echo(2),
        ];
        let pid = Value::from(session.key().0);
        let (answers, ()) = tokio::join!(many(&mut session, &queries), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            other.value(terminate, vec![pid.clone()]).await;
        });
        assert_eq!(value(&answers[0]), Value::Integer(1));
        for (answer, repeatable) in answers[1..].iter().zip([false, true, true]) {
            let failure = failure(answer);
            assert_eq!(failure.fate, Fate::Lost { repeatable }, "{failure:?}");
            assert_eq!(failure.error.kind, DatabaseErrorKind::ConnectionLost);
        }
        // One that ended before anything was sent has run none of them.
        let mut session = driver.connect().await.unwrap();
        let pid = Value::from(session.key().0);
        let queries = [
            Query::new("do $$ begin null; end $$"),
            Query::new("vacuum"),
            echo(2),
        ];
        many(&mut session, &queries).await;
        other.value(terminate, vec![pid]).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        for answer in &many(&mut session, &queries).await {
            assert_eq!(failure(answer).fate, Fate::Lost { repeatable: true });
        }
    });
}

#[test]
fn what_runs_is_stopped_and_those_behind_it_go_on() {
    block(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        let queries = [echo(1), Query::new("select pg_sleep(10)"), echo(2)];
        let (answers, ()) = tokio::join!(many(&mut session, &queries), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            driver.stop(key).await.unwrap();
        });
        assert_eq!(
            failure(&answers[1]).error.kind,
            DatabaseErrorKind::Cancelled
        );
        assert_eq!(value(&answers[2]), Value::Integer(2));
    });
}
