//! The register of pending operations that can be cancelled: one entry per completion id, from its submission to its
//! completion. It knows how to stop an operation, never what the operation is.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::CompletionId;

type Canceller = Box<dyn FnOnce() + Send>;

enum Entry {
    /// Submitted; nobody said yet how to cancel it.
    Open,
    /// Cancelled before anybody said how.
    Cancelled,
    /// Can be cancelled by calling this.
    Cancellable(Canceller),
}

/// Pending operations by completion id.
#[derive(Default)]
pub struct Operations {
    entries: Mutex<HashMap<CompletionId, Entry, BuildHasherDefault<IdHasher>>>,
    stopped: AtomicBool,
}

impl Operations {
    /// Enters an operation, before it can complete.
    pub fn open(&self, id: CompletionId) {
        self.lock().insert(id, Entry::Open);
    }

    /// Says how to cancel it. Does nothing if it completed meanwhile; cancels at once if that was asked already.
    pub fn attach(&self, id: CompletionId, canceller: impl FnOnce() + Send + 'static) {
        let mut entries = self.lock();
        match entries.get_mut(&id) {
            Some(Entry::Cancelled) => {
                drop(entries);
                canceller();
            }
            Some(entry) => *entry = Entry::Cancellable(Box::new(canceller)),
            None => {}
        }
    }

    /// Strikes a completed operation off.
    pub fn finish(&self, id: CompletionId) {
        // Dropped after the lock is given back: a canceller may own anything.
        let entry = self.lock().remove(&id);
        drop(entry);
    }

    /// Asks for an operation to stop. It completes as cancelled soon, or with its result if that was faster.
    /// Returns whether it was still pending.
    pub fn cancel(&self, id: CompletionId) -> bool {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&id) else {
            return false;
        };
        let previous = std::mem::replace(entry, Entry::Cancelled);
        drop(entries);
        if let Entry::Cancellable(canceller) = previous {
            canceller();
        }
        true
    }

    /// Notes that the reactor ends: what is pending from now on ends without a result, and for a reason.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Whether the reactor has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// How many operations are pending.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CompletionId, Entry, BuildHasherDefault<IdHasher>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Operations({} pending)", self.len())
    }
}

/// Ids are counters of our own: spreading them over the table by one multiplication is enough.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn counted(calls: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> {
        let calls = Arc::clone(calls);
        move || {
            calls.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_cancel_that_comes_before_its_canceller_is_not_lost() {
        let (operations, calls) = (Operations::default(), Arc::new(AtomicUsize::new(0)));
        operations.open(CompletionId(1));
        assert!(operations.cancel(CompletionId(1)));
        operations.attach(CompletionId(1), counted(&calls));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_completed_operation_is_not_entered_again() {
        let (operations, calls) = (Operations::default(), Arc::new(AtomicUsize::new(0)));
        operations.open(CompletionId(1));
        operations.finish(CompletionId(1));
        operations.attach(CompletionId(1), counted(&calls));
        assert!(operations.is_empty());
        assert!(!operations.cancel(CompletionId(1)));
        assert_eq!(calls.load(Ordering::SeqCst), 0);
    }
}
