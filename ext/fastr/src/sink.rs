//! A sink: where an operation's result goes. An Integer is a completion id of the dispatcher; a `Fastr::Waiter` is a
//! thread that sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fastr_core::reactor::Reactor;
use fastr_core::waiter::Waiter;
use fastr_core::{Completer, CompletionId};
use magnus::prelude::*;
use magnus::{Error, Integer, Ruby, TryConvert, Value, typed_data::Obj};

use crate::waiter::RubyWaiter;

/// Ids of waiters lie beyond those that the dispatcher gives out.
static NEXT_WAITER: AtomicU64 = AtomicU64::new(1 << 62);

pub(crate) enum Sink {
    Dispatcher(CompletionId),
    Thread(Arc<Waiter>, CompletionId),
}

impl Sink {
    pub(crate) fn completer(&self, reactor: &Reactor) -> Completer {
        match self {
            Sink::Dispatcher(id) => Completer::queue(Arc::clone(reactor.queue()), *id),
            Sink::Thread(waiter, id) => Completer::waiter(Arc::clone(waiter), *id),
        }
    }
}

pub(crate) fn next_waiter_id() -> CompletionId {
    CompletionId(NEXT_WAITER.fetch_add(1, Ordering::Relaxed))
}

impl TryConvert for Sink {
    fn try_convert(value: Value) -> Result<Self, Error> {
        if let Some(id) = Integer::from_value(value) {
            return Ok(Sink::Dispatcher(CompletionId(id.to_u64()?)));
        }
        if let Ok(waiter) = Obj::<RubyWaiter>::try_convert(value) {
            return Ok(Sink::Thread(Arc::clone(&waiter.waiter), waiter.id));
        }
        let ruby = Ruby::get_with(value);
        let message = format!(
            "a sink is a completion id or a Fastr::Waiter, not {}",
            value.class()
        );
        Err(Error::new(ruby.exception_type_error(), message))
    }
}
