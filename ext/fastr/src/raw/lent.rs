//! Large strings as write buffers: the socket is written from Ruby's own memory, and nothing is copied.
//!
//! What is lent is a second String over the same bytes, which no program has. Ruby gives a program's string bytes of its
//! own as soon as it is changed (copy on write), so that these stay as they are for as long as the second one lives;
//! and bytes this many lie outside of the object, where compaction does not move them. A Hash that the garbage collector
//! knows holds the second String until the last reader let go of the bytes. Readers are on other threads and touch
//! nothing of Ruby; what they let go of is found and taken out of the Hash when the next string is lent, or the
//! dispatcher goes to sleep.
//!
//! It refuses a string that is locked: another thread has its address, to read from a file into it without the GVL.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ::rb_sys::{rb_str_locktmp, rb_str_unlocktmp};
use bytes::Bytes;
use magnus::prelude::*;
use magnus::rb_sys::{AsRawValue, protect};
use magnus::value::Opaque;
use magnus::{RHash, RString, Ruby};

/// From this length on lending costs less than copying.
pub(crate) const WORTH_LENDING: usize = 32 << 10;

/// Only Ruby threads lock it, and only with the GVL held for the few instructions it takes.
static LENT: Mutex<Vec<Loan>> = Mutex::new(Vec::new());
static STRINGS: OnceLock<Opaque<RHash>> = OnceLock::new();

struct Loan {
    key: usize,
    /// The readers hold the other reference.
    readers: Arc<()>,
}

struct Borrowed {
    start: *const u8,
    length: usize,
    _reader: Arc<()>,
}

// SAFETY: the bytes are never written again and outlive this value, see `bytes`; any thread may read them.
unsafe impl Send for Borrowed {}
// SAFETY: as above: shared reading only.
unsafe impl Sync for Borrowed {}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: start and length are those of a string that nobody changes, and that is in the Hash while `_reader`
        // lives.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The bytes of a string that is long enough and not locked; the others have to be copied.
pub(crate) fn bytes(ruby: &Ruby, text: RString) -> Option<Bytes> {
    if text.len() < WORTH_LENDING || is_locked(text) {
        return None;
    }
    take_back(ruby);
    let lent = RString::new_shared(text);
    let reader = Arc::new(());
    // Readers' counts are addresses, so that no two live loans have the same key.
    let key = Arc::as_ptr(&reader).addr();
    strings(ruby).aset(key, lent).ok()?;
    loans().push(Loan {
        key,
        readers: Arc::clone(&reader),
    });
    // SAFETY: the slice is not kept: its place and length are, for as long as the Hash holds the string.
    let slice = unsafe { lent.as_slice() };
    Some(Bytes::from_owner(Borrowed {
        start: slice.as_ptr(),
        length: slice.len(),
        _reader: reader,
    }))
}

/// Whether the string may not be changed now, because its bytes are. A frozen one is changed by nobody.
fn is_locked(text: RString) -> bool {
    // SAFETY: a String, and the GVL is held. What is raised, if it is locked, passes no frame that has to be cleaned up.
    !text.is_frozen()
        && protect(|| unsafe {
            rb_str_locktmp(text.as_raw());
            rb_str_unlocktmp(text.as_raw())
        })
        .is_err()
}

/// Lets go of the strings that nobody reads any more.
pub(crate) fn take_back(ruby: &Ruby) {
    let returned: Vec<Loan> = {
        let mut loans = loans();
        if loans.is_empty() {
            return;
        }
        loans
            .extract_if(.., |loan| Arc::get_mut(&mut loan.readers).is_some())
            .collect()
    };
    for loan in returned {
        // A key that is not there is nothing to delete: this cannot fail.
        let _ = strings(ruby).delete::<_, magnus::Value>(loan.key);
    }
}

fn loans() -> MutexGuard<'static, Vec<Loan>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn strings(ruby: &Ruby) -> RHash {
    if let Some(strings) = STRINGS.get() {
        return ruby.get_inner(*strings);
    }
    let strings = ruby.hash_new();
    ruby.gc_register_mark_object(strings);
    ruby.get_inner(*STRINGS.get_or_init(|| strings.into()))
}
