//! The driver against a real MariaDB, whose address is in FASTR_TEST_MYSQL (`bin/with-databases COMMAND` sets it).
#![allow(clippy::unwrap_used)]

mod doors;
mod errors;
mod flow;
mod properties;
mod stopping;
mod types;
mod witness;

use std::sync::atomic::{AtomicU64, Ordering};

use super::MySql;
use super::session::MySqlSession;
use crate::db::pool::DatabaseOptions;
use crate::db::query::{Query, Shape};
use crate::db::rows::{Rows, Value, Written};
use crate::db::server::driver::{Driver, Failure, Session};
use crate::error::DatabaseError;
use crate::event::Outcome;
use std::sync::Arc;

/// The server's address.
fn url() -> String {
    std::env::var("FASTR_TEST_MYSQL").expect(
        "FASTR_TEST_MYSQL is not set: run `bin/with-databases cargo test`, or set it to a mysql:// URL of a user who \
         may create databases",
    )
}

/// The server's address for another user; no database.
fn url_of(credentials: &str) -> String {
    let url = url();
    let address = url.split_once("://").unwrap().1;
    let address = address
        .rsplit_once('@')
        .map_or(address, |(_, address)| address);
    format!(
        "mysql://{credentials}@{}",
        address.split(['/', '?']).next().unwrap()
    )
}

fn driver() -> MySql {
    MySql::new(&url(), &DatabaseOptions::default()).unwrap()
}

async fn open() -> MySqlSession {
    driver().connect().await.unwrap()
}

/// Runs a test on a runtime of its own.
fn on_reactor(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

/// A name that no other test uses.
fn unique(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("fastr_{name}_{}_{number}", std::process::id())
}

/// Runs a statement that must succeed.
async fn run(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> Outcome {
    let outcome = session.run(&Query::new(sql).binds(binds)).await;
    outcome.unwrap_or_else(|failure| panic!("{sql}: {failure:?}"))
}

async fn rows(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> Arc<Rows> {
    match run(session, sql, binds).await {
        Outcome::Rows(rows) => rows,
        other => panic!("{sql}: expected rows, got {other:?}"),
    }
}

async fn written(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> Written {
    match run(session, sql, binds).await {
        Outcome::Written(written) => written,
        other => panic!("{sql}: expected no rows, got {other:?}"),
    }
}

/// The only value of the only row.
async fn value(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> Value {
    let rows = rows(session, sql, binds).await;
    assert_eq!(rows.len(), 1, "{sql}");
    rows.row(0).unwrap()[0].clone()
}

async fn json(session: &mut MySqlSession, sql: &str) -> String {
    let query = Query {
        shape: Shape::Json(crate::db::JsonOptions::default()),
        ..Query::new(sql)
    };
    match session.run(&query).await.unwrap() {
        Outcome::Json(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{sql}: expected JSON, got {other:?}"),
    }
}

async fn failure(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> Failure {
    match session.run(&Query::new(sql).binds(binds)).await {
        Err(failure) => failure,
        Ok(outcome) => panic!("{sql}: expected a failure, got {outcome:?}"),
    }
}

async fn error(session: &mut MySqlSession, sql: &str, binds: Vec<Value>) -> DatabaseError {
    failure(session, sql, binds).await.error
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn decimal(digits: &str) -> Value {
    Value::Decimal(digits.into())
}
