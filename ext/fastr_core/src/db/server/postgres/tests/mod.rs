//! The driver against a real server, without a pool in between. `bin/with-databases cargo test -p fastr_core` brings
//! one.

mod errors;
mod logins;
mod matrix;
mod pipelines;
mod properties;
mod sessions;
mod speed;
mod statements;
mod streams;
mod subscriptions;

use std::future::Future;
use std::sync::Arc;

use super::Postgres;
use super::session::PostgresSession;
use crate::db::pool::DatabaseOptions;
use crate::db::query::Query;
use crate::db::rows::{Rows, Value};
use crate::db::server::driver::{Driver, Failure, Session};
use crate::error::DatabaseError;
use crate::event::Outcome;

fn url() -> String {
    std::env::var("FASTR_TEST_PG").expect(
        "FASTR_TEST_PG names no PostgreSQL server; run the tests by `bin/with-databases cargo test -p fastr_core`",
    )
}

/// The URL with more options.
fn url_with(options: &str) -> String {
    let url = url();
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}{options}")
}

fn driver_for(url: &str) -> Arc<Postgres> {
    Arc::new(Postgres::new(url, &DatabaseOptions::default()).unwrap())
}

fn driver() -> Arc<Postgres> {
    driver_for(&url())
}

/// Runs a test on a reactor of its own.
fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs a test with one connection.
fn with_session<F, T>(test: impl FnOnce(PostgresSession) -> F) -> T
where
    F: Future<Output = T>,
{
    block(async { test(driver().connect().await.unwrap()).await })
}

impl PostgresSession {
    async fn rows(&mut self, sql: &str, binds: Vec<Value>) -> Arc<Rows> {
        match self.run(&Query::new(sql).binds(binds)).await {
            Ok(Outcome::Rows(rows)) => rows,
            other => panic!("{sql}: expected rows, got {other:?}"),
        }
    }

    /// The only value of a result with one row and one column.
    async fn value(&mut self, sql: &str, binds: Vec<Value>) -> Value {
        let rows = self.rows(sql, binds).await;
        match rows.row(0) {
            Some([value]) if rows.len() == 1 => value.clone(),
            other => panic!("{sql}: expected one value, got {other:?}"),
        }
    }

    async fn failure(&mut self, sql: &str, binds: Vec<Value>) -> Failure {
        match self.run(&Query::new(sql).binds(binds)).await {
            Err(failure) => failure,
            other => panic!("{sql}: expected a failure, got {other:?}"),
        }
    }

    async fn error(&mut self, sql: &str, binds: Vec<Value>) -> DatabaseError {
        self.failure(sql, binds).await.error
    }

    async fn run_all(&mut self, sql: &str) {
        self.script(sql).await.unwrap();
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}
