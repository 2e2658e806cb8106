//! One connection: it prepares a statement once, encodes the values for the types the server named, and reads the
//! answer straight into values or JSON. What a failure means is the business of [`error`].

use std::sync::Arc;
use std::time::Duration;

use super::answer::Protocol;
use super::collect::Collected;
use super::error::{self, Reached};
use super::keys::Key;
use super::options::Options;
use super::plan::{Description, Plan, Plans, Shape};
use super::progress::Progress;
use super::types::Types;
use super::wire::{Frame, Status, Wire, messages};
use super::{encode, pipeline, stream, transaction, unprepared};
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::rows::Rows;
use crate::db::server::driver::{Failure, Fate, Session, SessionKey};
use crate::db::statement::first_word;
use crate::event::Outcome;

/// Saying good-bye may last this long.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection, and what is known about its statements.
pub(crate) struct PostgresSession {
    pub(super) wire: Wire,
    pub(super) key: Key,
    pub(super) options: Arc<Options>,
    pub(super) types: Types,
    plans: Plans,
}

impl PostgresSession {
    pub(super) fn new(wire: Wire, key: Key, options: Arc<Options>, statements: usize) -> Self {
        Self {
            wire,
            key,
            options,
            types: Types::default(),
            plans: Plans::new(statements),
        }
    }

    async fn attempt(&mut self, query: &Query) -> Result<Outcome, Failure> {
        if !self.prepares() {
            refuse(&query.sql)?;
            return unprepared::run(self, query).await;
        }
        let (plan, was_prepared) = self.plan(&query.sql).await?;
        if let Some(timings) = &query.timings {
            timings.set_prepared(was_prepared);
        }
        let collected = Collected::new(&plan.result, &query.shape, &plan.sql)?;
        self.bind(&plan, query, 0)?;
        let progress = Progress::new(plan.statement, plan.is_atomic, query);
        self.ask(&query.sql, progress.reached()).await?;
        self.outcome(Protocol::Extended, query, progress, collected)
            .await
    }

    /// The plan of a statement, and whether it was known.
    pub(super) async fn plan(&mut self, sql: &str) -> Result<(Arc<Plan>, bool), Failure> {
        if let Some(plan) = self.plans.get(sql) {
            return Ok((plan, true));
        }
        refuse(sql)?;
        let plan = Arc::new(self.prepare(sql).await?);
        if let Some(evicted) = self.plans.insert(Arc::clone(&plan)) {
            messages::close_statement(&mut self.wire.output, &evicted.name);
        }
        Ok((plan, false))
    }

    async fn prepare(&mut self, sql: &str) -> Result<Plan, Failure> {
        let name = self.plans.new_name();
        let start = self.wire.output.len();
        let out = &mut self.wire.output;
        if !messages::parse(out, &name, sql) {
            out.truncate(start);
            return Err(error::refused("the statement is too large", sql));
        }
        messages::describe(out, &name);
        messages::sync(out);
        self.ask(sql, Reached::Preparation).await?;
        let mut found = Description::default();
        let described = self
            .answer(Protocol::Extended, |frame| {
                Ok(found.take(frame.tag, frame.body)?)
            })
            .await;
        described.map_err(|ending| error::of_statement(ending, sql, Reached::Preparation))?;
        let all = [found.parameters.as_slice(), &found.columns].concat();
        let mut parameters = match self.types(&all).await {
            Ok(types) => types,
            Err(failure) => {
                messages::close_statement(&mut self.wire.output, &name);
                return Err(failure);
            }
        };
        let columns = parameters.split_off(found.parameters.len());
        let result = Shape::of(found.names, columns);
        Ok(Plan::of(name, sql, parameters, result))
    }

    /// Appends a statement that is known, with its values, for at most so many rows (0: all). It is sent together with
    /// what was appended before.
    pub(super) fn bind(&mut self, plan: &Plan, query: &Query, rows: u32) -> Result<(), Failure> {
        let out = &mut self.wire.output;
        encode::bind(out, "", &plan.name, &query.binds, &plan.parameters)
            .map_err(|sentence| error::refused(sentence, &plan.sql))?;
        messages::execute(out, "", rows);
        messages::sync(out);
        Ok(())
    }

    /// Reads the answer of a statement that was sent.
    pub(super) async fn outcome(
        &mut self,
        protocol: Protocol,
        query: &Query,
        mut progress: Progress<'_>,
        mut collected: Collected,
    ) -> Result<Outcome, Failure> {
        let take = |frame: Frame<'_>| progress.take(&mut collected, frame);
        match self.answer(protocol, take).await {
            Ok(()) => progress.outcome(collected),
            Err(ending) => Err(error::of_statement(ending, &query.sql, progress.reached())),
        }
    }

    /// Runs a statement without values and without an answer.
    pub(super) async fn command(
        &mut self,
        sql: &'static str,
        reached: Reached,
    ) -> Result<(), Failure> {
        self.simple(sql, reached, |_| Ok(())).await
    }

    /// Whether statements are prepared here.
    pub(super) fn prepares(&self) -> bool {
        self.plans.are_kept()
    }

    /// Forgets all that was prepared, here at once and at the server with the next statement.
    pub(super) fn forget(&mut self) {
        for plan in self.plans.drain() {
            messages::close_statement(&mut self.wire.output, &plan.name);
        }
    }
}

impl Session for PostgresSession {
    /// More would wait behind each other for no gain.
    const PIPELINE: usize = 16;

    fn key(&self) -> SessionKey {
        self.key.name()
    }

    async fn run_many(
        &mut self,
        queries: &[&Query],
        mut answered: impl FnMut(usize, Result<Outcome, Failure>) + Send,
    ) {
        if self.prepares() {
            return pipeline::run(self, queries, answered).await;
        }
        for (index, query) in queries.iter().enumerate() {
            let result = self.run(query).await;
            answered(index, result);
        }
    }

    async fn run(&mut self, query: &Query) -> Result<Outcome, Failure> {
        match self.attempt(query).await {
            Err(failure) if failure.fate == Fate::Usable && error::is_stale(&failure.error) => {
                self.forget();
                // A transaction is over after any error: repeating would only say so.
                if query.transaction.is_some() || self.is_in_transaction() {
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
        let reached = Reached::Execution {
            is_read: false,
            is_atomic: false,
        };
        self.simple(sql, reached, |_| Ok(())).await
    }

    async fn ping(&mut self, limit: Duration) -> bool {
        let asked = async {
            messages::sync(&mut self.wire.output);
            self.ask("", Reached::Preparation).await.ok()?;
            self.answer(Protocol::Extended, |_| Ok(())).await.ok()
        };
        matches!(tokio::time::timeout(limit, asked).await, Ok(Some(())))
    }

    fn is_in_transaction(&self) -> bool {
        self.wire.status() != Status::Idle
    }

    async fn close(self) {
        let _ = tokio::time::timeout(FAREWELL, self.wire.close()).await;
    }
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
        return Err(error::of_statement(
            super::answer::no_copy(),
            sql,
            Reached::Preparation,
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
