//! One connection. Each statement is prepared once, executed with its binds, and read to its end, whatever happens:
//! a result that nobody wants any more is stopped on the server and drained.
//!
//! What it answers: rows affected are rows found, as ActiveRecord has it (an update that changes nothing still counts);
//! of a procedure's results the first with rows. Whether a transaction is open is followed by the statements' text, and
//! asked of the server after those that may have done anything, because MySQL commits by itself when the schema changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use sqlx::mysql::MySqlArguments;
use sqlx::{AssertSqlSafe, Connection, Either, Executor, MySqlConnection};

use super::connect::{Greeting, Link};
use super::encode;
use super::error;
use super::fetch::{self, Collector};
use super::prepared::{Prepared, Refusal, Statements, several};
use super::stop::{self, Flag};
use super::stream;
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::rows::Rows;
use crate::db::server::driver::{Failure, Session, SessionKey};
use crate::error::{DatabaseError, DatabaseErrorKind};
use crate::event::Outcome;

/// A packet larger than the server takes.
const TOO_LARGE: i32 = 1153;

/// So long saying good-bye may take.
const GOOD_BYE: Duration = Duration::from_millis(500);

/// One connection.
#[derive(Debug)]
pub(crate) struct MySqlSession {
    pub(super) connection: MySqlConnection,
    greeting: Greeting,
    statements: Statements,
    pub(super) is_in_transaction: bool,
    pub(super) registration: Registration,
}

/// Makes the session known to who may stop it, for as long as it lives.
#[derive(Debug)]
pub(super) struct Registration {
    pub(super) link: Arc<Link>,
    id: u64,
    flag: Flag,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.link.unregister(self.id);
    }
}

impl MySqlSession {
    pub(super) async fn open(link: Arc<Link>) -> Result<Self, DatabaseError> {
        let schema = link.schema_changes.load(Ordering::Acquire);
        let (connection, greeting) = link.connect().await?;
        let (id, flag) = (greeting.id, link.register(greeting.id));
        Ok(Self {
            connection,
            greeting,
            statements: Statements::new(link.statement_cache, schema),
            is_in_transaction: false,
            registration: Registration { link, id, flag },
        })
    }

    /// Makes the connection ready for its next statement.
    async fn ready(&mut self) -> Result<(), sqlx::Error> {
        stop::settle(&mut self.connection, &self.registration.flag).await?;
        let schema = self
            .registration
            .link
            .schema_changes
            .load(Ordering::Acquire);
        if schema != self.statements.schema {
            self.forget(schema).await?;
        }
        Ok(())
    }

    /// Closes all prepared statements.
    async fn forget(&mut self, schema: u64) -> Result<(), sqlx::Error> {
        self.statements.clear(schema);
        self.connection.clear_cached_statements().await
    }

    /// A statement that is new to the connection.
    async fn prepare_new(&mut self, sql: &str) -> Result<Arc<Prepared>, Failure> {
        if self.statements.is_full() {
            let forgotten = self.forget(self.statements.schema).await;
            forgotten.map_err(|error| error::failure(&error, sql, true))?;
        }
        match self.statements.prepare(&mut self.connection, sql).await {
            Ok(statement) => Ok(statement),
            Err(Refusal::Ours(reason)) => Err(refused(reason, sql)),
            Err(Refusal::Server(error)) => Err(self.failed(&error, sql, true).await),
            Err(Refusal::Several(error)) => {
                let mut failure = self.failed(&error, sql, true).await;
                failure.error.message = several().into();
                Err(failure)
            }
        }
    }

    /// The prepared statement with its binds, and whether it was prepared before.
    async fn prepare(
        &mut self,
        query: &Query,
    ) -> Result<(Arc<Prepared>, MySqlArguments, bool), Failure> {
        let sql = query.sql.as_str();
        self.ready()
            .await
            .map_err(|error| error::failure(&error, sql, true))?;
        let known = self.statements.get(sql);
        let was_prepared = known.is_some();
        let statement = match known {
            Some(statement) => statement,
            None => self.prepare_new(sql).await?,
        };
        self.check_stopped(sql)?;
        let arguments = self
            .binds(&statement, query)
            .map_err(|reason| refused(reason, sql))?;
        Ok((statement, arguments, was_prepared))
    }

    fn binds(&self, statement: &Prepared, query: &Query) -> Result<MySqlArguments, String> {
        let (expected, given) = (statement.parameters, query.binds.len());
        if expected != given {
            return Err(format!(
                "the statement has {expected} placeholder(s), but {given} value(s) were given"
            ));
        }
        encode::arguments(&query.binds, &self.greeting.types)
    }

    /// A stop that came while there was nothing to stop yet. Whoever stops says so before the server hears of it.
    fn check_stopped(&self, sql: &str) -> Result<(), Failure> {
        match self.registration.flag.load(Ordering::Acquire) {
            true => Err(error::stopped(sql)),
            false => Ok(()),
        }
    }

    /// A packet beyond the server's limit would cost the connection.
    fn check_size(&self, query: &Query) -> Result<(), Failure> {
        let size = query.sql.len() + 64 + query.binds.iter().map(encode::size).sum::<usize>();
        if size as u64 <= self.greeting.max_packet {
            return Ok(());
        }
        let limit = self.greeting.max_packet;
        let mut failure = refused(
            format!(
                "the statement with its values takes {size} bytes, and the server takes {limit} at most; raise its max_allowed_packet, or send less at once"
            ),
            &query.sql,
        );
        failure.error.code = Some(crate::error::ErrorCode::Number(TOO_LARGE));
        Err(failure)
    }

    async fn collect(
        &mut self,
        statement: &Prepared,
        arguments: MySqlArguments,
        collector: &mut Collector<'_>,
    ) -> Result<(), sqlx::Error> {
        let (link, key) = (&self.registration.link, SessionKey(self.greeting.id));
        let mut steps = fetch::execute(&mut self.connection, statement, arguments);
        let mut is_stopped = false;
        while let Some(step) = steps.try_next().await? {
            if !collector.step(step) && !is_stopped {
                is_stopped = true;
                // If that fails the rest is read to its end, which takes longer.
                let _ = link.stop(key).await;
            }
        }
        Ok(())
    }
}

impl Session for MySqlSession {
    fn key(&self) -> SessionKey {
        SessionKey(self.greeting.id)
    }

    async fn run(&mut self, query: &Query) -> Result<Outcome, Failure> {
        let started = query.timings.as_ref().map(|_| Instant::now());
        self.check_size(query)?;
        let sql = query.sql.as_str();
        let (statement, arguments, was_prepared) = self.prepare(query).await?;
        let mut collector =
            Collector::new(&statement, &query.shape, query.row_limit, started.is_some())
                .map_err(|error| about(error, sql))?;
        let result = self.collect(&statement, arguments, &mut collector).await;
        if collector.is_changed
            && let Some(layout) = collector.layout()
        {
            self.statements.relayout(&statement, layout);
        }
        if let (Some(timings), Some(started)) = (&query.timings, started) {
            let decode = collector.decode.unwrap_or_default();
            timings.set_decode(decode);
            timings.set_database(started.elapsed().saturating_sub(decode));
            timings.set_prepared(was_prepared);
        }
        match (result, collector.refusal.take()) {
            (Err(error), Some(_)) if error::is_lost(&error) => {
                Err(error::failure(&error, sql, false))
            }
            (_, Some(refusal)) => Err(about(refusal, sql)),
            (Err(error), None) => Err(self.failed(&error, sql, statement.traits.reads).await),
            (Ok(()), None) => {
                self.follow(statement.traits.effect).await;
                Ok(collector.finish())
            }
        }
    }

    async fn stream(
        &mut self,
        query: &Query,
        batch: usize,
        feed: &Feed<Arc<Rows>>,
    ) -> Result<(), Failure> {
        self.check_size(query)?;
        let sql = query.sql.as_str();
        let (statement, arguments, was_prepared) = self.prepare(query).await?;
        if let Some(timings) = &query.timings {
            timings.set_prepared(was_prepared);
        }
        if statement.traits.writes {
            return Err(refused(
                "a statement that writes cannot be streamed; use `query`",
                sql,
            ));
        }
        match stream::feed(&mut self.connection, &statement, arguments, batch, feed).await {
            Ok(changed) => {
                if let Some(layout) = changed {
                    self.statements.relayout(&statement, layout);
                }
                self.follow(statement.traits.effect).await;
                Ok(())
            }
            // Nobody waits for the rest, and the server was told so.
            Err(error) if feed.is_closed() && error::number(&error) == Some(error::INTERRUPTED) => {
                Ok(())
            }
            Err(error) => Err(self.failed(&error, sql, false).await),
        }
    }

    async fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.ready()
            .await
            .map_err(|error| error::failure(&error, sql, true))?;
        self.check_stopped(sql)?;
        let mut done = 0;
        let result = {
            let script = sqlx::raw_sql(AssertSqlSafe(sql));
            let mut steps = self.connection.fetch_many(script);
            loop {
                match steps.try_next().await {
                    Ok(Some(Either::Left(_))) => done += 1,
                    Ok(Some(Either::Right(_))) => {}
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            }
        };
        self.registration
            .link
            .schema_changes
            .fetch_add(1, Ordering::AcqRel);
        match result {
            Ok(()) => {
                self.probe().await;
                Ok(())
            }
            Err(error) => {
                if !error::is_lost(&error) {
                    self.probe().await;
                }
                let mut failure = error::failure(&error, sql, false);
                failure.error.detail = Some(format!("the script failed after {done} result(s)"));
                Err(failure)
            }
        }
    }

    async fn ping(&mut self, limit: Duration) -> bool {
        let alive = async { self.ready().await.is_ok() && self.connection.ping().await.is_ok() };
        tokio::time::timeout(limit, alive).await.unwrap_or(false)
    }

    fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    async fn close(self) {
        let _ = tokio::time::timeout(GOOD_BYE, self.connection.close()).await;
    }
}

fn refused(reason: impl Into<String>, sql: &str) -> Failure {
    about(DatabaseError::new(DatabaseErrorKind::Query, reason), sql)
}

fn about(error: DatabaseError, sql: &str) -> Failure {
    Failure::of_statement(DatabaseError {
        sql: Some(sql.into()),
        ..error
    })
}
