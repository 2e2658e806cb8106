//! The moment of a fork, of whatever kind: Ruby's hook comes a little later and not for every kind, and in between the
//! collector may run in the child.

use std::panic::catch_unwind;

type Handler = unsafe extern "C" fn();

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<Handler>,
        parent: Option<Handler>,
        child: Option<Handler>,
    ) -> i32;
}

/// What is done around every fork, on the thread that forks: nothing that allocates or calls Ruby.
pub(crate) trait Around {
    fn before();
    fn in_parent();
    fn in_child();
}

/// Has it done from now on; false if the system has no memory for that.
pub(crate) fn around<T: Around>() -> bool {
    // SAFETY: the handlers are functions of this library, which Ruby never unloads, and let no panic out.
    unsafe { pthread_atfork(Some(before::<T>), Some(in_parent::<T>), Some(in_child::<T>)) == 0 }
}

unsafe extern "C" fn before<T: Around>() {
    let _ = catch_unwind(T::before);
}

unsafe extern "C" fn in_parent<T: Around>() {
    let _ = catch_unwind(T::in_parent);
}

unsafe extern "C" fn in_child<T: Around>() {
    let _ = catch_unwind(T::in_child);
}
