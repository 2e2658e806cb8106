//! `Fastr::Waiter`: one thread's sleep, without the GVL, until one operation completes.

use std::sync::Arc;

use fastr_core::waiter::{Waited, Waiter};
use fastr_core::{CompletionId, Error as CoreError};
use magnus::prelude::*;
use magnus::{Error, RModule, Ruby, Value, function, method};

use crate::constant::define_class;
use crate::convert;
use crate::error::{guard, raise};
use crate::raw::gvl;
use crate::sink::next_waiter_id;

#[magnus::wrap(class = "Fastr::Waiter", free_immediately)]
pub(crate) struct RubyWaiter {
    pub(crate) waiter: Arc<Waiter>,
    pub(crate) id: CompletionId,
}

impl RubyWaiter {
    fn new() -> Self {
        Self {
            waiter: Arc::default(),
            id: next_waiter_id(),
        }
    }

    fn id(&self) -> u64 {
        self.id.0
    }

    /// Sleeps until the result is here; raises it if it is an error, and `Fastr::TimeoutError` after the limit.
    fn wait(ruby: &Ruby, this: &Self, limit: Option<f64>) -> Result<Value, Error> {
        guard(|_| {
            let deadline = convert::limit(limit)
                .and_then(|limit| std::time::Instant::now().checked_add(limit));
            loop {
                let left = deadline
                    .map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()));
                match gvl::without_gvl(|| this.waiter.wait(left), &|| this.waiter.interrupt()) {
                    Some(Waited::Completed(Ok(outcome))) => return convert::outcome(ruby, outcome),
                    Some(Waited::Completed(Err(error))) => return Err(raise(ruby, &error)),
                    Some(Waited::TimedOut) => {
                        let limit = limit.unwrap_or_default();
                        let message = format!("the operation took longer than {limit} s");
                        return Err(raise(ruby, &CoreError::TimedOut(message)));
                    }
                    Some(Waited::Interrupted) | None => gvl::check_interrupts()?,
                }
            }
        })
    }
}

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let class = define_class::<RubyWaiter>(ruby, fastr, "Waiter")?;
    class.define_singleton_method("new", function!(RubyWaiter::new, 0))?;
    class.define_method("id", method!(RubyWaiter::id, 0))?;
    class.define_method("wait", method!(RubyWaiter::wait, 1))
}
