//! Who may wait at all: not everyone at once, not in a transaction that is over, and not for a server that cannot be
//! reached.

use std::time::Instant;

use super::job::{Job, Ticket};
use super::slot::Phase;
use super::state::State;
use crate::db::refusal::{CLOSED, refused};
use crate::error::{DatabaseErrorKind, Error};

impl State {
    /// Why a job may not wait here, if so.
    pub(super) fn refusal(&mut self, job: &Job) -> Option<Error> {
        let ticket = &job.ticket;
        let sql = &ticket.query.sql;
        if self.closed {
            return Some(refused(DatabaseErrorKind::Connection, CLOSED, sql));
        }
        if ticket.is_cancelled() {
            // Whoever cancelled it did not find it in a queue.
            return Some(ticket.cancelled());
        }
        let Some(id) = ticket.query.transaction else {
            let free = self.limit.saturating_sub(self.held());
            let may_wait = free.saturating_add(self.options.max_waiting);
            if self.waiting.len() >= may_wait {
                return Some(self.exhausted("too many operations wait already", sql));
            }
            return self.unreachable(sql);
        };
        match self.transactions.get(&id).copied() {
            None => Some(self.ended.closed(id, sql)),
            Some(_) if job.task.ends() => None,
            Some(index) => {
                let max = self.options.max_waiting;
                let open = self.slot(index).transaction.as_ref();
                let is_full = open.is_some_and(|open| open.waiting.len() >= max);
                is_full.then(|| self.exhausted("too many statements wait in the transaction", sql))
            }
        }
    }

    /// Why a job that is put back would wait in vain.
    pub(super) fn hopeless(&self, ticket: &Ticket) -> Option<Error> {
        let sql = &ticket.query.sql;
        if self.closed {
            return Some(refused(DatabaseErrorKind::Connection, CLOSED, sql));
        }
        if ticket.is_cancelled() {
            return Some(ticket.cancelled());
        }
        self.unreachable(sql)
    }

    /// Why nobody will serve an operation soon, if the server could not be reached a moment ago.
    fn unreachable(&self, sql: &str) -> Option<Error> {
        let mut cause = self.gate.cause(Instant::now())?.clone();
        if self.has_hope() {
            return None;
        }
        cause.sql = Some(sql.into());
        Some(cause.into())
    }

    /// Whether a connection will serve who waits: one that is there or on its way, and was opened after the last loss.
    /// The others end after what they run.
    pub(super) fn has_hope(&self) -> bool {
        let mut slots = self.slots.iter().flatten();
        slots.any(|slot| slot.phase != Phase::Leaving && slot.life == self.life)
    }

    /// Connections that run a statement or are held by a transaction.
    pub(super) fn held(&self) -> usize {
        self.count(&[Phase::Busy, Phase::Due, Phase::Held])
    }
}
