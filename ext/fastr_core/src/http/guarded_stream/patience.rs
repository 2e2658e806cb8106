//! How long a client is waited for: the deadline of every phase of a request, the rate of a body, and the grace of a
//! client that closed its sending side.
//!
//! TCP does not tell such a client from one that left. A client that half-closes and waits is answered if that takes
//! no longer than [`HALF_CLOSE_GRACE`]; during a streamed answer, which can take for ever, a closed sending side counts
//! as gone.

use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use super::GuardedStream;
use crate::http::guard::Phase;

/// How long a client that closed its sending side is believed to wait for its answer.
const HALF_CLOSE_GRACE: Duration = Duration::from_secs(1);

/// What to do about a phase that took too long.
pub(super) enum Late {
    Idle,
    Refuse(&'static str),
}

impl GuardedStream {
    /// A head has one deadline, however many pieces it comes in.
    pub(super) fn note_head(&mut self) {
        if self.guard.phase() != Phase::Head {
            self.head = None;
        } else if self
            .head
            .is_none_or(|(number, _)| number != self.guard.heads())
        {
            self.head = Some((self.guard.heads(), self.active));
        }
    }

    /// Only the time that the application waited for the client counts against a slow body.
    pub(super) fn count_waiting(&mut self) {
        let waited = self.waiting.take().map(|since| self.active - since);
        if self.guard.phase() != Phase::Body {
            self.body = None;
            return;
        }
        let before = self.guard.body_bytes();
        let (_, total) = self.body.get_or_insert((before, Duration::ZERO));
        *total += waited.unwrap_or_default();
    }

    /// The client closed its sending side: ready once it counts as gone.
    pub(super) fn poll_gone(&mut self, ended: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.writing && !self.state.is_streaming() {
            return self.park(context);
        }
        let is_whole = self.guard.phase() == Phase::Idle;
        if !is_whole || !self.is_answering() || self.state.is_streaming() {
            return Poll::Ready(());
        }
        let deadline = ended.max(self.active) + HALF_CLOSE_GRACE;
        ready!(self.read_timer.poll(deadline, context));
        Poll::Ready(())
    }

    /// Whether a request that hyper was given is not answered yet.
    pub(super) fn is_answering(&self) -> bool {
        self.guard.heads() > self.state.answered()
    }

    /// Nothing came: ready with what to do when the phase took too long.
    pub(super) fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Late> {
        let limits = &self.shared.limits;
        match self.guard.phase() {
            Phase::Idle if self.is_answering() || self.writing => Poll::Pending,
            Phase::Idle => {
                ready!(
                    self.read_timer
                        .poll(self.active + limits.keep_alive_timeout, context)
                );
                Poll::Ready(Late::Idle)
            }
            Phase::Head => {
                let since = self.head.map_or(self.active, |(_, since)| since);
                ready!(self.read_timer.poll(since + limits.head_timeout, context));
                Poll::Ready(Late::Refuse("the request head did not arrive in time"))
            }
            Phase::Body => {
                let since = *self.waiting.get_or_insert_with(Instant::now);
                ready!(self.read_timer.poll(since + limits.body_timeout, context));
                Poll::Ready(Late::Refuse("the request body did not arrive in time"))
            }
            Phase::Tunnel | Phase::Closed => Poll::Pending,
        }
    }

    /// Whether a body that keeps dripping comes slower than the rate the limits ask for.
    pub(super) fn is_dripping(&self) -> bool {
        let Some((before, waited)) = self.body.filter(|_| self.guard.phase() == Phase::Body) else {
            return false;
        };
        let limits = &self.shared.limits;
        let received = self.guard.body_bytes() - before;
        waited > limits.body_grace && received < limits.body_rate * waited.as_secs()
    }
}
