//! `AsyncRecord::RowStream` and `AsyncRecord::Subscription`: results that arrive piece by piece.

use std::sync::Arc;

use fastr_core::db::{Feed, Notification, RowStream};
use magnus::prelude::*;
use magnus::{Error, RModule, Ruby, Value, method};

use crate::constant::define_class;
use crate::error::{guard, raise};
use crate::native;
use crate::owned::Owned;
use crate::sink::Sink;

/// What a forked child is told that it has not got.
const STREAM: &str = "stream";

#[magnus::wrap(class = "AsyncRecord::RowStream", free_immediately)]
pub(crate) struct RubyRowStream(Owned<Arc<RowStream>>);

impl RubyRowStream {
    pub(crate) fn new(stream: RowStream) -> Self {
        Self(Owned::new(Arc::new(stream)))
    }

    /// Completes with `AsyncRecord::Rows`, or with nil at the end.
    fn next(&self, sink: Sink) -> Result<(), Error> {
        guard(|ruby| {
            let reactor = started(ruby, &self.0)?;
            let operations = Arc::clone(reactor.operations());
            let completer = sink.completer(&reactor).registered(operations);
            let (id, stream) = (completer.id(), Arc::clone(&self.0));
            self.0.next(completer);
            reactor
                .operations()
                .attach(id, move || stream.cancel_next());
            Ok(())
        })
    }

    /// In a forked child it is the parent's: nothing to do.
    fn close(&self) -> Result<(), Error> {
        guard(|_| {
            if self.0.check(STREAM).is_ok() {
                self.0.close();
            }
            Ok(())
        })
    }
}

#[magnus::wrap(class = "AsyncRecord::Subscription", free_immediately)]
pub(crate) struct RubySubscription(Owned<Arc<Feed<Notification>>>);

impl RubySubscription {
    pub(crate) fn new(feed: Arc<Feed<Notification>>) -> Self {
        Self(Owned::new(feed))
    }

    /// Completes with `[channel, payload]`, with `:reconnected`, or with nil at the end.
    fn next(&self, sink: Sink) -> Result<(), Error> {
        guard(|ruby| {
            let reactor = started(ruby, &self.0)?;
            let operations = Arc::clone(reactor.operations());
            let completer = sink.completer(&reactor).registered(operations);
            let (id, feed) = (completer.id(), Arc::clone(&self.0));
            self.0.next(completer);
            reactor.operations().attach(id, move || feed.cancel_next());
            Ok(())
        })
    }

    /// In a forked child it is the parent's: nothing to do.
    fn close(&self) -> Result<(), Error> {
        guard(|_| {
            if self.0.check(STREAM).is_ok() {
                self.0.close();
            }
            Ok(())
        })
    }
}

impl Drop for RubySubscription {
    fn drop(&mut self) {
        if self.0.check(STREAM).is_ok() {
            self.0.close();
        }
    }
}

fn started<T>(ruby: &Ruby, owned: &Owned<T>) -> Result<Arc<fastr_core::reactor::Reactor>, Error> {
    owned
        .check(STREAM)
        .and_then(|()| native::reactor())
        .map_err(|error| raise(ruby, &error))
}

/// The Ruby value of a notification.
pub(crate) fn notification(ruby: &Ruby, notification: Notification) -> Result<Value, Error> {
    Ok(match notification {
        Notification::Message { channel, payload } => {
            let pair = ruby.ary_new_capa(2);
            pair.push(channel)?;
            pair.push(payload)?;
            pair.as_value()
        }
        Notification::Reconnected => ruby.to_symbol("reconnected").as_value(),
    })
}

pub(crate) fn define(ruby: &Ruby, record: RModule) -> Result<(), Error> {
    let class = define_class::<RubyRowStream>(ruby, record, "RowStream")?;
    class.define_method("next", method!(RubyRowStream::next, 1))?;
    class.define_method("close", method!(RubyRowStream::close, 0))?;
    let class = define_class::<RubySubscription>(ruby, record, "Subscription")?;
    class.define_method("next", method!(RubySubscription::next, 1))?;
    class.define_method("close", method!(RubySubscription::close, 0))
}
