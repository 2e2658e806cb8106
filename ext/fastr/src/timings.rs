//! `AsyncRecord::Timings`: how long the parts of one statement took, in milliseconds.

use std::sync::Arc;
use std::time::Duration;

use fastr_core::db::Timings;
use magnus::prelude::*;
use magnus::{Error, RModule, Ruby, function, method};

use crate::constant::define_class;

#[magnus::wrap(class = "AsyncRecord::Timings", free_immediately)]
pub(crate) struct RubyTimings(pub(crate) Arc<Timings>);

impl RubyTimings {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn queue_ms(&self) -> f64 {
        milliseconds(self.0.queue())
    }

    fn db_ms(&self) -> f64 {
        milliseconds(self.0.database())
    }

    fn decode_ms(&self) -> f64 {
        milliseconds(self.0.decode())
    }

    fn was_prepared(&self) -> bool {
        self.0.was_prepared()
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = define_class::<RubyTimings>(ruby, record, "Timings")?;
    class.define_singleton_method("new", function!(RubyTimings::new, 0))?;
    class.define_method("queue_ms", method!(RubyTimings::queue_ms, 0))?;
    class.define_method("db_ms", method!(RubyTimings::db_ms, 0))?;
    class.define_method("decode_ms", method!(RubyTimings::decode_ms, 0))?;
    class.define_method("cached_statement?", method!(RubyTimings::was_prepared, 0))
}
