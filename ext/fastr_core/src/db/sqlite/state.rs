//! Who waits, who works and in which order: the state behind the lanes' lock. It starts no thread, wakes
//! workers only through their condition variables, and completes nothing: what must be answered is handed back, so
//! that no completion happens under the lock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::job::{Job, Task, Ticket};
use super::transactions::Transactions;
use crate::db::backend::Stats;
use crate::db::pool::DatabaseOptions;
use crate::db::refusal::{CLOSED, refused};
use crate::error::{DatabaseErrorKind, Error};
use crate::sync::Condvar;

/// A group of connections with one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The connections that only read.
    Read,
    /// The one connection that writes, and holds the transaction.
    Write,
}

/// One lane's queue and workers.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Job>,
    /// Sleeping workers; the last one slept least, so its caches are warm.
    idle: Vec<usize>,
    /// Workers that are awake and about to look at the queue. While there is one, nobody else is woken.
    searching: usize,
    pub(super) started: usize,
    pub(super) busy: usize,
    pub(super) limit: usize,
}

/// One worker, as the others see it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) lane: Lane,
    pub(super) wake: Arc<Condvar>,
    pub(super) searching: bool,
    pub(super) running: Option<(Arc<Ticket>, Instant)>,
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) closed: bool,
    pub(super) slots: Vec<Slot>,
    pub(super) read: Queue,
    pub(super) write: Queue,
    pub(super) transactions: Transactions,
    pub(super) counters: Stats,
    pub(super) options: DatabaseOptions,
}

impl State {
    pub(super) fn new(options: DatabaseOptions, readers: usize) -> Self {
        let lane = |limit| Queue {
            limit,
            ..Queue::default()
        };
        Self {
            closed: false,
            slots: Vec::new(),
            read: lane(readers),
            write: lane(1),
            transactions: Transactions::default(),
            counters: Stats::default(),
            options,
        }
    }

    pub(super) fn queue(&mut self, lane: Lane) -> &mut Queue {
        match lane {
            Lane::Read => &mut self.read,
            Lane::Write => &mut self.write,
        }
    }

    /// Why a job may not wait here, if so.
    pub(super) fn refusal(&mut self, lane: Lane, job: &Job) -> Option<Error> {
        let ticket = &job.ticket;
        if self.closed {
            return Some(refused(DatabaseErrorKind::Connection, CLOSED, &ticket.sql));
        }
        if ticket.is_cancelled() {
            // Whoever cancelled it did not find it in a queue.
            return Some(ticket.cancelled());
        }
        let (waiting, limit, what) = match ticket.transaction {
            None => {
                let limit = self.free(lane).saturating_add(self.options.max_waiting);
                let waiting = self.queue(lane).waiting.len();
                (waiting, limit, "too many operations wait already")
            }
            Some(id) => match self.transactions.get(id) {
                None => return Some(self.transactions.ended.closed(id, &ticket.sql)),
                Some(_) if matches!(job.task, Task::Finish { .. }) => return None,
                Some(open) => {
                    let waiting = open.waiting.len();
                    let what = "too many statements wait in the transaction";
                    (waiting, self.options.max_waiting, what)
                }
            },
        };
        (waiting >= limit).then(|| self.exhausted(what, &ticket.sql))
    }

    /// Appends a job. The instant is a deadline that the timer has to know of.
    pub(super) fn append(&mut self, lane: Lane, mut job: Job) -> Option<Instant> {
        let transaction = job.ticket.transaction;
        if let Some(open) = transaction.and_then(|id| self.transactions.get(id)) {
            open.waiting.push_back(job);
            return None;
        }
        job.deadline = crate::sync::deadline(self.options.pool_timeout);
        // What a free worker takes at once needs no timer.
        let waits = self.queue(lane).waiting.len() >= self.free(lane);
        let watched = job.deadline.filter(|_| waits);
        self.queue(lane).waiting.push_back(job);
        watched
    }

    /// Connections of a lane that nothing runs on and no transaction holds.
    pub(super) fn free(&self, lane: Lane) -> usize {
        let (queue, held) = match lane {
            Lane::Read => (&self.read, 0),
            Lane::Write => (&self.write, usize::from(self.transactions.open.is_some())),
        };
        queue.limit.saturating_sub(queue.busy.max(held))
    }

    /// Sees to it that someone takes the lane's next job: wakes the worker that slept least, or names the one that
    /// has to be started.
    pub(super) fn rouse(&mut self, lane: Lane) -> Option<usize> {
        let (index, new) = {
            let has_work = self.has_work(lane);
            let fresh = self.slots.len();
            let queue = self.queue(lane);
            if !has_work || queue.searching > 0 {
                return None;
            }
            match queue.idle.pop() {
                Some(index) => (index, false),
                None if queue.started < queue.limit => (fresh, true),
                None => return None,
            }
        };
        self.queue(lane).searching += 1;
        if new {
            self.queue(lane).started += 1;
            self.slots.push(Slot {
                lane,
                wake: Arc::default(),
                searching: true,
                running: None,
            });
            return Some(index);
        }
        self.slots[index].searching = true;
        self.slots[index].wake.notify_one();
        None
    }

    fn has_work(&self, lane: Lane) -> bool {
        match (lane, &self.transactions.open) {
            (Lane::Write, Some(open)) => !open.waiting.is_empty(),
            (Lane::Write, None) => !self.write.waiting.is_empty(),
            (Lane::Read, _) => !self.read.waiting.is_empty(),
        }
    }

    /// A worker looks: it is not on its way any more.
    pub(super) fn stop_searching(&mut self, index: usize) {
        if std::mem::take(&mut self.slots[index].searching) {
            self.queue(self.slots[index].lane).searching -= 1;
        }
    }

    /// A worker lies down.
    pub(super) fn lie_down(&mut self, index: usize) {
        self.queue(self.slots[index].lane).idle.push(index);
    }

    /// A worker gets up by itself.
    pub(super) fn get_up(&mut self, index: usize) {
        self.queue(self.slots[index].lane)
            .idle
            .retain(|&idle| idle != index);
    }

    /// The next job for a worker, who is busy from now on.
    pub(super) fn take(&mut self, index: usize) -> Option<Job> {
        let lane = self.slots[index].lane;
        let job = match (lane, &mut self.transactions.open) {
            (Lane::Write, Some(open)) => open.waiting.pop_front(),
            _ => self.queue(lane).waiting.pop_front(),
        }?;
        self.queue(lane).busy += 1;
        self.counters.queries += 1;
        self.slots[index].running = Some((Arc::clone(&job.ticket), Instant::now()));
        Some(job)
    }

    /// A worker has done its job and is about to look for the next.
    pub(super) fn release(&mut self, index: usize) {
        if self.slots[index].running.take().is_none() {
            return;
        }
        let lane = self.slots[index].lane;
        self.slots[index].searching = true;
        let queue = self.queue(lane);
        queue.busy -= 1;
        queue.searching += 1;
        if lane == Lane::Write {
            self.transactions.touch();
        }
    }
}
