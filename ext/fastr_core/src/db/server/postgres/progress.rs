//! How far a statement has come: its rows against their limit, its time, and what it reached when its connection breaks.

use std::time::{Duration, Instant};

use super::answer::Ending;
use super::collect::Collected;
use super::error::{self, Reached};
use super::wire::{Frame, affected};
use crate::db::query::Query;
use crate::db::rows::Written;
use crate::db::server::driver::Failure;
use crate::db::statement::Statement;
use crate::error::DatabaseErrorKind;
use crate::event::Outcome;

/// What a statement says about itself while it runs.
pub(super) struct Progress<'a> {
    sql: &'a str,
    before: Reached,
    limit: Option<usize>,
    rows: usize,
    written: Option<u64>,
    timings: Option<Clock<'a>>,
}

/// Measures a statement that is to be measured.
struct Clock<'a> {
    timings: &'a crate::db::Timings,
    started: Instant,
    decode: Duration,
}

impl<'a> Progress<'a> {
    /// It is about to be sent. `is_atomic` says whether a server that shuts down leaves nothing of it behind.
    pub(super) fn new(statement: Statement, is_atomic: bool, query: &'a Query) -> Self {
        let is_read = statement == Statement::Read;
        Self {
            sql: &query.sql,
            before: Reached::Execution { is_read, is_atomic },
            limit: query.row_limit.filter(|_| is_read),
            rows: 0,
            written: None,
            timings: query.timings.as_deref().map(|timings| Clock {
                timings,
                started: Instant::now(),
                decode: Duration::ZERO,
            }),
        }
    }

    /// Takes a message of the answer.
    pub(super) fn take(
        &mut self,
        collected: &mut Collected,
        frame: Frame<'_>,
    ) -> Result<(), Ending> {
        match frame.tag {
            b'D' => self.row(collected, frame.body),
            b'C' => {
                self.written = Some(self.written.unwrap_or(0) + affected(frame.body));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn row(&mut self, collected: &mut Collected, body: &[u8]) -> Result<(), Ending> {
        let since = self.timings.as_ref().map(|_| Instant::now());
        self.rows += 1;
        if let Some(limit) = self.limit.filter(|&limit| self.rows > limit) {
            let sentence = error::too_many_rows(limit);
            return Err(Ending::Refused(DatabaseErrorKind::Query, sentence));
        }
        let taken = collected.row(body);
        if let (Some(clock), Some(since)) = (&mut self.timings, since) {
            clock.decode += since.elapsed();
        }
        taken
    }

    /// How far it has come.
    pub(super) fn reached(&self) -> Reached {
        if self.rows > 0 || self.written.is_some() {
            Reached::Answer
        } else {
            self.before
        }
    }

    pub(super) fn outcome(self, collected: Collected) -> Result<Outcome, Failure> {
        let Some(rows_affected) = self.written else {
            return Err(error::refused("there is no statement in it", self.sql));
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
