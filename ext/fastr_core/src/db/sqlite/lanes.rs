//! Where operations wait, and the threads that take them: the locked side of [`State`].
//!
//! A caller appends and wakes at most one worker; an awake worker wakes the next one if more is waiting, and takes
//! the next job itself without sleeping when it has finished one. A timer thread answers waiters whose time is up; it
//! exists only once something had to wait. Threads start with the first operation and end with `close`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::job::{Job, Ticket};
use super::location::Location;
use super::state::{Lane, State};
use super::worker::Worker;
use crate::db::backend::Stats;
use crate::db::pool::DatabaseOptions;
use crate::db::rows::TransactionId;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};

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

/// The threads that are alive, and the timer's plan.
#[derive(Debug, Default)]
struct Threads {
    alive: usize,
    handles: Vec<JoinHandle<()>>,
    timer: bool,
    timer_wakes_at: Option<Instant>,
}

#[derive(Debug)]
struct Shared {
    state: State,
    threads: Threads,
}

/// The lanes of one database.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) location: Location,
    pub(super) options: DatabaseOptions,
    shared: Mutex<Shared>,
    timer: Condvar,
    ended: Condvar,
    /// The process whose threads serve this; 0 before the first operation.
    process: AtomicU32,
}

impl Lanes {
    pub(super) fn new(location: Location, options: DatabaseOptions) -> Self {
        let readers = if location.is_memory() {
            0
        } else {
            options.readers.max(1)
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
            process: AtomicU32::new(0),
        }
    }

    /// Appends a job and sees to it that it is taken.
    pub(super) fn enqueue(self: &Arc<Self>, lane: Lane, job: Job) {
        if let Err(error) = self.check_process() {
            return job.completer.complete(Err(error));
        }
        let mut shared = lock(&self.shared);
        let deadline = match shared.state.admit(lane, job) {
            Ok(deadline) => deadline,
            Err((job, error)) => {
                drop(shared);
                return job.completer.complete(Err(error));
            }
        };
        let start = shared.state.rouse(lane);
        let timer = deadline.is_some_and(|deadline| self.arm(&mut shared, deadline));
        drop(shared);
        self.start(start);
        if timer {
            self.start_timer();
        }
    }

    /// Takes a cancelled operation out of its queue. One that runs has seen its mark already.
    pub(super) fn withdraw(&self, ticket: &Ticket) {
        if !self.serves_this_process() {
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
            let deadline = shared.state.idle_deadline(lane);
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
        lock(&self.shared).state.open_transaction()
    }

    pub(super) fn transaction(&self) -> Option<TransactionId> {
        lock(&self.shared).state.transaction()
    }

    /// The transaction is over; whatever still waits in it is told so.
    pub(super) fn end_transaction(&self, reason: &str) {
        let mut shared = lock(&self.shared);
        let jobs = shared.state.end_transaction(reason.into());
        let answers: Vec<(Job, Error)> = jobs
            .into_iter()
            .map(|job| {
                let id = job.ticket.transaction.unwrap_or(TransactionId(0));
                let error = shared.state.transaction_closed(id, &job.ticket.sql);
                (job, error)
            })
            .collect();
        drop(shared);
        answer(answers);
    }

    pub(super) fn stats(&self) -> Stats {
        if !self.serves_this_process() {
            return Stats::default();
        }
        lock(&self.shared).state.stats()
    }

    /// Refuses new work, answers what waits, stops what runs, and waits up to `limit` for the threads to end.
    pub(super) fn close(&self, limit: Duration) -> bool {
        if !self.serves_this_process() {
            return true;
        }
        let mut shared = lock(&self.shared);
        let jobs = shared.state.shut();
        self.timer.notify_one();
        drop(shared);
        let closed =
            || DatabaseError::new(DatabaseErrorKind::Connection, "the database was closed");
        answer(jobs.into_iter().map(|job| (job, closed().into())).collect());
        shared = self.outlive(limit);
        let all_ended = shared.threads.alive == 0;
        let handles = std::mem::take(&mut shared.threads.handles);
        drop(shared);
        if all_ended {
            // Each has said its last word already. A panic in one was reported when it happened.
            handles.into_iter().for_each(|handle| drop(handle.join()));
        }
        all_ended
    }

    fn outlive(&self, limit: Duration) -> MutexGuard<'_, Shared> {
        let deadline = crate::sync::deadline(limit);
        let mut shared = lock(&self.shared);
        while shared.threads.alive > 0 && limit > Duration::ZERO {
            shared = match deadline.map(crate::sync::remaining) {
                None => wait(&self.ended, shared),
                Some(Some(left)) => wait_timeout(&self.ended, shared, left),
                Some(None) => break,
            };
        }
        shared
    }

    /// Starts the worker that [`State::rouse`] asked for.
    fn start(self: &Arc<Self>, index: Option<usize>) {
        let Some(index) = index else { return };
        let lanes = Arc::clone(self);
        let lane = lock(&self.shared).state.slots[index].lane;
        let started = self.spawn("fastr-sqlite", move || {
            Worker::new(lanes, lane, index).run()
        });
        if let Err(error) = started {
            let jobs = lock(&self.shared).state.retire(index);
            let message = format!("cannot start a thread for the database: {error}");
            let failure = || DatabaseError::new(DatabaseErrorKind::Connection, message.clone());
            answer(
                jobs.into_iter()
                    .map(|job| (job, failure().into()))
                    .collect(),
            );
        }
    }

    fn spawn(
        self: &Arc<Self>,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        let alive = Alive(Arc::clone(self));
        lock(&self.shared).threads.alive += 1;
        let handle = thread::Builder::new().name(name.into()).spawn(move || {
            let _alive = alive;
            body();
        })?;
        lock(&self.shared).threads.handles.push(handle);
        Ok(())
    }

    /// Makes the timer look no later than at `deadline`. Whether it has to be started for that.
    fn arm(&self, shared: &mut Shared, deadline: Instant) -> bool {
        let threads = &mut shared.threads;
        if !threads.timer {
            threads.timer = true;
            return true;
        }
        if threads.timer_wakes_at.is_none_or(|at| at > deadline) {
            self.timer.notify_one();
        }
        false
    }

    /// Without a timer waiters are answered late, but answered; the next one that has to wait tries again.
    fn start_timer(self: &Arc<Self>) {
        let lanes = Arc::clone(self);
        if self
            .spawn("fastr-sqlite-timer", move || lanes.keep_time())
            .is_err()
        {
            lock(&self.shared).threads.timer = false;
        }
    }

    fn keep_time(&self) {
        let mut shared = lock(&self.shared);
        while !shared.state.closed {
            let late = shared.state.expire(Instant::now());
            if !late.is_empty() {
                drop(shared);
                answer(late);
                shared = lock(&self.shared);
                continue;
            }
            let next = shared.state.next_deadline();
            shared.threads.timer_wakes_at = next;
            shared = match next.map(crate::sync::remaining) {
                None => wait(&self.timer, shared),
                Some(Some(left)) => wait_timeout(&self.timer, shared, left),
                Some(None) => shared,
            };
        }
    }

    fn serves_this_process(&self) -> bool {
        let process = self.process.load(Ordering::Relaxed);
        process == 0 || process == std::process::id()
    }

    /// Threads do not survive `fork`: in the child nobody would ever answer, and the lock may be held for ever.
    fn check_process(&self) -> Result<(), Error> {
        let own = std::process::id();
        let first = self
            .process
            .compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
        match first {
            Ok(_) => Ok(()),
            Err(process) if process == own => Ok(()),
            Err(_) => Err(Error::NotRunning(
                "this database was used before fork, and its threads stayed in the parent; open it again in the \
                 child, or use it for the first time after fork"
                    .into(),
            )),
        }
    }
}

/// Says that its thread has ended, however it ended.
struct Alive(Arc<Lanes>);

impl Drop for Alive {
    fn drop(&mut self) {
        lock(&self.0.shared).threads.alive -= 1;
        self.0.ended.notify_all();
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

fn answer(answers: Vec<(Job, Error)>) {
    for (job, error) in answers {
        job.completer.complete(Err(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Database, Query};
    use crate::event::Completer;
    use crate::waiter::{Waited, Waiter};

    #[test]
    fn an_operation_in_a_forked_child_is_refused_instead_of_waiting_for_ever() {
        let options = DatabaseOptions::default();
        let lanes = Arc::new(Lanes::new(Location::Memory, options));
        lanes
            .process
            .store(std::process::id() ^ 1, Ordering::Relaxed);
        assert!(
            matches!(lanes.check_process(), Err(Error::NotRunning(text)) if text.contains("fork"))
        );
        assert!(lanes.close(Duration::from_secs(1)));
    }

    #[test]
    fn an_unused_database_has_no_thread() {
        let lanes = Lanes::new(Location::Memory, DatabaseOptions::default());
        assert_eq!(lock(&lanes.shared).threads.alive, 0);
        assert_eq!(lanes.stats().size, 0);
        assert!(lanes.close(Duration::from_secs(1)));
    }

    #[test]
    fn a_closed_database_says_so() {
        let database = Database::open(":memory:", DatabaseOptions::default()).unwrap();
        assert!(database.close(Duration::from_secs(1)));
        let waiter = Arc::new(Waiter::default());
        database.submit(
            Query::new("select 1"),
            Completer::waiter(Arc::clone(&waiter)),
        );
        let Waited::Completed(Err(error)) = waiter.wait(None) else {
            panic!("it answered");
        };
        assert!(error.to_string().contains("closed"), "{error}");
    }
}
