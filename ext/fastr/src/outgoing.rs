//! Answers given since the last flush. The dispatcher flushes once per batch; any other thread at once, because the
//! dispatcher may sleep.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use fastr_core::http::responder::Delivery;
use fastr_core::reactor::Reactor;

/// So many answers are handed over even in the middle of a batch, so that the reactor has work meanwhile.
const BATCH: usize = 64;

static PENDING: Mutex<Vec<Delivery>> = Mutex::new(Vec::new());

thread_local! {
    static DISPATCHER: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as the one that flushes by itself.
pub(crate) fn this_thread_flushes(flushes: bool) {
    DISPATCHER.set(flushes);
}

pub(crate) fn send(reactor: &Reactor, delivery: Delivery) {
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    pending.push(delivery);
    if pending.len() >= BATCH || !DISPATCHER.get() {
        reactor.outbox().send(&mut pending);
    }
}

pub(crate) fn flush(reactor: &Reactor) {
    reactor
        .outbox()
        .send(&mut PENDING.lock().unwrap_or_else(PoisonError::into_inner));
}

/// In a forked child: what the parent had pending is the parent's.
pub(crate) fn forget() {
    let pending = std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner));
    std::mem::forget(pending);
}
