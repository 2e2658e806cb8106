//! A timer for deadlines that are set far more often than they pass: one per connection and purpose, touched by the
//! runtime once per timeout instead of once per request.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::Sleep;

/// A deadline that moves. It stays armed at an earlier moment and re-arms itself when that comes too early.
#[derive(Debug, Default)]
pub(crate) struct LazyTimer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl LazyTimer {
    /// Ready once `deadline` passed. The caller's task is woken for it.
    pub(crate) fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        let at = tokio::time::Instant::from_std(deadline);
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if sleep.deadline() > at {
            sleep.as_mut().reset(at);
        }
        while sleep.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                self.sleep = None;
                return Poll::Ready(());
            }
            sleep.as_mut().reset(at);
        }
        Poll::Pending
    }
}
