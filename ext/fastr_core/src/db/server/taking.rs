//! What a connection takes from a queue when it is free: the first job, or several at once where the driver can
//! pipeline and there are more jobs than connections. It keeps the order of the queue: what may not share a connection is
//! never overtaken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::history::Place;
use super::job::{Job, Task};
use super::slot::Phase;
use super::state::State;
use super::steps::Next;

/// Statements with a shorter limit keep a connection for themselves: it would be over before the first of a batch that
/// got stuck is moved out of the way.
const LIMIT: Duration = Duration::from_secs(1);

impl State {
    /// The next work of a connection, which is busy with it from now on.
    pub(super) fn take(&mut self, index: usize, now: Instant) -> Option<Next> {
        if let Some(open) = &mut self.slot(index).transaction {
            let job = open.waiting.pop_front()?;
            return Some(self.one(index, job, now));
        }
        let share = self.share(now);
        if share < 2 {
            let job = self.waiting.pop_front()?;
            return Some(self.one(index, job, now));
        }
        let mut jobs = self.several(share);
        if jobs.len() < 2 {
            let job = jobs.pop()?;
            return Some(self.one(index, job, now));
        }
        for job in &jobs {
            self.lease(index, job, now);
        }
        self.enter(index, Phase::Busy);
        Some(Next::Batch(jobs))
    }

    /// The first of those who wait, and as many behind it as may share a connection with it.
    fn several(&mut self, share: usize) -> Vec<Job> {
        let mut jobs = Vec::with_capacity(share);
        while jobs.len() < share
            && let Some(job) = self.waiting.front()
        {
            let place = self.place(job);
            if place == Place::Alone && !jobs.is_empty() {
                break;
            }
            jobs.extend(self.waiting.pop_front());
            if place != Place::Anywhere {
                break;
            }
        }
        jobs
    }

    fn one(&mut self, index: usize, job: Job, now: Instant) -> Next {
        self.lease(index, &job, now);
        self.enter(index, Phase::Busy);
        Next::Job(job)
    }

    /// A connection has this job.
    fn lease(&mut self, index: usize, job: &Job, now: Instant) {
        let wait = now.saturating_duration_since(job.since);
        if job.deadline.is_some() {
            self.waits.add(wait);
        }
        if let Some(timings) = &job.ticket.query.timings {
            timings.set_queue(wait);
        }
        self.counters.queries += u64::from(!job.is_repeated);
        let slot = self.slot(index);
        slot.running.push(Arc::clone(&job.ticket));
        slot.since = Some(now);
    }

    /// How many of those who wait fall to one connection, if all that may exist and are not held by transactions take
    /// their part.
    fn share(&self, now: Instant) -> usize {
        if self.pipeline < 2 || self.waiting.len() < 2 {
            return 1;
        }
        let reachable = match self.gate.cause(now) {
            None => self.limit,
            Some(_) => self.alive(),
        };
        let serving = reachable.saturating_sub(self.transactions.len()).max(1);
        self.waiting.len().div_ceil(serving).min(self.pipeline)
    }

    fn place(&self, job: &Job) -> Place {
        let ticket = &job.ticket;
        let is_plain = matches!(job.task, Task::Query) && !job.is_repeated;
        let has_time = ticket.timeout.is_none_or(|limit| limit >= LIMIT);
        if !is_plain || !has_time || ticket.is_cancelled() {
            return Place::Alone;
        }
        self.history.place(&ticket.query.sql)
    }
}
