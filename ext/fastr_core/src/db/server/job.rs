//! One operation on its way through the pool: the job that exactly one task owns, and the ticket that everyone who only
//! needs to name, describe or cancel it shares.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::pool::Pool;
use crate::db::backend::Cancel;
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::refusal;
use crate::db::rows::Rows;
use crate::error::Error;
use crate::event::Completer;

/// What is to be done with the ticket's query.
#[derive(Debug)]
pub(super) enum Task {
    /// Run it.
    Query,
    /// Run it and hand its rows over in batches.
    Stream {
        batch: usize,
        feed: Arc<Feed<Arc<Rows>>>,
    },
    /// Run the many statements in it.
    Script,
    /// Open a transaction by these statements.
    Begin(Vec<String>),
    /// End a transaction by it.
    Finish { commit: bool },
}

impl Task {
    /// Whether it ends a transaction: nothing stops that.
    pub(super) fn ends(&self) -> bool {
        matches!(self, Task::Finish { .. })
    }
}

/// The shared side of an operation.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) query: Query,
    pub(super) timeout: Option<Duration>,
    is_cancelled: AtomicBool,
    stop: Notify,
    pool: Weak<Pool>,
}

impl Ticket {
    pub(super) fn new(query: Query, timeout: Option<Duration>, pool: &Arc<Pool>) -> Self {
        Self {
            query,
            timeout,
            is_cancelled: AtomicBool::new(false),
            stop: Notify::new(),
            pool: Arc::downgrade(pool),
        }
    }

    /// Marks it, and tells the task that runs it.
    pub(super) fn mark_cancelled(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.stop.notify_one();
    }

    /// Whether someone asked to stop it.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Resolves once someone asked to stop it.
    pub(super) async fn stopped(&self) {
        while !self.is_cancelled() {
            self.stop.notified().await;
        }
    }

    /// The answer once it was cancelled.
    pub(super) fn cancelled(&self) -> Error {
        refusal::cancelled(&self.query.sql)
    }
}

impl Cancel for Ticket {
    fn cancel(&self) {
        self.mark_cancelled();
        if let Some(pool) = self.pool.upgrade() {
            pool.withdraw(self);
        }
    }
}

/// The owned side of an operation.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ticket: Arc<Ticket>,
    pub(super) task: Task,
    pub(super) completer: Completer,
    /// When it was submitted.
    pub(super) since: Instant,
    /// When waiting ends in `PoolTimeout`; none for what already holds its connection.
    pub(super) deadline: Option<Instant>,
    /// Whether this is its second attempt, because the first one met a dead connection.
    pub(super) is_repeated: bool,
}

/// Jobs that end without having run, with their answers.
pub(super) type Answers = Vec<(Job, Error)>;

/// Completes jobs that end without having run.
pub(super) fn answer(answers: Answers) {
    for (job, error) in answers {
        job.completer.complete(Err(error));
    }
}
