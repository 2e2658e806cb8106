//! A moment in which no thread is inside SQLite, so that a process can fork. SQLite has locks that belong to the whole
//! process (one for each file, above all): a thread that holds one at that moment is not in the child, and whoever opens
//! the same file there would wait for ever.
//!
//! Who waits looks again and again instead of sleeping on a lock: there must not be another one to inherit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long one who waits sleeps between two looks.
const NAP: Duration = Duration::from_micros(100);

/// Threads inside SQLite.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Those who want nobody inside.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// A thread is inside until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside(());

/// Goes inside, after those who want nobody there. A thread that is inside must not go in a second time.
pub(crate) fn enter() -> Inside {
    go_in();
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// On a thread that is inside: is outside while it waits for something.
pub(crate) fn outside<T>(wait: impl FnOnce() -> T) -> T {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            go_in();
        }
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    let _back = Back;
    wait()
}

/// On a thread that is inside and holds none of SQLite's locks that belong to the process: lets others go first.
pub(crate) fn step_aside() {
    if ASKING.load(Ordering::Relaxed) > 0 {
        outside(|| ());
    }
}

fn go_in() {
    loop {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if ASKING.load(Ordering::SeqCst) == 0 {
            return;
        }
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        while ASKING.load(Ordering::SeqCst) > 0 {
            thread::sleep(NAP);
        }
    }
}

/// Keeps threads from going inside until [`release`], and waits up to `limit` for those that are. Whether all left.
pub fn ask(limit: Duration) -> bool {
    ASKING.fetch_add(1, Ordering::SeqCst);
    let since = Instant::now();
    while INSIDE.load(Ordering::SeqCst) > 0 {
        if since.elapsed() >= limit {
            return false;
        }
        thread::sleep(NAP);
    }
    true
}

/// Takes an [`ask`] back; does nothing where there is none, as in a forked child.
pub fn release() {
    let _ = ASKING.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |asking| {
        asking.checked_sub(1)
    });
}

/// In a forked child: no thread is inside, and none waits.
pub fn forked() {
    INSIDE.store(0, Ordering::SeqCst);
    ASKING.store(0, Ordering::SeqCst);
}
