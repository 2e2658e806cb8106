//! Answers given and statements submitted since the last flush. The dispatcher flushes once per batch; any other
//! thread at once, because the dispatcher may sleep.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

use fastr_core::Completer;
use fastr_core::db::{CancelHandle, Database, Query};
use fastr_core::http::responder::Delivery;
use fastr_core::reactor::Reactor;

/// So many answers are handed over even in the middle of a batch, so that the reactor has work meanwhile.
const BATCH: usize = 64;

/// So many statements are worth a wake in the middle of a batch, so that a database on another core has work meanwhile.
const STATEMENTS: usize = 8;

static PENDING: Mutex<Vec<Delivery>> = Mutex::new(Vec::new());

thread_local! {
    static DISPATCHER: Cell<bool> = const { Cell::new(false) };
    /// The batch is one event: its first statement has nothing to wait for.
    static ALONE: Cell<bool> = const { Cell::new(true) };
    /// The databases that were given statements and not woken yet, and how many.
    static QUIET: RefCell<Vec<(Arc<Database>, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Marks the calling thread as the one that flushes by itself.
pub(crate) fn this_thread_flushes(flushes: bool) {
    DISPATCHER.set(flushes);
    rouse();
}

/// A batch of so many events begins on this thread.
pub(crate) fn batch(events: usize) {
    ALONE.set(events == 1);
}

/// Submits a statement whose completion the dispatcher takes from its queue.
pub(crate) fn submit(database: &Arc<Database>, query: Query, completer: Completer) -> CancelHandle {
    if !DISPATCHER.get() || ALONE.take() {
        return database.submit(query, completer);
    }
    let handle = database.submit_quietly(query, completer);
    QUIET.with_borrow_mut(|quiet| {
        let known = quiet.iter().position(|(one, _)| Arc::ptr_eq(one, database));
        let index = known.unwrap_or_else(|| {
            quiet.push((Arc::clone(database), 0));
            quiet.len() - 1
        });
        quiet[index].1 += 1;
        if quiet[index].1 >= STATEMENTS {
            quiet.swap_remove(index).0.rouse();
        }
    });
    handle
}

fn rouse() {
    QUIET.with_borrow_mut(|quiet| quiet.drain(..).for_each(|(database, _)| database.rouse()));
}

pub(crate) fn send(reactor: &Reactor, delivery: Delivery) {
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    pending.push(delivery);
    if pending.len() >= BATCH || !DISPATCHER.get() {
        reactor.outbox().send(&mut pending);
    }
}

pub(crate) fn flush(reactor: &Reactor) {
    rouse();
    reactor
        .outbox()
        .send(&mut PENDING.lock().unwrap_or_else(PoisonError::into_inner));
}

/// In a forked child: what the parent had pending is the parent's.
pub(crate) fn forget() {
    let pending = std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner));
    std::mem::forget(pending);
    std::mem::forget(QUIET.take());
}
