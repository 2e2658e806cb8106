//! How jobs leave the queue without having run (cancelled, too late, nobody there to run them), and how connections
//! leave the pool. Jobs are handed back with their answers rather than completed, so that no completion happens under
//! the lock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::job::{Answers, Job, Ticket};
use super::slot::Phase;
use super::state::State;
use crate::db::refusal::{CLOSED, refused, seconds};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

impl State {
    /// Takes a waiting operation out of its queue.
    pub(super) fn withdraw(&mut self, ticket: &Ticket) -> Option<Job> {
        let job = match ticket.query.transaction {
            None => remove(&mut self.waiting, ticket),
            Some(id) => {
                let index = *self.transactions.get(&id)?;
                let open = self.slot(index).transaction.as_mut()?;
                remove(&mut open.waiting, ticket)
            }
        }?;
        self.counters.cancelled += 1;
        Some(job)
    }

    /// The waiters whose time is up.
    pub(super) fn expire(&mut self, now: Instant) -> Answers {
        let mut late = Vec::new();
        // One limit for all: the queue is in the order of its deadlines.
        while self.next_deadline().is_some_and(|at| at <= now) {
            late.extend(self.waiting.pop_front());
        }
        let limit = seconds(self.options.pool_timeout);
        let answer = |job: Job| {
            let what = format!("no connection became free within {limit}");
            let error = self.exhausted(&what, &job.ticket.query.sql);
            (job, error)
        };
        late.into_iter().map(answer).collect()
    }

    /// When the next waiter's time is up.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.waiting.front()?.deadline
    }

    /// A connection could not be opened. Nobody waits for what cannot come: without another connection everything that
    /// waits is told why.
    pub(super) fn connect_failed(&mut self, index: usize, cause: DatabaseError) -> Answers {
        self.remove(index);
        self.gate.failed(cause, Instant::now());
        self.strand()
    }

    /// A connection is no more, for this reason.
    pub(super) fn vacate(&mut self, index: usize, reason: &str) -> Answers {
        let Some(slot) = self.remove(index) else {
            return Vec::new();
        };
        let open = slot.transaction;
        let mut answers = open.map_or_else(Vec::new, |open| self.close_books(open, reason));
        answers.extend(self.strand());
        answers
    }

    /// A connection could not be started, or was dropped. Nobody is started in its place: whoever submits next does
    /// that, and what waits for nobody is handed back.
    pub(super) fn evict(&mut self, index: usize, error: &Error) -> Answers {
        let Some(slot) = self.remove(index) else {
            return Vec::new();
        };
        let reason = "the reactor that its connection lived on was stopped";
        let open = slot.transaction;
        let mut answers = open.map_or_else(Vec::new, |open| self.close_books(open, reason));
        if self.alive() == 0 {
            answers.extend(self.drain(|_| error.clone()));
        }
        answers
    }

    /// A connection broke: those that were opened before are most likely dead, too. Those that idle are closed now, the
    /// others before their next job.
    pub(super) fn lose(&mut self, index: usize) {
        self.lost += 1;
        if self.slot(index).life < self.life {
            return;
        }
        self.life += 1;
        for index in std::mem::take(&mut self.idle) {
            self.lost += 1;
            self.dismiss(index);
        }
    }

    /// Answers what waits if there is no connection and none can be opened now.
    fn strand(&mut self) -> Answers {
        let Some(cause) = self.gate.cause(Instant::now()).cloned() else {
            return Vec::new();
        };
        if self.has_hope() {
            return Vec::new();
        }
        self.drain(|job| {
            let mut cause = cause.clone();
            cause.sql = Some(job.ticket.query.sql.clone());
            cause.into()
        })
    }

    /// Hands back everything that waits for a connection.
    pub(super) fn drain(&mut self, error: impl Fn(&Job) -> Error) -> Answers {
        let waiting = std::mem::take(&mut self.waiting);
        let answer = |job: Job| {
            let error = error(&job);
            (job, error)
        };
        waiting.into_iter().map(answer).collect()
    }

    /// Closes connections that have idled for too long or are too old.
    pub(super) fn reap(&mut self, now: Instant) {
        let mut spare = self.alive().saturating_sub(self.options.min_size);
        let limit = self.options.idle_timeout;
        for index in self.idle.clone() {
            let slot = self.slot(index);
            let end = slot
                .parked
                .zip(limit)
                .and_then(|(at, limit)| at.checked_add(limit));
            let is_spare = spare > 0 && end.is_some_and(|end| end <= now);
            if is_spare || slot.is_expired(now) {
                spare = spare.saturating_sub(1);
                self.dismiss(index);
            }
        }
    }

    /// When the next parked connection is to be closed.
    pub(super) fn reap_deadline(&self) -> Option<Instant> {
        let limit = self.options.idle_timeout;
        let has_spare = self.alive() > self.options.min_size;
        let slots = self
            .idle
            .iter()
            .filter_map(|&index| self.slots[index].as_ref());
        let ends = slots.flat_map(|slot| {
            let idled = slot.parked.zip(limit).filter(|_| has_spare);
            let idled = idled.and_then(|(at, limit)| at.checked_add(limit));
            [idled, slot.expires]
        });
        ends.flatten().min()
    }

    fn dismiss(&mut self, index: usize) {
        self.enter(index, Phase::Leaving);
        self.slot(index).wake.notify_one();
    }

    /// Refuses everything from now on; what waited is handed back and what runs is marked.
    pub(super) fn shut(&mut self) -> Answers {
        self.closed = true;
        let refusal =
            |job: &Job| refused(DatabaseErrorKind::Connection, CLOSED, &job.ticket.query.sql);
        let mut answers = self.drain(refusal);
        for index in 0..self.slots.len() {
            let Some(slot) = self.slots[index].as_mut() else {
                continue;
            };
            for ticket in &slot.running {
                ticket.mark_cancelled();
            }
            slot.wake.notify_one();
            if matches!(slot.phase, Phase::Idle | Phase::Held) {
                self.enter(index, Phase::Leaving);
            }
            answers.extend(self.end_transaction(index, CLOSED));
        }
        answers
    }
}

fn remove(queue: &mut VecDeque<Job>, ticket: &Ticket) -> Option<Job> {
    let position = queue
        .iter()
        .position(|job| std::ptr::eq(Arc::as_ptr(&job.ticket), ticket))?;
    queue.remove(position)
}
