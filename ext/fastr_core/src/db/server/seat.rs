//! A task's place in the pool. It is left in good order, or it is dropped because the reactor was stopped: then it
//! takes its connection out of the books and answers what the task was working on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::job::{Answers, Job, Ticket};
use super::pool::Pool;
use super::slot::Phase;
use super::state::State;
use super::steps::Next;
use crate::db::refusal::refused;
use crate::db::rows::TransactionId;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::{Completer, Outcome};

/// The right to use one slot.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) pool: Arc<Pool>,
    index: usize,
    /// What the task is working on.
    job: Option<(Arc<Ticket>, Completer)>,
    /// Or the several things it is working on.
    pub(super) batch: Batch,
    is_left: bool,
}

impl Seat {
    pub(super) fn new(pool: Arc<Pool>, index: usize) -> Self {
        Self {
            pool,
            index,
            job: None,
            batch: Batch::default(),
            is_left: false,
        }
    }

    /// Which slot it is.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// The task runs, and begins to connect.
    pub(super) fn arrive(&self) {
        self.change(|state, index| {
            state.slot(index).life = state.life;
            state.enter(index, Phase::Connecting);
            Vec::new()
        });
    }

    /// It is connected.
    pub(super) fn connected(&self) {
        self.change(|state, index| {
            state.connected(index, Instant::now());
            Vec::new()
        });
    }

    /// It cannot connect.
    pub(super) fn fail(mut self, cause: DatabaseError) {
        self.is_left = true;
        self.change(|state, index| state.connect_failed(index, cause));
    }

    /// It ends; a transaction that it holds ends for this reason.
    pub(super) fn leave(&mut self, reason: &str) {
        self.is_left = true;
        self.change(|state, index| state.vacate(index, reason));
    }

    /// Its connection broke, and with it those that idle.
    pub(super) fn lose(&mut self, reason: &str) {
        self.is_left = true;
        self.change(|state, index| {
            state.lose(index);
            state.vacate(index, reason)
        });
    }

    /// The connection has proved to be alive.
    pub(super) fn checked(&self) -> Next {
        self.pool.next(self.index, |state, _| {
            state.enter(self.index, Phase::Searching);
        })
    }

    /// Resolves when the pool is closed.
    pub(super) async fn closed(&mut self) {
        let wake = Arc::clone(&self.pool.lock().slot(self.index).wake);
        while !self.pool.is_closed() {
            wake.notified().await;
        }
    }

    /// The next thing to do.
    pub(super) fn next(&self) -> Next {
        self.pool.next(self.index, |_, _| {})
    }

    /// Takes charge of an answer.
    pub(super) fn hold(&mut self, ticket: &Arc<Ticket>, completer: Completer) {
        self.job = Some((Arc::clone(ticket), completer));
    }

    /// Gives the charge back.
    pub(super) fn let_go(&mut self) -> Option<Completer> {
        self.job.take().map(|(_, completer)| completer)
    }

    /// Answers. The connection is free before that: what the answer triggers finds it so.
    pub(super) fn answer(&mut self, result: Result<Outcome, Error>) {
        if let Some(completer) = self.let_go() {
            completer.complete(result);
        }
    }

    /// What it was busy with is done. The next thing to do.
    pub(super) fn release(&self) -> Next {
        self.release_after(|_, _| {})
    }

    /// The same, once `learn` has entered what the pool is to learn from it.
    pub(super) fn release_after(&self, learn: impl FnOnce(&mut State, Instant)) -> Next {
        self.pool.next(self.index, |state, now| {
            learn(state, now);
            state.release(self.index, now);
        })
    }

    /// The transaction that this connection holds.
    pub(super) fn transaction(&self) -> Option<TransactionId> {
        self.pool.lock().transaction(self.index)
    }

    pub(super) fn open_transaction(&self) -> TransactionId {
        self.pool
            .lock()
            .open_transaction(self.index, Instant::now())
    }

    /// The transaction is over; whatever still waits in it is told so.
    pub(super) fn end_transaction(&self, reason: &str) {
        self.change(|state, index| state.end_transaction(index, reason));
    }

    /// Gives a job that met a dead connection another chance. The seat was left.
    pub(super) fn requeue(&self, job: Job) {
        self.pool.requeue(job);
    }

    /// The same for several, which keep their order. None of them is repeated twice.
    pub(super) fn requeue_all(&self, jobs: Vec<Job>) {
        for mut job in jobs.into_iter().rev() {
            job.is_repeated = true;
            self.requeue(job);
        }
    }

    fn change(&self, change: impl FnOnce(&mut State, usize) -> Answers) {
        self.pool.change(|state| change(state, self.index));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.is_left {
            self.pool.evict(self.index);
        }
        let message =
            "the reactor was stopped while the statement ran, so whether it took effect is unknown";
        let unknown = |sql: &str| refused(DatabaseErrorKind::ConnectionLost, message, sql);
        if let Some((ticket, completer)) = self.job.take() {
            completer.complete(Err(unknown(&ticket.query.sql)));
        }
        self.batch.abandon(unknown);
    }
}

impl State {
    /// A connection was opened.
    fn connected(&mut self, index: usize, now: Instant) {
        self.gate.open();
        if self.lost > 0 {
            self.lost -= 1;
            self.counters.reconnects += 1;
        }
        let expires = self.options.max_lifetime.and_then(|lifetime| {
            let lifetime = shortened(lifetime, self.opened);
            now.checked_add(lifetime)
        });
        self.opened += 1;
        self.slot(index).expires = expires;
        self.enter(index, Phase::Searching);
    }
}

/// Up to a tenth less, so that connections that were opened together are not replaced together.
fn shortened(lifetime: Duration, serial: u64) -> Duration {
    let scattered = serial.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let part = u32::try_from(scattered % 100).unwrap_or(0);
    lifetime - lifetime / 1000 * part
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lifetimes_differ_by_up_to_a_tenth() {
        let hour = Duration::from_secs(3600);
        let lives: BTreeSet<Duration> = (0..20).map(|serial| shortened(hour, serial)).collect();
        assert!(lives.len() > 10, "{lives:?}");
        let shortest = hour / 10 * 9;
        assert!(lives.iter().all(|life| (shortest..=hour).contains(life)));
        shortened(Duration::MAX, 1);
    }
}
