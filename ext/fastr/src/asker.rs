//! `AsyncRecord::Asker`: the lines from which something was asked, for the backtrace of an error that comes later. Most
//! never come: what is kept is cheap to take, and made readable when somebody wants to read it.

use magnus::gc::Marker;
use magnus::prelude::*;
use magnus::{DataTypeFunctions, Error, RArray, RModule, Ruby, function, method};

use crate::constant::define_class;
use crate::error::guard;
use crate::raw::frames::Frames;

#[derive(magnus::TypedData)]
#[magnus(class = "AsyncRecord::Asker", free_immediately, size, mark)]
struct Asker(Frames);

impl DataTypeFunctions for Asker {
    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn mark(&self, marker: &Marker) {
        self.0.mark(marker);
    }
}

fn here() -> Asker {
    Asker(Frames::here())
}

/// An Array of file, line and method's name for each frame, from the innermost on.
fn frames(ruby: &Ruby, this: &Asker) -> Result<RArray, Error> {
    guard(|_| {
        let frames = ruby.ary_new();
        for (path, line, label) in this.0.each() {
            let frame = ruby.ary_new_capa(3);
            frame.push(path)?;
            frame.push(line)?;
            frame.push(label)?;
            frames.push(frame)?;
        }
        Ok(frames)
    })
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = define_class::<Asker>(ruby, record, "Asker")?;
    class.define_singleton_method("here", function!(here, 0))?;
    class.define_method("frames", method!(frames, 0))
}
