//! The locks of the hand-overs between threads. `tests/loom_queue.rs` compiles the queue, the stage and the outbox a
//! second time with the model checker's locks in the place of these.
//!
//! A poisoned lock is taken over: the data it guards is only ever replaced as a whole, and a panic elsewhere must not
//! stop the dispatcher.

use std::time::{Duration, Instant};

use std::sync::PoisonError;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

pub(crate) use tokio::sync::Notify;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: Duration,
) -> MutexGuard<'a, T> {
    condvar
        .wait_timeout(guard, limit)
        .unwrap_or_else(PoisonError::into_inner)
        .0
}

/// The moment `limit` from now, or none if it lies beyond what the clock can tell.
pub(crate) fn deadline(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

/// What is left until `deadline`, none once it passed.
pub(crate) fn remaining(deadline: Instant) -> Option<Duration> {
    let now = Instant::now();
    (deadline > now).then(|| deadline - now)
}
