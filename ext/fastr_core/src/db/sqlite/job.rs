//! One operation on its way through the lanes: the job that exactly one thread owns, and the ticket that everyone who
//! only needs to name, describe or cancel it shares.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::lanes::Lanes;
use crate::db::backend::Cancel;
use crate::db::feed::Feed;
use crate::db::query::{BeginOptions, Shape, TransactionMode};
use crate::db::refusal;
use crate::db::rows::{Rows, TransactionId, Value};
use crate::db::timings::Clock;
use crate::error::Error;
use crate::event::Completer;

/// What is to be done.
#[derive(Debug)]
pub(super) enum Task {
    /// One statement.
    Query {
        inserts: bool,
        binds: Vec<Value>,
        shape: Shape,
        row_limit: Option<usize>,
        clock: Option<Clock>,
    },
    /// One statement that reads, its rows handed over in batches.
    Stream {
        binds: Vec<Value>,
        batch: usize,
        feed: Arc<Feed<Arc<Rows>>>,
    },
    /// Many statements, without binds or results.
    Script,
    /// Open a transaction.
    Begin(BeginOptions),
    /// End a transaction.
    Finish { commit: bool },
}

impl Task {
    /// The statement that opens a transaction in this mode. One that only reads needs no write lock.
    pub(super) fn begin_sql(&self) -> &'static str {
        match self {
            Task::Begin(options)
                if options.read_only || options.mode == TransactionMode::Deferred =>
            {
                "BEGIN DEFERRED"
            }
            _ => "BEGIN IMMEDIATE",
        }
    }
}

/// The shared side of an operation.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) sql: String,
    pub(super) transaction: Option<TransactionId>,
    pub(super) timeout: Option<Duration>,
    pub(super) is_cancelled: AtomicBool,
    pub(super) lanes: Weak<Lanes>,
}

impl Ticket {
    /// Marks it; the thread that runs it notices by itself.
    pub(super) fn mark_cancelled(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// Whether someone asked to stop it.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// The answer once it was cancelled.
    pub(super) fn cancelled(&self) -> Error {
        refusal::cancelled(&self.sql)
    }
}

impl Cancel for Ticket {
    fn cancel(&self) {
        self.mark_cancelled();
        if let Some(lanes) = self.lanes.upgrade() {
            lanes.withdraw(self);
        }
    }
}

/// The owned side of an operation.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ticket: Arc<Ticket>,
    pub(super) task: Task,
    pub(super) completer: Completer,
    /// When waiting ends in `PoolTimeout`; none for what already holds its connection.
    pub(super) deadline: Option<Instant>,
}
