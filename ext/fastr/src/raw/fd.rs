//! Duplicating a descriptor that Ruby owns, so that the reactor can watch it on its own terms.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

/// A duplicate of an open descriptor.
pub(crate) fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(9)); // EBADF
    }
    // SAFETY: the borrow ends before this function returns; the Ruby IO that owns the descriptor is on the stack of
    // the calling fiber, and the GVL keeps others from closing it meanwhile. A closed one gives EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    borrowed.try_clone_to_owned()
}
