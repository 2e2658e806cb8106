//! One thread's sleep until one operation completes: the third way to wait, for threads that are no dispatcher.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::event::Outcome;

/// Why a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// The result is here.
    Completed(Result<Outcome, Error>),
    /// The time limit passed first.
    TimedOut,
    /// [`Waiter::interrupt`] was called: the thread has a signal or a kill to look at.
    Interrupted,
}

#[derive(Debug, Default)]
struct State {
    result: Option<Result<Outcome, Error>>,
    interrupted: bool,
}

/// A one-shot cell that a thread sleeps on.
#[derive(Debug, Default)]
pub struct Waiter {
    state: Mutex<State>,
    changed: Condvar,
}

impl Waiter {
    /// Stores the result and wakes the sleeper.
    pub fn complete(&self, result: Result<Outcome, Error>) {
        self.lock().result = Some(result);
        self.changed.notify_all();
    }

    /// Ends a running or the next wait early, without a result.
    pub fn interrupt(&self) {
        self.lock().interrupted = true;
        self.changed.notify_all();
    }

    /// Sleeps until a result, the limit or an interrupt.
    pub fn wait(&self, limit: Option<Duration>) -> Waited {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = self.lock();
        loop {
            if let Some(result) = state.result.take() {
                return Waited::Completed(result);
            }
            if std::mem::take(&mut state.interrupted) {
                return Waited::Interrupted;
            }
            let Some(deadline) = deadline else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now = Instant::now();
            if now >= deadline {
                return Waited::TimedOut;
            }
            state = self
                .changed
                .wait_timeout(state, deadline - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Completer, CompletionId};
    use std::sync::Arc;

    #[test]
    fn a_result_given_before_the_wait_is_found() {
        let waiter = Waiter::default();
        waiter.complete(Ok(Outcome::Done));
        assert!(matches!(
            waiter.wait(None),
            Waited::Completed(Ok(Outcome::Done))
        ));
    }

    #[test]
    fn an_interrupt_ends_the_wait_once() {
        let waiter = Waiter::default();
        waiter.interrupt();
        assert!(matches!(waiter.wait(None), Waited::Interrupted));
        assert!(matches!(
            waiter.wait(Some(Duration::from_millis(1))),
            Waited::TimedOut
        ));
    }

    #[test]
    fn a_completer_dropped_without_a_result_says_so() {
        let waiter = Arc::new(Waiter::default());
        drop(Completer::waiter(Arc::clone(&waiter), CompletionId(1)));
        assert!(matches!(
            waiter.wait(None),
            Waited::Completed(Err(Error::Lost))
        ));
    }
}
