//! Where operations wait, and the tasks that take them: the locked side of [`State`].
//!
//! A caller appends and wakes at most one task, or has one connection opened; an awake task rouses the next one if more
//! is waiting, and takes the next job itself without sleeping when it has finished one. The lock is held for a few
//! instructions and never across an await.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::job::{Answers, Job, Ticket, answer};
use super::seat::Seat;
use super::state::{Rouse, State};
use super::steps::Next;
use crate::db::backend::Stats;
use crate::db::feed::Feed;
use crate::db::pool::{DatabaseOptions, ReactorSource};
use crate::db::process::Process;
use crate::db::subscription::Notification;
use crate::error::Error;
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};

/// Spawns the task of one connection.
pub(super) type Launch = Box<dyn Fn(&Handle, Seat) + Send + Sync>;

/// The pool of one database.
pub(super) struct Pool {
    pub(super) options: DatabaseOptions,
    pub(super) process: Process,
    pub(super) reactor: ReactorSource,
    pub(super) keeper: Notify,
    pub(super) subscriptions: Mutex<Vec<Weak<Feed<Notification>>>>,
    state: Mutex<State>,
    ended: Condvar,
    launch: Launch,
}

impl Pool {
    pub(super) fn new(
        options: DatabaseOptions,
        pipeline: usize,
        reactor: ReactorSource,
        launch: Launch,
    ) -> Self {
        Self {
            options,
            process: Process::default(),
            reactor,
            keeper: Notify::new(),
            subscriptions: Mutex::default(),
            state: Mutex::new(State::new(options, pipeline)),
            ended: Condvar::default(),
            launch,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Appends a job and sees to it that it is taken.
    pub(super) fn enqueue(self: &Arc<Self>, job: Job) {
        self.append(job, |state| state.rouse(true));
    }

    /// Appends a job that nobody is woken for before [`rouse`](Self::rouse).
    pub(super) fn enqueue_quietly(self: &Arc<Self>, job: Job) {
        self.append(job, |_| None);
    }

    fn append(self: &Arc<Self>, job: Job, rouse: impl FnOnce(&mut State) -> Option<Rouse>) {
        if let Err(error) = self.process.check() {
            return job.completer.complete(Err(error));
        }
        let mut state = self.lock();
        if let Some(error) = state.refusal(&job) {
            drop(state);
            return job.completer.complete(Err(error));
        }
        let deadline = state.append(job);
        let work = rouse(&mut state);
        self.finish(state, work, deadline, Vec::new());
    }

    /// Puts a job that met a dead connection back to the front.
    pub(super) fn requeue(self: &Arc<Self>, job: Job) {
        let mut state = self.lock();
        if let Some(error) = state.hopeless(&job.ticket) {
            drop(state);
            return job.completer.complete(Err(error));
        }
        let deadline = job.deadline;
        state.waiting.push_front(job);
        let work = state.rouse(false);
        self.finish(state, work, deadline, Vec::new());
    }

    /// Changes the state, and does what follows from the change once the lock is free: rouses who is needed, answers
    /// what cannot be served.
    pub(super) fn change(self: &Arc<Self>, change: impl FnOnce(&mut State) -> Answers) {
        let mut state = self.lock();
        let answers = change(&mut state);
        let work = state.rouse(false);
        let deadline = state.watched();
        self.tell_of_the_end(&state);
        self.finish(state, work, deadline, answers);
    }

    fn finish(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        work: Option<Rouse>,
        deadline: Option<Instant>,
        answers: Answers,
    ) {
        let keeper = deadline.is_some_and(|deadline| self.arm(&mut state, deadline));
        drop(state);
        answer(answers);
        self.set_to_work(work);
        if keeper {
            self.start_keeper();
        }
    }

    /// Sees to it that what waits is taken.
    pub(super) fn rouse(self: &Arc<Self>) {
        if !self.process.is_this() {
            return;
        }
        let work = self.lock().rouse(true);
        self.set_to_work(work);
    }

    pub(super) fn set_to_work(self: &Arc<Self>, work: Option<Rouse>) {
        match work {
            None => {}
            Some(Rouse::Wake(task)) => task.notify_one(),
            Some(Rouse::Start(index)) => match (self.reactor)() {
                Ok(reactor) => {
                    let seat = Seat::new(Arc::clone(self), index);
                    (self.launch)(reactor.handle(), seat);
                }
                Err(error) => {
                    let answers = self.lock().evict(index, &error);
                    answer(answers);
                }
            },
        }
    }

    /// Takes a cancelled operation out of its queue. One that runs was told already.
    pub(super) fn withdraw(&self, ticket: &Ticket) {
        if !self.process.is_this() {
            return;
        }
        let job = self.lock().withdraw(ticket);
        if let Some(job) = job {
            job.completer.complete(Err(job.ticket.cancelled()));
        }
    }

    /// What a connection whose task is awake is to do next, after what it did was entered by `enter`: one lock for both.
    pub(super) fn next(
        self: &Arc<Self>,
        index: usize,
        enter: impl FnOnce(&mut State, Instant),
    ) -> Next {
        let mut state = self.lock();
        let now = Instant::now();
        enter(&mut state, now);
        let next = state.next(index, now);
        let work = state.rouse(false);
        let deadline = match &next {
            Next::Park(_) => state.park_deadline(index, now),
            _ => None,
        };
        self.finish(state, work, deadline, Vec::new());
        next
    }

    pub(super) fn stats(&self) -> Stats {
        if !self.process.is_this() {
            return Stats::default();
        }
        self.lock().stats()
    }

    /// Refuses new work, answers what waits, stops what runs, and waits up to `limit` for the connections to end.
    pub(super) fn close(&self, limit: Duration) -> bool {
        if !self.process.is_this() {
            return true;
        }
        let answers = self.lock().shut();
        self.keeper.notify_one();
        answer(answers);
        let subscriptions = std::mem::take(&mut *lock(&self.subscriptions));
        for feed in subscriptions.iter().filter_map(Weak::upgrade) {
            feed.close();
        }
        self.outlive(limit)
    }

    fn outlive(&self, limit: Duration) -> bool {
        let deadline = crate::sync::deadline(limit);
        let mut state = self.lock();
        while state.size() > 0 && limit > Duration::ZERO {
            state = match deadline.map(crate::sync::remaining) {
                None => wait(&self.ended, state),
                Some(Some(left)) => wait_timeout(&self.ended, state, left),
                Some(None) => break,
            };
        }
        state.size() == 0
    }

    /// A task was dropped together with its reactor, whatever it was doing.
    pub(super) fn evict(self: &Arc<Self>, index: usize) {
        let stopped = Error::NotRunning(
            "the reactor was stopped while this operation waited for a connection".into(),
        );
        let mut state = self.lock();
        let answers = state.evict(index, &stopped);
        let work = state.rouse_idle().map(Rouse::Wake);
        let deadline = state.watched();
        self.tell_of_the_end(&state);
        self.finish(state, work, deadline, answers);
    }

    fn tell_of_the_end(&self, state: &State) {
        if state.closed && state.size() == 0 {
            self.ended.notify_all();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pool({:?})", self.stats())
    }
}
