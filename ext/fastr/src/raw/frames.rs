//! The stack of whoever runs, read by the interface that Ruby has for profilers: it fills two arrays and makes no
//! object, where `caller_locations` makes one for each frame.

use std::ffi::c_int;

use ::rb_sys::{VALUE, rb_profile_frame_label, rb_profile_frame_path, rb_profile_frames};
use magnus::gc::Marker;
use magnus::rb_sys::FromRawValue;
use magnus::{RString, Value};

/// How many frames are kept. What a program calls of the library is a few deep itself.
const DEPTH: usize = 16;

/// The innermost frames of a stack: methods and blocks, which have to be marked, and their lines.
pub(crate) struct Frames {
    count: usize,
    methods: [VALUE; DEPTH],
    lines: [c_int; DEPTH],
}

impl Frames {
    /// The calling thread's.
    pub(crate) fn here() -> Self {
        let (mut methods, mut lines) = ([0; DEPTH], [0; DEPTH]);
        // SAFETY: both arrays hold as many elements as are asked for; the GVL is held. What is found is kept alive by
        // running until it is marked.
        let count = unsafe {
            rb_profile_frames(0, DEPTH as c_int, methods.as_mut_ptr(), lines.as_mut_ptr())
        };
        Self {
            count: usize::try_from(count).unwrap_or_default().min(DEPTH),
            methods,
            lines,
        }
    }

    pub(crate) fn mark(&self, marker: &Marker) {
        for &method in &self.methods[..self.count] {
            // SAFETY: what `rb_profile_frames` gave, marked ever since.
            marker.mark(unsafe { Value::from_raw(method) });
        }
    }

    /// File, line and name of each frame that is written in Ruby, from the innermost on.
    pub(crate) fn each(&self) -> impl Iterator<Item = (RString, c_int, Value)> {
        (0..self.count).filter_map(|index| {
            if self.lines[index] == 0 {
                return None; // a method written in C, or the frame in which the program itself was started
            }
            // SAFETY: what `rb_profile_frames` gave, marked ever since.
            let (path, label) = unsafe {
                let method = self.methods[index];
                let path = Value::from_raw(rb_profile_frame_path(method));
                (path, Value::from_raw(rb_profile_frame_label(method)))
            };
            let path = RString::from_value(path)?;
            Some((path, self.lines[index], label))
        })
    }
}
