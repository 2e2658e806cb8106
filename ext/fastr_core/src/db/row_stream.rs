//! The rows of one statement, taken in batches while it runs.

use std::sync::Arc;

use super::backend::CancelHandle;
use super::feed::Feed;
use super::rows::Rows;
use crate::event::{Completer, Outcome};

/// So many batches are fetched before they are asked for.
pub(crate) const BATCHES_AHEAD: usize = 2;

/// The outcome of a batch, or of the end.
pub(crate) fn batch(rows: Option<Arc<Rows>>) -> Outcome {
    rows.map_or(Outcome::Done, Outcome::Rows)
}

/// The consumer's side of a running statement. Dropping it stops the statement.
#[derive(Debug)]
pub struct RowStream {
    feed: Arc<Feed<Arc<Rows>>>,
    cancel: CancelHandle,
}

impl RowStream {
    pub(crate) fn new(feed: Arc<Feed<Arc<Rows>>>, cancel: CancelHandle) -> Self {
        Self { feed, cancel }
    }

    /// Completes with the next batch as `Rows`, or with `Done` at the end. One call at a time.
    pub fn next(&self, completer: Completer) {
        self.feed.next(completer);
    }

    /// Takes a [`next`](Self::next) that waits back; nothing is lost by it.
    pub fn cancel_next(&self) {
        self.feed.cancel_next();
    }

    /// Wants no more: the statement is stopped and its connection given back.
    pub fn close(&self) {
        self.feed.close();
        self.cancel.cancel();
    }
}

impl Drop for RowStream {
    fn drop(&mut self) {
        self.close();
    }
}
