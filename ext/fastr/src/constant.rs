//! Ruby's classes as Rust knows them. Looking one up is Ruby code, in which another thread may take over; so it never
//! happens under a lock that such a thread would wait for while it holds the GVL (`magnus::value::Lazy` does that, also
//! the one that `#[magnus::wrap]` makes).

use std::sync::OnceLock;

use magnus::prelude::*;
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, RClass, RModule, Ruby, TryConvert, TypedData};

/// A constant that is looked up when first needed, and kept.
pub(crate) struct Constant<T: ReprValue> {
    module: Option<&'static str>,
    name: &'static str,
    found: OnceLock<Opaque<T>>,
}

impl<T: ReprValue + TryConvert> Constant<T> {
    /// A constant that fastr's Ruby files define or require before anything could ask for it.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            module: None,
            name,
            found: OnceLock::new(),
        }
    }

    pub(crate) const fn within(module: &'static str, name: &'static str) -> Self {
        Self {
            module: Some(module),
            name,
            found: OnceLock::new(),
        }
    }

    pub(crate) fn get(&self, ruby: &Ruby) -> Result<T, Error> {
        if let Some(found) = self.found.get() {
            return Ok(ruby.get_inner(*found));
        }
        let value: T = match self.module {
            None => ruby.class_object().const_get(self.name)?,
            Some(module) => ruby
                .class_object()
                .const_get::<_, RModule>(module)?
                .const_get(self.name)?,
        };
        ruby.gc_register_mark_object(value);
        // Whoever else looked it up meanwhile found the same.
        let _ = self.found.set(value.into());
        Ok(value)
    }
}

/// Defines the class whose objects are `T`s that Rust makes.
pub(crate) fn define_class<T: TypedData>(
    ruby: &Ruby,
    module: RModule,
    name: &str,
) -> Result<RClass, Error> {
    let class = module.define_class(name, ruby.class_object())?;
    class.undef_default_alloc_func();
    // What magnus looks up when it makes the first object is looked up now, while one thread loads this library.
    T::class(ruby);
    Ok(class)
}
