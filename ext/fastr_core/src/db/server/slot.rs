//! One connection as the others see it: what its task is doing, what it runs, and the transaction it holds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;

use super::job::{Job, Ticket};
use crate::db::rows::TransactionId;

/// What the task of a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It was spawned and has not run yet.
    Starting,
    /// It connects.
    Connecting,
    /// It is awake and about to look at the queue.
    Searching,
    /// It asks the server whether the connection is alive, and will look at the queue then.
    Checking,
    /// It is parked.
    Idle,
    /// It runs an operation.
    Busy,
    /// It is awake and about to look at what waits in its transaction.
    Due,
    /// It is parked until its transaction has a statement.
    Held,
    /// It says good-bye.
    Leaving,
}

impl Phase {
    /// How many phases there are.
    pub(super) const COUNT: usize = Phase::Leaving as usize + 1;
}

/// One connection.
#[derive(Debug)]
pub(super) struct Slot {
    /// Changed only together with the counters of the state.
    pub(super) phase: Phase,
    pub(super) wake: Arc<Notify>,
    /// What it runs; empty unless it is busy.
    pub(super) running: Vec<Arc<Ticket>>,
    /// Since when it runs that.
    pub(super) since: Option<Instant>,
    pub(super) transaction: Option<Open>,
    /// Since when it is parked without a transaction.
    pub(super) parked: Option<Instant>,
    /// Which life of the server it was opened in, as far as the pool can tell.
    pub(super) life: u64,
    /// When it is to be replaced.
    pub(super) expires: Option<Instant>,
}

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Starting,
            wake: Arc::default(),
            running: Vec::new(),
            since: None,
            transaction: None,
            parked: None,
            life: 0,
            expires: None,
        }
    }

    /// Whether its lifetime is over.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

/// The transaction a connection holds.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: TransactionId,
    pub(super) since: Instant,
    pub(super) quiet_since: Instant,
    pub(super) waiting: VecDeque<Job>,
    /// It had no statement for too long and is to be rolled back.
    pub(super) is_idled: bool,
}
