//! From one job to the next: what the task of a connection finds when it looks, and what it leaves behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::job::Job;
use super::slot::Phase;
use super::state::State;

/// A connection that idled for longer than this is asked whether it is alive before it gets a job.
const TRUSTED: Duration = Duration::from_secs(5);

/// What the task of a connection is to do next.
#[derive(Debug)]
pub(super) enum Next {
    /// Perform this.
    Job(Job),
    /// Perform all of these at once.
    Batch(Vec<Job>),
    /// Ask whether the connection is alive.
    Check,
    /// Roll back: the transaction had no statement for too long.
    Idled,
    /// Say good-bye.
    Leave,
    /// Nothing; wait to be woken.
    Park(Arc<Notify>),
}

impl State {
    /// What a connection whose task is awake is to do next.
    pub(super) fn next(&mut self, index: usize, now: Instant) -> Next {
        if self.closed {
            self.enter(index, Phase::Leaving);
        }
        let slot = self.slot(index);
        match slot.phase {
            Phase::Searching => self.search(index, now),
            Phase::Due => self.resume(index, now),
            Phase::Idle | Phase::Held => Next::Park(Arc::clone(&slot.wake)),
            _ => Next::Leave,
        }
    }

    fn search(&mut self, index: usize, now: Instant) -> Next {
        let life = self.life;
        let slot = self.slot(index);
        let is_suspect = slot.life < life;
        if is_suspect || slot.is_expired(now) {
            self.lost += u64::from(is_suspect);
            self.enter(index, Phase::Leaving);
            return Next::Leave;
        }
        let parked = slot.parked.take();
        if parked.is_some_and(|since| now.saturating_duration_since(since) > TRUSTED) {
            self.enter(index, Phase::Checking);
            return Next::Check;
        }
        if let Some(next) = self.take(index, now) {
            return next;
        }
        self.enter(index, Phase::Idle);
        self.idle.push(index);
        let slot = self.slot(index);
        slot.parked = Some(now);
        Next::Park(Arc::clone(&slot.wake))
    }

    fn resume(&mut self, index: usize, now: Instant) -> Next {
        if let Some(next) = self.take(index, now) {
            return next;
        }
        let slot = self.slot(index);
        if slot.transaction.as_ref().is_some_and(|open| open.is_idled) {
            self.enter(index, Phase::Busy);
            return Next::Idled;
        }
        let wake = Arc::clone(&slot.wake);
        self.enter(index, Phase::Held);
        Next::Park(wake)
    }

    /// A connection has done its job and is about to look for the next.
    pub(super) fn release(&mut self, index: usize, now: Instant) {
        let slot = self.slot(index);
        slot.running.clear();
        slot.since = None;
        let phase = match &mut slot.transaction {
            Some(open) => {
                open.quiet_since = now;
                open.is_idled = false;
                Phase::Due
            }
            None => Phase::Searching,
        };
        self.enter(index, phase);
    }
}
