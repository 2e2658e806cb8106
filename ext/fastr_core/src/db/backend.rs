//! The interface between [`Database`](super::Database) and one kind of database.
//!
//! SQLite implements it with its own threads, PostgreSQL and MySQL with tasks on the reactor, each of which owns one
//! connection. Whatever implements it keeps these promises:
//!
//! 1. No method blocks, does I/O or panics. A refusal is a completion like any other.
//! 2. Every completer is completed exactly once, also when a cancel, a timeout and the result race.
//! 3. A statement without a transaction holds a connection only while it runs; a transaction pins one.
//! 4. Statements of one transaction run in the order they were submitted.
//! 5. A cancel reaches the statement it was meant for or nothing, never the next one on that connection.
//! 6. Waiting is bounded in number and in time; both end in `PoolTimeout`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::query::{BeginOptions, Query};
use super::rows::TransactionId;
use crate::event::Completer;

/// One kind of database behind a [`Database`](super::Database).
pub trait Backend: fmt::Debug + Send + Sync {
    /// Runs one statement.
    fn submit(&self, query: Query, completer: Completer) -> CancelHandle;

    /// Appends one statement without waking anybody for it; [`rouse`](Self::rouse) must follow soon. What is awake
    /// already may take it before that.
    fn submit_quietly(&self, query: Query, completer: Completer) -> CancelHandle {
        self.submit(query, completer)
    }

    /// Wakes who is needed for what was submitted quietly.
    fn rouse(&self) {}

    /// Runs any number of statements without binds, in order, until one fails; completes with `Outcome::Done`.
    fn execute_script(
        &self,
        sql: String,
        transaction: Option<TransactionId>,
        completer: Completer,
    ) -> CancelHandle;

    /// Opens a transaction; completes with `Outcome::Transaction`.
    fn begin(&self, options: BeginOptions, completer: Completer) -> CancelHandle;

    /// Runs one statement that reads, and hands its rows over in batches of `batch` while they are taken; completes with
    /// `Outcome::Stream` at once. It holds a connection until it ends or is closed.
    fn stream(&self, query: Query, batch: usize, completer: Completer);

    /// Subscribes to channels; completes with `Outcome::Subscription` once it listens.
    fn listen(&self, channels: Vec<String>, completer: Completer);

    /// Ends a transaction after everything that was submitted to it before. A commit that fails rolls back.
    fn finish(&self, transaction: TransactionId, commit: bool, completer: Completer);

    /// What it is doing right now.
    fn stats(&self) -> Stats;

    /// Refuses new work, answers what waits, stops what runs, and gives the connections up to `limit` to end.
    /// Whether they did; a connection that did not ends by itself later.
    fn close(&self, limit: Duration) -> bool;
}

/// An operation that can still be stopped.
pub trait Cancel: Send + Sync {
    /// Stops it. Does nothing if it is over.
    fn cancel(&self);
}

/// The right to stop one operation; cheap to clone, harmless once the operation is over.
#[derive(Clone)]
pub struct CancelHandle(Arc<dyn Cancel>);

impl CancelHandle {
    /// A handle on `operation`.
    #[must_use]
    pub fn new(operation: Arc<dyn Cancel>) -> Self {
        Self(operation)
    }

    /// Stops the operation: one that waits leaves the queue at once, one that runs is interrupted. Its completer ends
    /// with `Cancelled`, or with the result if that was already there. Any thread may call it, any number of times.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CancelHandle")
    }
}

/// A database's state at one moment, and its counters since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Connections that exist.
    pub size: usize,
    /// Connections there may be.
    pub limit: usize,
    /// Connections that wait for work.
    pub idle: usize,
    /// Connections that run a statement or are held by an open transaction.
    pub busy: usize,
    /// Operations that wait for a connection, or for their turn in a transaction.
    pub waiting: usize,
    /// Whether a transaction is open.
    pub transaction_open: bool,
    /// Operations that got a connection so far.
    pub queries: u64,
    /// Operations answered with `PoolTimeout` so far.
    pub timeouts: u64,
    /// Operations that were cancelled before they got a connection.
    pub cancelled: u64,
    /// Connections that were opened after the first ones had been lost.
    pub reconnects: u64,
    /// How long 95 of 100 operations of the last while waited for a connection at most.
    pub wait_p95: Duration,
}
