//! The write lane's transaction: the one that is open, what waits in it, and why earlier ones ended. It only keeps
//! the books; BEGIN, COMMIT and ROLLBACK are the worker's.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::job::Job;
use crate::db::ended::Ended;
use crate::db::rows::TransactionId;

/// The open transaction.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: TransactionId,
    pub(super) since: Instant,
    pub(super) waiting: VecDeque<Job>,
    quiet_since: Instant,
}

/// The transactions of one database.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    pub(super) open: Option<Open>,
    pub(super) ended: Ended,
}

impl Transactions {
    /// Opens one. There is none open.
    pub(super) fn begin(&mut self) -> TransactionId {
        let id = TransactionId::fresh();
        let now = Instant::now();
        self.open = Some(Open {
            id,
            since: now,
            waiting: VecDeque::new(),
            quiet_since: now,
        });
        id
    }

    /// The open one, if it is this one.
    pub(super) fn get(&mut self, id: TransactionId) -> Option<&mut Open> {
        self.open.as_mut().filter(|open| open.id == id)
    }

    /// A statement of it has just ended.
    pub(super) fn touch(&mut self) {
        if let Some(open) = &mut self.open {
            open.quiet_since = Instant::now();
        }
    }

    /// When the open one will have idled for this long.
    pub(super) fn idle_deadline(&self, limit: Duration) -> Option<Instant> {
        self.open.as_ref()?.quiet_since.checked_add(limit)
    }

    /// Ends the open one. What was still waiting in it is handed back.
    pub(super) fn end(&mut self, reason: String) -> VecDeque<Job> {
        let Some(open) = self.open.take() else {
            return VecDeque::new();
        };
        self.ended.remember(open.id, reason);
        open.waiting
    }
}
