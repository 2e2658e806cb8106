//! Where operations wait, and the threads that take them: the locked side of [`State`].
//!
//! A caller appends and wakes at most one worker; an awake worker wakes the next one if more is waiting, and takes
//! the next job itself without sleeping when it has finished one. A timer thread answers waiters whose time is up. How
//! threads begin and end is in [`threads`](super::threads).

use std::sync::Arc;
use std::time::Instant;

use super::job::{Job, Ticket};
use super::location::Location;
use super::state::{Lane, State};
use super::threads::Threads;
use crate::db::backend::Stats;
use crate::db::pool::DatabaseOptions;
use crate::db::process::Process;
use crate::db::rows::TransactionId;
use crate::error::Error;
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};

/// Connections that read, unless the options say otherwise.
const READERS: usize = 4;

/// What a worker is to do next.
#[derive(Debug)]
pub(super) enum Next {
    /// Perform this.
    Job(Job),
    /// Roll back: the transaction had no statement for too long.
    Idled,
    /// End.
    Closed,
}

/// Everything behind the one lock.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: State,
    pub(super) threads: Threads,
}

/// The lanes of one database.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) location: Location,
    pub(super) options: DatabaseOptions,
    pub(super) shared: Mutex<Shared>,
    pub(super) timer: Condvar,
    pub(super) ended: Condvar,
    /// The process whose threads serve this.
    pub(super) process: Process,
}

impl Lanes {
    pub(super) fn new(location: Location, options: DatabaseOptions) -> Self {
        let readers = if location.is_memory() {
            0
        } else {
            options.size.unwrap_or(READERS).max(1)
        };
        Self {
            location,
            options,
            shared: Mutex::new(Shared {
                state: State::new(options, readers),
                threads: Threads::default(),
            }),
            timer: Condvar::default(),
            ended: Condvar::default(),
            process: Process::default(),
        }
    }

    /// Appends a job and sees to it that it is taken.
    pub(super) fn enqueue(self: &Arc<Self>, lane: Lane, job: Job) {
        self.append(lane, job, |state| state.rouse(lane));
    }

    /// Appends a job that nobody is woken for before [`rouse`](Self::rouse).
    pub(super) fn enqueue_quietly(self: &Arc<Self>, lane: Lane, job: Job) {
        self.append(lane, job, |_| None);
    }

    fn append(
        self: &Arc<Self>,
        lane: Lane,
        job: Job,
        rouse: impl FnOnce(&mut State) -> Option<usize>,
    ) {
        if let Err(error) = self.process.check() {
            return job.completer.complete(Err(error));
        }
        let mut shared = lock(&self.shared);
        if let Some(error) = shared.state.refusal(lane, &job) {
            drop(shared);
            return job.completer.complete(Err(error));
        }
        let deadline = shared.state.append(lane, job);
        let start = rouse(&mut shared.state);
        let timer = deadline.is_some_and(|deadline| self.arm(&mut shared, deadline));
        drop(shared);
        self.start(start);
        if timer {
            self.start_timer();
        }
    }

    /// Sees to it that what waits is taken.
    pub(super) fn rouse(self: &Arc<Self>) {
        if !self.process.is_this() {
            return;
        }
        let mut shared = lock(&self.shared);
        let start = [Lane::Read, Lane::Write].map(|lane| shared.state.rouse(lane));
        drop(shared);
        start.into_iter().for_each(|index| self.start(index));
    }

    /// Takes a cancelled operation out of its queue. One that runs has seen its mark already.
    pub(super) fn withdraw(&self, ticket: &Ticket) {
        if !self.process.is_this() {
            return;
        }
        let job = lock(&self.shared).state.withdraw(ticket);
        if let Some(job) = job {
            job.completer.complete(Err(job.ticket.cancelled()));
        }
    }

    /// The next thing for a worker to do; sleeps until there is one.
    pub(super) fn next(self: &Arc<Self>, index: usize) -> Next {
        let mut shared = lock(&self.shared);
        let lane = shared.state.slots[index].lane;
        shared.state.stop_searching(index);
        loop {
            if shared.state.closed {
                return Next::Closed;
            }
            if let Some(job) = shared.state.take(index) {
                let start = shared.state.rouse(lane);
                drop(shared);
                self.start(start);
                return Next::Job(job);
            }
            let limit = self.options.idle_in_transaction;
            let deadline = shared.state.transactions.idle_deadline(limit);
            let deadline = deadline.filter(|_| lane == Lane::Write);
            if deadline.is_some_and(|at| at <= Instant::now()) {
                return Next::Idled;
            }
            shared = sleep(shared, index, deadline);
        }
    }

    /// A worker has done its job. Called before the job is completed, so that whoever is woken by the completion
    /// finds this worker about to look at the queue.
    pub(super) fn release(&self, index: usize) {
        lock(&self.shared).state.release(index);
    }

    pub(super) fn open_transaction(&self) -> TransactionId {
        lock(&self.shared).state.transactions.begin()
    }

    pub(super) fn transaction(&self) -> Option<TransactionId> {
        let shared = lock(&self.shared);
        shared.state.transactions.open.as_ref().map(|open| open.id)
    }

    /// The transaction is over; whatever still waits in it is told so.
    pub(super) fn end_transaction(&self, reason: &str) {
        let mut shared = lock(&self.shared);
        let Some(id) = shared.state.transactions.open.as_ref().map(|open| open.id) else {
            return;
        };
        let jobs = shared.state.transactions.end(reason.into());
        let transactions = &shared.state.transactions;
        let answers: Vec<(Job, Error)> = jobs
            .into_iter()
            .map(|job| {
                let error = transactions.ended.closed(id, &job.ticket.sql);
                (job, error)
            })
            .collect();
        drop(shared);
        answer(answers);
    }

    pub(super) fn stats(&self) -> Stats {
        if !self.process.is_this() {
            return Stats::default();
        }
        lock(&self.shared).state.stats()
    }
}

/// Sleeps until there may be something to do for this worker.
fn sleep<'a>(
    mut shared: MutexGuard<'a, Shared>,
    index: usize,
    deadline: Option<Instant>,
) -> MutexGuard<'a, Shared> {
    shared.state.lie_down(index);
    let wake = Arc::clone(&shared.state.slots[index].wake);
    while !shared.state.slots[index].searching && !shared.state.closed {
        shared = match deadline.map(crate::sync::remaining) {
            None => wait(&wake, shared),
            Some(Some(left)) => wait_timeout(&wake, shared, left),
            Some(None) => break,
        };
    }
    shared.state.get_up(index);
    shared.state.stop_searching(index);
    shared
}

/// Completes jobs that end without having run.
pub(super) fn answer(answers: Vec<(Job, Error)>) {
    for (job, error) in answers {
        job.completer.complete(Err(error));
    }
}
