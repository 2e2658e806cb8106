//! What belongs to the process that made it. A forked child gets a copy of every Ruby object, but the tasks that its
//! Rust half talks to run in the parent: waking one there is impossible, and the attempt can wait for ever on a lock
//! that a thread held at the moment of the fork.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use fastr_core::Error as CoreError;

/// Counts the forks that led to this process.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// In a forked child, at once: everything made before belongs to the parent.
pub(crate) fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// A value that is used and dropped only in the process that made it. A child's copy is left alone.
pub(crate) struct Owned<T> {
    value: Option<T>,
    generation: u32,
}

impl<T> Owned<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: Some(value),
            generation: GENERATION.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn into_inner(mut self) -> T {
        self.value.take().expect("only drop takes the value")
    }

    fn is_inherited(&self) -> bool {
        self.generation != GENERATION.load(Ordering::Relaxed)
    }

    /// Fails in a forked child of the process that made the value.
    pub(crate) fn check(&self, what: &str) -> Result<(), CoreError> {
        if self.is_inherited() {
            return Err(CoreError::NotRunning(format!(
                "this {what} belongs to the parent process; use it there"
            )));
        }
        Ok(())
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("only drop takes the value")
    }
}

impl<T> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("only drop takes the value")
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if self.is_inherited() {
            std::mem::forget(self.value.take());
        }
    }
}
