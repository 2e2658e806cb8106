//! One connection: it prepares a statement once, encodes the values for the types the server named, and reads the
//! answer straight into values or JSON. What a failure means is the business of [`error`].

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Either, Executor, SqlSafeStr};

use super::collect::Collected;
use super::error::{self, Reached};
use super::oid::Type;
use super::plan::{Plan, Plans};
use super::progress::Progress;
use super::side::Side;
use super::{encode, simple, stream, transaction};
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::rows::Rows;
use crate::db::server::driver::{Failure, Fate, Session, SessionKey};
use crate::db::statement::{Statement, first_word};
use crate::event::Outcome;

/// Saying good-bye may last this long.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection, and what is known about its statements.
pub(crate) struct PostgresSession {
    pub(super) connection: PgConnection,
    key: SessionKey,
    plans: Plans,
    side: Arc<Side>,
    /// Whether a transaction is open; sqlx does not show what the server says about it with every answer.
    is_in_transaction: bool,
}

impl PostgresSession {
    pub(super) fn new(
        connection: PgConnection,
        key: SessionKey,
        statements: usize,
        side: Arc<Side>,
    ) -> Self {
        Self {
            connection,
            key,
            plans: Plans::new(statements),
            side,
            is_in_transaction: false,
        }
    }

    async fn attempt(&mut self, query: &Query) -> Result<Outcome, Failure> {
        refuse(&query.sql)?;
        if !self.plans.are_kept() {
            return simple::run(self, query).await;
        }
        let (plan, was_prepared) = self.plan(&query.sql).await?;
        let arguments = encode::arguments(&query.binds, &plan.parameters)
            .map_err(|sentence| error::refused(sentence, &plan.sql))?;
        let collected = Collected::new(&plan.result, &query.shape, &plan.sql)?;
        if let Some(timings) = &query.timings {
            timings.set_prepared(was_prepared);
        }
        let outcome = self.execute(&plan, arguments, collected, query).await;
        if outcome.is_ok() {
            self.note(plan.statement, &plan.sql);
        }
        outcome
    }

    /// The plan of a statement, and whether it was known.
    async fn plan(&mut self, sql: &str) -> Result<(Arc<Plan>, bool), Failure> {
        if let Some(plan) = self.plans.get(sql) {
            return Ok((plan, true));
        }
        let sql: Arc<str> = sql.into();
        let prepared = self.connection.prepare(trusted(&sql)).await;
        match prepared {
            Ok(prepared) => {
                let plan = Arc::new(Plan::of(sql, &prepared));
                self.plans.insert(Arc::clone(&plan));
                Ok((plan, false))
            }
            Err(error) => {
                let failure = error::of_statement(error, &sql, Reached::Preparation);
                Err(self.settled(failure).await)
            }
        }
    }

    async fn execute(
        &mut self,
        plan: &Plan,
        arguments: PgArguments,
        mut collected: Collected,
        query: &Query,
    ) -> Result<Outcome, Failure> {
        let mut progress = Progress::new(plan, query);
        let statement = sqlx::query_with(trusted(&plan.sql), arguments);
        let mut answers = self.connection.fetch_many(statement);
        let ended = loop {
            match answers.try_next().await {
                Ok(Some(Either::Right(row))) => {
                    if let Err(failure) = progress.row(&mut collected, &row) {
                        break Err(failure);
                    }
                }
                Ok(Some(Either::Left(result))) => progress.complete(result.rows_affected()),
                Ok(None) => break Ok(()),
                Err(error) => {
                    break Err(error::of_statement(error, &plan.sql, progress.reached()));
                }
            }
        };
        drop(answers);
        match ended {
            Ok(()) => progress.outcome(collected),
            Err(failure) => {
                if progress.is_unfinished() && failure.fate == Fate::Usable {
                    self.interrupt().await;
                }
                Err(self.settled(failure).await)
            }
        }
    }

    /// Whether a transaction was open after the last statement.
    pub(super) fn was_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    /// Runs a statement without values and without an answer.
    pub(super) async fn command(&mut self, sql: &'static str) -> Result<(), Failure> {
        match self.connection.execute(sql).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(error, sql).await),
        }
    }

    /// What became of a statement that was sent and failed.
    pub(super) async fn failed(&mut self, error: sqlx::Error, sql: &str) -> Failure {
        let failure = error::of_statement(error, sql, Reached::Answer);
        self.settled(failure).await
    }

    /// The types of a statement's placeholders.
    pub(super) async fn parameters(&mut self, sql: &str) -> Result<Vec<Type>, Failure> {
        let (plan, _) = self.plan(sql).await?;
        Ok(plan.parameters.clone())
    }

    /// Remembers what a statement that ended well did to transactions.
    pub(super) fn note(&mut self, statement: Statement, sql: &str) {
        self.is_in_transaction = transaction::after(statement, sql, self.is_in_transaction);
    }

    /// Whether statements are prepared here.
    pub(super) fn prepares(&self) -> bool {
        self.plans.are_kept()
    }

    /// Stops a statement whose rows nobody wants any more; if that fails they are read to their end.
    pub(super) async fn interrupt(&mut self) {
        let _ = self.side.stop(self.key).await;
    }

    /// Reads what the server still says after a failure, so that the next statement finds the connection ready.
    pub(super) async fn settled(&mut self, mut failure: Failure) -> Failure {
        while failure.fate == Fate::Usable {
            match self.connection.flush().await {
                Ok(()) => break,
                Err(error) => {
                    let sql = failure.error.sql.clone().unwrap_or_default();
                    failure.fate = error::of_statement(error, &sql, Reached::Answer).fate;
                }
            }
        }
        failure
    }

    /// Forgets all that was prepared.
    async fn forget(&mut self) -> Result<(), Failure> {
        self.plans.clear();
        let cleared = self.connection.clear_cached_statements().await;
        cleared.map_err(|error| error::of_statement(error, "", Reached::Preparation))
    }
}

impl Session for PostgresSession {
    fn key(&self) -> SessionKey {
        self.key
    }

    async fn run(&mut self, query: &Query) -> Result<Outcome, Failure> {
        match self.attempt(query).await {
            Err(failure) if failure.fate == Fate::Usable && error::is_stale(&failure.error) => {
                self.forget().await?;
                // A transaction is over after any error: repeating would only say so.
                if query.transaction.is_some() || self.is_in_transaction {
                    return Err(failure);
                }
                self.attempt(query).await
            }
            other => other,
        }
    }

    async fn stream(
        &mut self,
        query: &Query,
        batch: usize,
        feed: &Feed<Arc<Rows>>,
    ) -> Result<(), Failure> {
        stream::run(self, query, batch, feed).await
    }

    async fn script(&mut self, sql: &str) -> Result<(), Failure> {
        refuse(sql)?;
        let text: Arc<str> = sql.into();
        let done = sqlx::raw_sql(trusted(&text))
            .execute(&mut self.connection)
            .await;
        // A script may begin a transaction or end one; only the server knows.
        let ended = match done {
            Ok(_) => Ok(()),
            Err(error) => {
                let reached = Reached::Execution {
                    is_read: false,
                    is_atomic: false,
                };
                let failure = error::of_statement(error, sql, reached);
                Err(self.settled(failure).await)
            }
        };
        if matches!(&ended, Err(failure) if failure.fate != Fate::Usable) {
            return ended;
        }
        self.is_in_transaction = transaction::is_open(self, sql).await?;
        ended
    }

    async fn ping(&mut self, limit: Duration) -> bool {
        matches!(
            tokio::time::timeout(limit, self.connection.ping()).await,
            Ok(Ok(()))
        )
    }

    fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    async fn close(self) {
        let _ = tokio::time::timeout(FAREWELL, self.connection.close()).await;
    }
}

/// The one place where the text of a statement is passed on: it comes from the builder, which binds every value, or
/// from the author of the application.
pub(super) fn trusted(sql: &Arc<str>) -> sqlx::SqlStr {
    AssertSqlSafe(Arc::clone(sql)).into_sql_str()
}

/// What PostgreSQL or the protocol would stumble over.
pub(super) fn refuse(sql: &str) -> Result<(), Failure> {
    if memchr::memchr(0, sql.as_bytes()).is_some() {
        return Err(error::refused(
            "the statement contains a NUL character; bind the value, as bytea",
            sql,
        ));
    }
    if transaction::is_copy_with_client(sql) {
        return Err(error::refused(
            "COPY FROM STDIN and COPY TO STDOUT are not supported; insert many rows with one INSERT, and read many \
             with `stream`",
            sql,
        ));
    }
    if first_word(sql).eq_ignore_ascii_case("listen") {
        return Err(error::refused(
            "LISTEN belongs to one connection, and the next statement may run on another; use `listen`",
            sql,
        ));
    }
    Ok(())
}
