//! The process whose threads or tasks serve a database. They do not survive `fork`: in the child nobody would ever
//! answer, and a lock may be held for ever.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Error;

/// Which process it is; none before the first operation.
#[derive(Debug, Default)]
pub(super) struct Process(AtomicU32);

impl Process {
    /// Whether what serves the database, if there is anything, lives in this process.
    pub(super) fn is_this(&self) -> bool {
        let process = self.0.load(Ordering::Relaxed);
        process == 0 || process == process::id()
    }

    /// Binds the database to this process with its first operation, and refuses in every other one.
    pub(super) fn check(&self) -> Result<(), Error> {
        let own = process::id();
        let first = self
            .0
            .compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
        match first {
            Ok(_) => Ok(()),
            Err(process) if process == own => Ok(()),
            Err(_) => Err(Error::NotRunning(
                "this database was used before fork, and its connections stayed in the parent; open it again in the \
                 child, or use it for the first time after fork"
                    .into(),
            )),
        }
    }

    /// As if another process had used the database first.
    #[cfg(test)]
    pub(super) fn of_a_stranger() -> Self {
        Self(AtomicU32::new(process::id() ^ 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_operation_binds_a_database_to_its_process() {
        let unused = Process::default();
        assert!(unused.is_this());
        assert!(unused.check().is_ok());
        assert!(unused.check().is_ok());
    }

    #[test]
    fn a_child_is_told_about_the_fork() {
        let inherited = Process::of_a_stranger();
        assert!(!inherited.is_this());
        assert!(matches!(inherited.check(), Err(Error::NotRunning(text)) if text.contains("fork")));
    }
}
