//! How jobs leave the lanes without having run: cancelled, too late, or because nobody is there to run them. They are
//! handed back rather than completed, so that no completion happens under the lock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::job::{Job, Ticket};
use super::state::State;
use crate::db::refusal::{CLOSED, seconds};
use crate::error::Error;

impl State {
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

    /// Takes a waiting operation out of its queue.
    pub(super) fn withdraw(&mut self, ticket: &Ticket) -> Option<Job> {
        let in_transaction = self
            .transactions
            .open
            .as_mut()
            .map(|open| &mut open.waiting);
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
        jobs.extend(self.transactions.end(CLOSED.into()));
        for slot in &self.slots {
            if let Some((ticket, _)) = &slot.running {
                ticket.mark_cancelled();
            }
            slot.wake.notify_one();
        }
        jobs
    }
}

fn remove(queue: &mut VecDeque<Job>, ticket: &Ticket) -> Option<Job> {
    let position = queue
        .iter()
        .position(|job| std::ptr::eq(Arc::as_ptr(&job.ticket), ticket))?;
    queue.remove(position)
}
