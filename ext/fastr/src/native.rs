//! `Fastr::Native`: the process-wide reactor, the dispatcher's wait, and operations that belong to no object.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastr_core::db::standstill;
use fastr_core::queue::Drained;
use fastr_core::reactor::Reactor;
use fastr_core::{CompletionId, Error as CoreError, Event};
use magnus::prelude::*;
use magnus::{Error, RArray, RModule, Ruby, Value, function};

use crate::convert;
use crate::error::{guard, raise};
use crate::outgoing;
use crate::owned;
use crate::raw::fork::{self, Around};
use crate::raw::{fd, gvl, lent};
use crate::request;
use crate::sink::Sink;

/// Locked for a few instructions at a time, by Ruby threads that hold the GVL, by the collector and by connections that
/// look for their reactor. Whoever holds it must neither wait nor let the GVL go: see [`with_running`].
static RUNNING: Mutex<Option<Arc<Reactor>>> = Mutex::new(None);

/// What happens under the lock is a function of its own, so that the lock is given back before anything else happens.
fn with_running<T>(act: fn(&mut Option<Arc<Reactor>>) -> T) -> T {
    act(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The reactor of this process, started on first use.
pub(crate) fn reactor() -> Result<Arc<Reactor>, CoreError> {
    with_running(|slot| {
        if let Some(reactor) = slot {
            return Ok(Arc::clone(reactor));
        }
        let reactor = Reactor::start()?;
        *slot = Some(Arc::clone(&reactor));
        Ok(reactor)
    })
}

/// The reactor of this process, if it was started.
pub(crate) fn running_reactor() -> Option<Arc<Reactor>> {
    with_running(|slot| slot.clone())
}

thread_local! {
    static HELD: Cell<Option<MutexGuard<'static, Option<Arc<Reactor>>>>> = const { Cell::new(None) };
}

/// A connection may hold the lock at the moment of a fork, and would never give the child's copy back.
struct Forking;

impl Around for Forking {
    fn before() {
        HELD.set(Some(RUNNING.lock().unwrap_or_else(PoisonError::into_inner)));
    }

    fn in_parent() {
        HELD.set(None);
    }

    fn in_child() {
        HELD.set(None);
        standstill::forked();
        owned::forked();
    }
}

/// How long a fork waits for what SQLite does without looking up, such as writing to the disk.
const STANDSTILL: Duration = Duration::from_secs(1);

/// Before a fork: whether no thread is inside SQLite, and none goes there until `go_on`.
fn stand_still() -> Result<bool, Error> {
    guard(|_| gvl::blocking(|| standstill::ask(STANDSTILL)))
}

/// In a forked child: the parent's reactor has no thread here. It is left alone, because its descriptors and what it
/// had pending are the parent's; a new one is made on first use.
fn after_fork() {
    std::mem::forget(with_running(Option::take));
    outgoing::forget();
}

fn started(ruby: &Ruby) -> Result<Arc<Reactor>, Error> {
    reactor().map_err(|error| raise(ruby, &error))
}

fn start() -> Result<(), Error> {
    guard(|ruby| started(ruby).map(|_| ()))
}

fn is_running() -> bool {
    with_running(|slot| slot.is_some())
}

/// Ends the reactor thread. The join happens without the GVL.
fn stop() -> Result<(), Error> {
    guard(|_| {
        if let Some(reactor) = with_running(Option::take) {
            gvl::blocking(|| reactor.stop())?;
        }
        Ok(())
    })
}

/// Sleeps without the GVL until there are events, and returns them as one flat Array: a `Fastr::Request`; an Integer
/// completion id followed by its value; `:tick`; `:closed` or `:answered` followed by a request id. Empty after the limit.
fn wait(ruby: &Ruby, limit: Option<f64>) -> Result<RArray, Error> {
    guard(|_| {
        let reactor = started(ruby)?;
        outgoing::flush(&reactor);
        lent::take_back(ruby);
        let mut events = Vec::new();
        let queue = reactor.queue();
        let drained = gvl::without_gvl(|| queue.drain(&mut events, convert::limit(limit)), &|| {
            queue.interrupt()
        });
        if drained == Some(Drained::Events) {
            return match convert::exceptions(ruby, &events) {
                Ok(exceptions) => batch(ruby, events, exceptions),
                Err(interrupt) => {
                    queue.give_back(events);
                    Err(interrupt)
                }
            };
        }
        gvl::check_interrupts()?;
        Ok(ruby.ary_new())
    })
}

/// No Ruby code runs in here: an interrupt would take the batch with it.
fn batch(ruby: &Ruby, events: Vec<Event>, exceptions: Option<RArray>) -> Result<RArray, Error> {
    outgoing::batch(events.len());
    let batch = ruby.ary_new_capa(events.len() * 2);
    for event in events {
        match event {
            Event::Request(request) => batch.push(request::wrap(request))?,
            Event::Completion(CompletionId(id), result) => {
                batch.push(id)?;
                batch.push(match (result, exceptions) {
                    (Ok(value), _) => convert::outcome(ruby, value)?,
                    (Err(_), Some(exceptions)) => exceptions.shift()?,
                    (Err(error), None) => return Err(raise(ruby, &error)),
                })?;
            }
            Event::Closed(id) => {
                batch.push(ruby.to_symbol("closed"))?;
                batch.push(id.0)?;
            }
            Event::Answered(id) => {
                batch.push(ruby.to_symbol("answered"))?;
                batch.push(id.0)?;
            }
            Event::Tick => batch.push(ruby.to_symbol("tick"))?,
        }
    }
    Ok(batch)
}

/// Marks the calling thread as the dispatcher's: it flushes its answers once per batch.
fn dispatch_here(dispatches: bool) {
    outgoing::this_thread_flushes(dispatches);
}

/// Makes the dispatcher look at its inbox. Callable from any thread and in a trap handler.
fn tick() -> Result<(), Error> {
    guard(|ruby| {
        started(ruby)?.queue().tick();
        Ok(())
    })
}

/// Hands the answers given so far to the reactor.
fn flush() -> Result<(), Error> {
    guard(|ruby| {
        outgoing::flush(&*started(ruby)?);
        Ok(())
    })
}

/// Completes with nil after so many seconds.
fn timer(sink: Sink, seconds: f64) -> Result<(), Error> {
    guard(|ruby| {
        let reactor = started(ruby)?;
        reactor.timer(sink.completer(&reactor), convert::seconds(seconds));
        Ok(())
    })
}

/// Completes with the readiness bits of a descriptor, 0 after the limit.
fn wait_fd(sink: Sink, descriptor: i32, bits: u8, limit: Option<f64>) -> Result<(), Error> {
    guard(|ruby| {
        let reactor = started(ruby)?;
        let duplicate = fd::duplicate(descriptor).map_err(|error| raise(ruby, &error.into()))?;
        reactor.wait_fd(
            sink.completer(&reactor),
            duplicate,
            bits,
            convert::limit(limit),
        );
        Ok(())
    })
}

/// Completes with the addresses of a host, as Strings.
fn resolve(sink: Sink, host: String) -> Result<(), Error> {
    guard(|ruby| {
        let reactor = started(ruby)?;
        reactor.resolve(sink.completer(&reactor), host);
        Ok(())
    })
}

/// Cancels a pending operation; whether it was still pending.
fn cancel(id: u64) -> Result<bool, Error> {
    guard(|_| {
        let reactor = running_reactor();
        Ok(reactor.is_some_and(|reactor| reactor.operations().cancel(CompletionId(id))))
    })
}

/// How much is pending: events on the queue, operations that can be cancelled.
fn stats(ruby: &Ruby) -> Result<Value, Error> {
    guard(|_| {
        let reactor = running_reactor();
        let stats = ruby.hash_new();
        stats.aset(
            ruby.to_symbol("queue"),
            reactor.as_ref().map_or(0, |reactor| reactor.queue().len()),
        )?;
        stats.aset(
            ruby.to_symbol("operations"),
            reactor
                .as_ref()
                .map_or(0, |reactor| reactor.operations().len()),
        )?;
        Ok(stats.as_value())
    })
}

/// The page that a browser shows of a line such as `404 Not Found: /path`.
fn status_page(text: String) -> String {
    fastr_core::http::status_page::page(&text)
}

/// Panics, so that the specs can show what a Rust panic does to a process.
fn panic_on_purpose() -> Result<(), Error> {
    guard(|_| panic!("on purpose"))
}

/// The longest time there is, for callers that mean "for ever".
pub(crate) const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    if !fork::around::<Forking>() {
        let message = "no memory for what happens at a fork";
        return Err(Error::new(ruby.exception_no_mem_error(), message));
    }
    let native = fastr.define_module("Native")?;
    native.define_singleton_method("start", function!(start, 0))?;
    native.define_singleton_method("running?", function!(is_running, 0))?;
    native.define_singleton_method("after_fork", function!(after_fork, 0))?;
    native.define_singleton_method("stand_still", function!(stand_still, 0))?;
    native.define_singleton_method("go_on", function!(standstill::release, 0))?;
    native.define_singleton_method("stop", function!(stop, 0))?;
    native.define_singleton_method("wait", function!(wait, 1))?;
    native.define_singleton_method("dispatch_here", function!(dispatch_here, 1))?;
    native.define_singleton_method("tick", function!(tick, 0))?;
    native.define_singleton_method("flush", function!(flush, 0))?;
    native.define_singleton_method("timer", function!(timer, 2))?;
    native.define_singleton_method("wait_fd", function!(wait_fd, 4))?;
    native.define_singleton_method("resolve", function!(resolve, 2))?;
    native.define_singleton_method("cancel", function!(cancel, 1))?;
    native.define_singleton_method("stats", function!(stats, 0))?;
    native.define_singleton_method("status_page", function!(status_page, 1))?;
    native.define_singleton_method("panic_on_purpose", function!(panic_on_purpose, 0))
}
