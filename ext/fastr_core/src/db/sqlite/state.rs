//! Who waits, who works and who holds the transaction: the state behind the lanes' lock. It starts no thread, wakes
//! workers only through their condition variables, and completes nothing: what must be answered is handed back, so
//! that no completion happens under the lock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::job::{Job, Task, Ticket};
use crate::db::backend::Stats;
use crate::db::pool::DatabaseOptions;
use crate::db::rows::TransactionId;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::sync::Condvar;

/// How many ended transactions are remembered, to say why they ended.
const REMEMBERED: usize = 64;

/// How much of a statement an error message shows.
const SHOWN_SQL: usize = 200;

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
    started: usize,
    busy: usize,
    limit: usize,
}

/// One worker, as the others see it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) lane: Lane,
    pub(super) wake: Arc<Condvar>,
    pub(super) searching: bool,
    running: Option<(Arc<Ticket>, Instant)>,
}

/// The open transaction of the write lane.
#[derive(Debug)]
struct Open {
    id: TransactionId,
    since: Instant,
    quiet_since: Instant,
    waiting: VecDeque<Job>,
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) closed: bool,
    pub(super) slots: Vec<Slot>,
    read: Queue,
    write: Queue,
    transaction: Option<Open>,
    next_transaction: u64,
    ended: VecDeque<(TransactionId, String)>,
    counters: Stats,
    options: DatabaseOptions,
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
            transaction: None,
            next_transaction: 1,
            ended: VecDeque::new(),
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

    /// Takes a job in, or gives it back with the reason. The instant is the deadline the timer has to know of.
    pub(super) fn admit(&mut self, lane: Lane, job: Job) -> Result<Option<Instant>, (Job, Error)> {
        if self.closed {
            let message = "the database was closed";
            return Err((job, error(DatabaseErrorKind::Connection, message)));
        }
        if job.ticket.is_cancelled() {
            // Whoever cancelled it did not find it in a queue.
            let error = job.ticket.cancelled();
            return Err((job, error));
        }
        match job.ticket.transaction {
            Some(id) => self.admit_to_transaction(id, job),
            None => self.admit_to_lane(lane, job),
        }
    }

    fn admit_to_transaction(
        &mut self,
        id: TransactionId,
        job: Job,
    ) -> Result<Option<Instant>, (Job, Error)> {
        let Some(open) = self.transaction.as_mut().filter(|open| open.id == id) else {
            let error = self.transaction_closed(id, &job.ticket.sql);
            return Err((job, error));
        };
        let ends = matches!(job.task, Task::Finish { .. });
        if open.waiting.len() >= self.options.max_waiting && !ends {
            let error = self.exhausted("the transaction's queue is full", &job.ticket.sql);
            return Err((job, error));
        }
        open.waiting.push_back(job);
        Ok(None)
    }

    fn admit_to_lane(&mut self, lane: Lane, mut job: Job) -> Result<Option<Instant>, (Job, Error)> {
        let free = self.free(lane);
        let waiting = self.queue(lane).waiting.len();
        if waiting >= free.saturating_add(self.options.max_waiting) {
            let error = self.exhausted("too many operations wait already", &job.ticket.sql);
            return Err((job, error));
        }
        job.deadline = crate::sync::deadline(self.options.pool_timeout);
        // What a free worker takes at once needs no timer.
        let watched = job.deadline.filter(|_| waiting >= free);
        self.queue(lane).waiting.push_back(job);
        Ok(watched)
    }

    /// Connections of a lane that nothing runs on and no transaction holds.
    fn free(&self, lane: Lane) -> usize {
        let (queue, held) = match lane {
            Lane::Read => (&self.read, 0),
            Lane::Write => (&self.write, usize::from(self.transaction.is_some())),
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
        match (lane, &self.transaction) {
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
        let job = match (lane, &mut self.transaction) {
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
        if let (Lane::Write, Some(open)) = (lane, &mut self.transaction) {
            open.quiet_since = Instant::now();
        }
    }

    /// A worker that could not be started. What nobody can do any more is handed back.
    pub(super) fn retire(&mut self, index: usize) -> Vec<Job> {
        self.stop_searching(index);
        let queue = self.queue(self.slots[index].lane);
        queue.started -= 1;
        if queue.started > 0 {
            return Vec::new();
        }
        queue.waiting.drain(..).collect()
    }

    /// The write lane now holds a transaction.
    pub(super) fn open_transaction(&mut self) -> TransactionId {
        let id = TransactionId(self.next_transaction);
        self.next_transaction += 1;
        let now = Instant::now();
        self.transaction = Some(Open {
            id,
            since: now,
            quiet_since: now,
            waiting: VecDeque::new(),
        });
        id
    }

    /// The open transaction.
    pub(super) fn transaction(&self) -> Option<TransactionId> {
        self.transaction.as_ref().map(|open| open.id)
    }

    /// When the open transaction will have idled for too long.
    pub(super) fn idle_deadline(&self, lane: Lane) -> Option<Instant> {
        let open = self.transaction.as_ref().filter(|_| lane == Lane::Write)?;
        open.quiet_since
            .checked_add(self.options.idle_in_transaction)
    }

    /// The transaction is over. What was still waiting in it is handed back.
    pub(super) fn end_transaction(&mut self, reason: String) -> Vec<Job> {
        let Some(open) = self.transaction.take() else {
            return Vec::new();
        };
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((open.id, reason));
        open.waiting.into()
    }

    /// The error for a statement in a transaction that is over.
    pub(super) fn transaction_closed(&self, id: TransactionId, sql: &str) -> Error {
        let known = self.ended.iter().rev().find(|(ended, _)| *ended == id);
        let reason = known.map_or("it is not open", |(_, reason)| reason);
        let message = format!("transaction {} is over: {reason}", id.0);
        super::error::refused(DatabaseErrorKind::TransactionClosed, message, sql)
    }

    /// Takes a waiting operation out of its queue.
    pub(super) fn withdraw(&mut self, ticket: &Ticket) -> Option<Job> {
        let in_transaction = self.transaction.as_mut().map(|open| &mut open.waiting);
        let queues = [&mut self.read.waiting, &mut self.write.waiting];
        let job = queues
            .into_iter()
            .chain(in_transaction)
            .find_map(|queue| remove(queue, ticket))?;
        self.counters.cancelled += 1;
        Some(job)
    }

    /// The waiters whose time is up, with their answers.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(Job, Error)> {
        let mut late = Vec::new();
        for queue in [&mut self.read.waiting, &mut self.write.waiting] {
            // One limit for all: the queue is in the order of its deadlines.
            while queue
                .front()
                .and_then(|job| job.deadline)
                .is_some_and(|at| at <= now)
            {
                late.extend(queue.pop_front());
            }
        }
        late.into_iter()
            .map(|job| {
                let limit = self.options.pool_timeout;
                let what = format!("no connection became free within {}", seconds(limit));
                let error = self.exhausted(&what, &job.ticket.sql);
                (job, error)
            })
            .collect()
    }

    /// When the next waiter's time is up.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        [&self.read.waiting, &self.write.waiting]
            .iter()
            .filter_map(|queue| queue.front()?.deadline)
            .min()
    }

    /// Refuses everything from now on; what waited is handed back and what runs is marked.
    pub(super) fn shut(&mut self) -> Vec<Job> {
        self.closed = true;
        let mut jobs: Vec<Job> = self.read.waiting.drain(..).collect();
        jobs.extend(self.write.waiting.drain(..));
        jobs.extend(self.end_transaction("the database was closed".into()));
        for slot in &self.slots {
            if let Some((ticket, _)) = &slot.running {
                ticket.mark_cancelled();
            }
            slot.wake.notify_one();
        }
        jobs
    }

    pub(super) fn stats(&self) -> Stats {
        let size = self.read.started + self.write.started;
        let held = usize::from(self.transaction.is_some()).max(self.write.busy);
        let busy = self.read.busy + held;
        let lanes = [Lane::Read, Lane::Write].map(|lane| {
            let free = self.free(lane);
            let queue = if lane == Lane::Read {
                &self.read
            } else {
                &self.write
            };
            queue.waiting.len().saturating_sub(free)
        });
        let inside = self
            .transaction
            .as_ref()
            .map_or(0, |open| open.waiting.len());
        Stats {
            size,
            limit: self.read.limit + self.write.limit,
            idle: size.saturating_sub(busy),
            busy,
            waiting: lanes.iter().sum::<usize>() + inside,
            transaction_open: self.transaction.is_some(),
            ..self.counters
        }
    }

    /// `PoolTimeout`, with everything needed to find the culprit.
    fn exhausted(&mut self, what: &str, sql: &str) -> Error {
        self.counters.timeouts += 1;
        let stats = self.stats();
        let message = format!(
            "{what}: size {}, busy {}, waiting {}; {}",
            stats.size,
            stats.busy,
            stats.waiting,
            self.longest_holder()
        );
        super::error::refused(DatabaseErrorKind::PoolTimeout, message, sql)
    }

    fn longest_holder(&self) -> String {
        let running = self.slots.iter().filter_map(|slot| slot.running.as_ref());
        let oldest = running.min_by_key(|(_, since)| *since);
        let ran = oldest.map(|(ticket, since)| {
            format!(
                "the longest holder has run for {}: {}",
                seconds(since.elapsed()),
                shown(&ticket.sql)
            )
        });
        let open = self.transaction.as_ref().map(|open| {
            format!(
                "transaction {} has been open for {}",
                open.id.0,
                seconds(open.since.elapsed())
            )
        });
        match (open, ran) {
            (Some(open), Some(ran)) => format!("{open}, and {ran}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "nothing holds a connection".into(),
        }
    }
}

fn remove(queue: &mut VecDeque<Job>, ticket: &Ticket) -> Option<Job> {
    let position = queue
        .iter()
        .position(|job| std::ptr::eq(Arc::as_ptr(&job.ticket), ticket))?;
    queue.remove(position)
}

fn error(kind: DatabaseErrorKind, message: &str) -> Error {
    DatabaseError::new(kind, message).into()
}

pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn shown(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN_SQL) {
        Some((end, _)) => format!("{}…", &sql[..end]),
        None => sql.into(),
    }
}
