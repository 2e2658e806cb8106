//! The transactions of the pool's connections: which connection holds which, and how one ends. It only keeps the
//! books; BEGIN, COMMIT and ROLLBACK are the session's task's.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::job::Answers;
use super::slot::{Open, Phase};
use super::state::State;
use crate::db::rows::TransactionId;

impl State {
    /// A connection has opened a transaction.
    pub(super) fn open_transaction(&mut self, index: usize, now: Instant) -> TransactionId {
        let id = TransactionId::fresh();
        self.transactions.insert(id, index);
        self.slot(index).transaction = Some(Open {
            id,
            since: now,
            quiet_since: now,
            waiting: VecDeque::new(),
            is_idled: false,
        });
        id
    }

    /// The transaction a connection holds.
    pub(super) fn transaction(&self, index: usize) -> Option<TransactionId> {
        let slot = self.slots.get(index)?.as_ref()?;
        slot.transaction.as_ref().map(|open| open.id)
    }

    /// The transaction of a connection is over. What still waited in it is handed back.
    pub(super) fn end_transaction(&mut self, index: usize, reason: &str) -> Answers {
        let open = self.slot(index).transaction.take();
        open.map_or_else(Vec::new, |open| self.close_books(open, reason))
    }

    /// A transaction is over, for this reason.
    pub(super) fn close_books(&mut self, open: Open, reason: &str) -> Answers {
        self.transactions.remove(&open.id);
        self.ended.remember(open.id, reason.into());
        let closed = |job: super::job::Job| {
            let error = self.ended.closed(open.id, &job.ticket.query.sql);
            (job, error)
        };
        open.waiting.into_iter().map(closed).collect()
    }

    /// Wakes the parked transactions that had no statement for too long.
    pub(super) fn idle_out(&mut self, now: Instant) {
        let limit = self.options.idle_in_transaction;
        for index in self.held_slots() {
            let open = self.slot(index).transaction.as_mut();
            let Some(open) = open.filter(|open| is_over(open, limit, now)) else {
                continue;
            };
            open.is_idled = true;
            self.enter(index, Phase::Due);
            self.slot(index).wake.notify_one();
        }
    }

    /// When the next parked transaction will have idled for too long.
    pub(super) fn idle_deadline(&self) -> Option<Instant> {
        let limit = self.options.idle_in_transaction;
        let slots = self.slots.iter().flatten();
        slots
            .filter(|slot| slot.phase == Phase::Held)
            .filter_map(|slot| slot.transaction.as_ref()?.quiet_since.checked_add(limit))
            .min()
    }

    pub(super) fn held_slots(&self) -> Vec<usize> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter(|(_, slot)| slot.as_ref().is_some_and(|slot| slot.phase == Phase::Held))
            .map(|(index, _)| index)
            .collect()
    }
}

fn is_over(open: &Open, limit: Duration, now: Instant) -> bool {
    open.waiting.is_empty() && now.saturating_duration_since(open.quiet_since) >= limit
}
