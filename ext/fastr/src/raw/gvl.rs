//! Waiting without the GVL, so that it can be interrupted: by Thread#kill, Thread#raise, Timeout and signals.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::rb_sys::{Qnil, rb_thread_call_without_gvl2, rb_thread_check_ints};
use magnus::{Error, rb_sys};

struct Call<F, T> {
    function: Option<F>,
    result: Option<std::thread::Result<T>>,
}

/// Runs `function` with the GVL released. `unblock` is called from any thread, possibly while `function` runs, when
/// this thread has an interrupt to look at; it must make `function` return soon. None means that an interrupt was
/// pending and `function` never ran. The caller looks at interrupts with [`check_interrupts`] afterwards.
pub(crate) fn without_gvl<F, T, U>(function: F, unblock: &U) -> Option<T>
where
    F: FnOnce() -> T,
    U: Fn() + Sync,
{
    let mut call = Call {
        function: Some(function),
        result: None,
    };
    // SAFETY: both pointers outlive the call, which returns only after `run` did and the unblock function is
    // deregistered. `run` touches no Ruby value and lets no panic out; the `2` form of the call does not look at
    // interrupts itself, so nothing jumps over our frames.
    unsafe {
        rb_thread_call_without_gvl2(
            Some(run::<F, T>),
            std::ptr::from_mut(&mut call).cast::<c_void>(),
            Some(unblock_by::<U>),
            std::ptr::from_ref(unblock).cast_mut().cast::<c_void>(),
        );
    }
    match call.result? {
        Ok(value) => Some(value),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs something that may take a while and that nothing can end early, so that the other threads go on meanwhile.
pub(crate) fn blocking<T>(function: impl FnOnce() -> T) -> Result<T, Error> {
    let mut function = Some(function);
    loop {
        let run = || function.take().map(|function| function());
        if let Some(Some(value)) = without_gvl(run, &|| {}) {
            return Ok(value);
        }
        // It has not run yet: something was to be looked at first.
        check_interrupts()?;
    }
}

unsafe extern "C" fn run<F: FnOnce() -> T, T>(data: *mut c_void) -> *mut c_void {
    // SAFETY: `data` is the `Call` that `without_gvl` keeps on its stack while this runs.
    let call = unsafe { &mut *data.cast::<Call<F, T>>() };
    if let Some(function) = call.function.take() {
        call.result = Some(catch_unwind(AssertUnwindSafe(function)));
    }
    std::ptr::null_mut()
}

unsafe extern "C" fn unblock_by<U: Fn() + Sync>(data: *mut c_void) {
    // SAFETY: `data` is the `U` that the caller of `without_gvl` borrows to it for the whole call.
    let unblock = unsafe { &*data.cast::<U>() };
    // A panic in a C callback would end the process.
    let _ = catch_unwind(AssertUnwindSafe(unblock));
}

/// Lets Ruby act on pending interrupts. A kill, a raise or a throw comes back as the error, to be returned up to
/// magnus after every local is dropped.
pub(crate) fn check_interrupts() -> Result<(), Error> {
    rb_sys::protect(|| {
        // SAFETY: called with the GVL, under `protect`, which catches the jump.
        unsafe { rb_thread_check_ints() };
        Qnil.into()
    })
    .map(|_| ())
}
