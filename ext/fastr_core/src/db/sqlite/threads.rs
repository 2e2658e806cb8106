//! The threads of one database: started when something has to be done, counted while they live, joined when the
//! database is closed. None of them outlives the database by more than the statement it cannot interrupt.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::job::Job;
use super::lanes::{Lanes, Shared, answer};
use super::worker::Worker;
use crate::db::refusal::CLOSED;
use crate::error::{DatabaseError, DatabaseErrorKind};
use crate::sync::{MutexGuard, lock, wait, wait_timeout};

/// The threads that are alive, and the timer's plan.
#[derive(Debug, Default)]
pub(super) struct Threads {
    alive: usize,
    handles: Vec<JoinHandle<()>>,
    timer: bool,
    timer_wakes_at: Option<Instant>,
}

impl Lanes {
    /// Refuses new work, answers what waits, stops what runs, and waits up to `limit` for the threads to end.
    pub(super) fn close(&self, limit: Duration) -> bool {
        if !self.process.is_this() {
            return true;
        }
        let mut shared = lock(&self.shared);
        let jobs = shared.state.shut();
        self.timer.notify_one();
        drop(shared);
        refuse(jobs, CLOSED);
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

    /// Starts the worker that [`State::rouse`](super::state::State::rouse) asked for.
    pub(super) fn start(self: &Arc<Self>, index: Option<usize>) {
        let Some(index) = index else { return };
        let lanes = Arc::clone(self);
        let lane = lock(&self.shared).state.slots[index].lane;
        let started = self.spawn("fastr-sqlite", move || {
            Worker::new(lanes, lane, index).run()
        });
        if let Err(error) = started {
            let jobs = lock(&self.shared).state.retire(index);
            refuse(
                jobs,
                &format!("cannot start a thread for the database: {error}"),
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
    pub(super) fn arm(&self, shared: &mut Shared, deadline: Instant) -> bool {
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
    pub(super) fn start_timer(self: &Arc<Self>) {
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
}

fn refuse(jobs: Vec<Job>, message: &str) {
    let refusal = || DatabaseError::new(DatabaseErrorKind::Connection, message).into();
    answer(jobs.into_iter().map(|job| (job, refusal())).collect());
}

/// Says that its thread has ended, however it ended.
struct Alive(Arc<Lanes>);

impl Drop for Alive {
    fn drop(&mut self) {
        lock(&self.0.shared).threads.alive -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::process::Process;
    use crate::db::sqlite::job::{Task, Ticket};
    use crate::db::sqlite::location::Location;
    use crate::db::sqlite::state::Lane;
    use crate::db::{Database, DatabaseOptions, Query};
    use crate::error::Error;
    use crate::event::{Completer, CompletionId};
    use crate::waiter::{Waited, Waiter};

    #[test]
    fn an_operation_in_a_forked_child_is_refused_instead_of_waiting_for_ever() {
        let mut lanes = Lanes::new(Location::Memory, DatabaseOptions::default());
        lanes.process = Process::of_a_stranger();
        let waiter = Arc::new(Waiter::default());
        let completer = Completer::waiter(Arc::clone(&waiter), CompletionId(1));
        let lanes = Arc::new(lanes);
        lanes.enqueue(Lane::Write, job(&lanes, completer));
        let Waited::Completed(Err(Error::NotRunning(text))) = waiter.wait(None) else {
            panic!("it was refused");
        };
        assert!(text.contains("fork"), "{text}");
        assert!(lanes.close(Duration::from_secs(1)));
    }

    fn job(lanes: &Arc<Lanes>, completer: Completer) -> Job {
        let ticket = Ticket {
            sql: "select 1".into(),
            transaction: None,
            timeout: None,
            is_cancelled: false.into(),
            lanes: Arc::downgrade(lanes),
        };
        Job {
            ticket: Arc::new(ticket),
            task: Task::Script,
            completer,
            deadline: None,
        }
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
        let none = Arc::new(|| Err(Error::NotRunning("SQLite needs no reactor".into())));
        let database = Database::open(":memory:", DatabaseOptions::default(), none).unwrap();
        assert!(database.close(Duration::from_secs(1)));
        let waiter = Arc::new(Waiter::default());
        database.submit(
            Query::new("select 1"),
            Completer::waiter(Arc::clone(&waiter), CompletionId(1)),
        );
        let Waited::Completed(Err(error)) = waiter.wait(None) else {
            panic!("it answered");
        };
        assert!(error.to_string().contains("closed"), "{error}");
    }
}
