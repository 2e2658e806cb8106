//! How far a statement has come: its rows against their limit, its time, and what it reached when its connection breaks.

use std::time::{Duration, Instant};

use sqlx::postgres::PgRow;

use super::collect::Collected;
use super::error::{self, Reached};
use super::plan::Plan;
use super::transaction;
use crate::db::query::Query;
use crate::db::rows::Written;
use crate::db::server::driver::Failure;
use crate::db::statement::Statement;
use crate::error::DatabaseErrorKind;
use crate::event::Outcome;

/// What a statement says about itself while it runs.
pub(super) struct Progress<'a> {
    plan: &'a Plan,
    limit: Option<usize>,
    rows: usize,
    written: Option<u64>,
    is_cut: bool,
    timings: Option<Clock<'a>>,
}

/// Measures a statement that is to be measured.
struct Clock<'a> {
    timings: &'a crate::db::Timings,
    started: Instant,
    decode: Duration,
}

impl<'a> Progress<'a> {
    pub(super) fn new(plan: &'a Plan, query: &'a Query) -> Self {
        Self {
            plan,
            limit: query
                .row_limit
                .filter(|_| plan.statement == Statement::Read),
            rows: 0,
            written: None,
            is_cut: false,
            timings: query.timings.as_deref().map(|timings| Clock {
                timings,
                started: Instant::now(),
                decode: Duration::ZERO,
            }),
        }
    }

    pub(super) fn row(&mut self, collected: &mut Collected, row: &PgRow) -> Result<(), Failure> {
        let since = self.timings.as_ref().map(|_| Instant::now());
        self.rows += 1;
        if let Some(limit) = self.limit.filter(|&limit| self.rows > limit) {
            self.is_cut = true;
            return Err(error::refused(error::too_many_rows(limit), &self.plan.sql));
        }
        let taken = collected.row(row);
        if let (Some(clock), Some(since)) = (&mut self.timings, since) {
            clock.decode += since.elapsed();
        }
        taken.map_err(|sentence| {
            self.is_cut = true;
            error::about(DatabaseErrorKind::Decode, sentence, &self.plan.sql)
        })
    }

    pub(super) fn complete(&mut self, affected: u64) {
        self.written = Some(self.written.unwrap_or(0) + affected);
    }

    /// Whether rows are still on their way.
    pub(super) fn is_unfinished(&self) -> bool {
        self.is_cut && self.written.is_none()
    }

    pub(super) fn reached(&self) -> Reached {
        if self.rows > 0 || self.written.is_some() {
            return Reached::Answer;
        }
        Reached::Execution {
            is_read: self.plan.statement == Statement::Read,
            is_atomic: transaction::is_atomic(self.plan.statement, &self.plan.sql),
        }
    }

    pub(super) fn outcome(self, collected: Collected) -> Result<Outcome, Failure> {
        let Some(rows_affected) = self.written else {
            return Err(error::refused(
                "there is no statement in it",
                &self.plan.sql,
            ));
        };
        let since = self.timings.as_ref().map(|_| Instant::now());
        let outcome = collected.outcome(Written {
            rows_affected,
            last_insert_id: None,
        });
        if let (Some(clock), Some(since)) = (self.timings, since) {
            let decode = clock.decode + since.elapsed();
            clock.timings.set_decode(decode);
            let whole = clock.started.elapsed();
            clock.timings.set_database(whole.saturating_sub(decode));
        }
        Ok(outcome)
    }
}
