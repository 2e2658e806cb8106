//! The answering half of `Fastr::Request`: whole, or streamed in pieces.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use fastr_core::http::request::Request;
use fastr_core::http::responder::{Delivery, Responder, ResponseStream};
use fastr_core::http::sent_file::SentFile;
use fastr_core::reactor::Reactor;
use fastr_core::{Error as CoreError, Event, RequestId};
use magnus::prelude::*;
use magnus::{Error, RClass, RHash, RString, method};

use crate::error::{guard, raise};
use crate::native;
use crate::outgoing;
use crate::owned::Owned;
use crate::raw::{env, gvl};
use crate::request::RubyRequest;
use crate::request_state::State;
use crate::response;
use crate::sink::Sink;

/// A way to begin a streamed answer.
type Begin = fn(
    &mut Responder,
    http::Response<()>,
    &http::Method,
) -> Result<(Delivery, ResponseStream), CoreError>;

impl RubyRequest {
    fn respond(&self, status: u16, headers: RHash, body: RString) -> Result<(), Error> {
        guard(|ruby| {
            let reactor = self.reactor().map_err(|error| raise(ruby, &error))?;
            let answer = response::whole(ruby, status, headers, body)?;
            let delivery = self.open(|request| request.responder.whole(answer));
            self.complete(&reactor, delivery.map_err(|error| raise(ruby, &error))?);
            Ok(())
        })
    }

    /// Answers with a file, which Ruby does not read. False, and nothing is answered, if it cannot be sent so: it is no
    /// regular file or of another length than the headers say, or the answer has no body.
    fn send_file(&self, status: u16, headers: RHash, path: RString) -> Result<bool, Error> {
        let head = guard(|ruby| response::head(ruby, status, headers))?;
        let path = guard(|_| Ok(PathBuf::from(OsString::from_vec(env::bytes(path).into()))))?;
        let Ok(file) = gvl::blocking(|| SentFile::open(&path))? else {
            return Ok(false);
        };
        self.with_reactor(|reactor| {
            let delivery =
                self.open(|request| request.responder.file(head, file, &request.head.method))?;
            let is_sent = delivery.is_some();
            if let Some(delivery) = delivery {
                self.complete(reactor, delivery);
            }
            Ok(is_sent)
        })
    }

    fn start(&self, status: u16, headers: RHash) -> Result<(), Error> {
        self.begin(status, headers, Responder::streamed)
    }

    /// Like `start`, but the head may wait a moment for the first piece, to leave with it.
    fn defer(&self, status: u16, headers: RHash) -> Result<(), Error> {
        self.begin(status, headers, Responder::deferred)
    }

    fn begin(&self, status: u16, headers: RHash, answer: Begin) -> Result<(), Error> {
        let head = guard(|ruby| response::head(ruby, status, headers))?;
        self.with_reactor(|reactor| {
            let (delivery, stream) =
                self.open(|request| answer(&mut request.responder, head, &request.head.method))?;
            self.stream.replace(Some(Owned::new(stream)));
            outgoing::send(reactor, delivery);
            Ok(())
        })
    }

    fn write(&self, body: RString) -> Result<usize, Error> {
        let bytes = guard(|ruby| Ok(response::body(ruby, body)))?;
        self.with_reactor(|reactor| {
            let stream = self.stream.borrow();
            let stream = stream.as_ref().ok_or_else(not_started)?;
            // The connection is done with a body that has its length: what comes after it is too much, whoever is left.
            let excess = stream.excess(bytes.len());
            match stream.write(bytes) {
                Ok(Some(delivery)) => outgoing::send(reactor, delivery),
                Ok(None) => {}
                Err(error) => return Err(excess.unwrap_or(error)),
            }
            excess.map_or_else(|| Ok(stream.queued()), Err)
        })
    }

    fn drain(&self, sink: Sink) -> Result<(), Error> {
        self.with_reactor(|reactor| {
            outgoing::flush(reactor);
            let stream = self.stream.borrow();
            let stream = stream.as_ref().ok_or_else(not_started)?;
            stream.drain(sink.completer(reactor));
            Ok(())
        })
    }

    fn finish(&self) -> Result<bool, Error> {
        self.end(true)
    }

    fn abort(&self) -> Result<bool, Error> {
        self.end(false)
    }

    /// Ends a streamed answer once; false if there is none or it ended before. One that falls short of the length that
    /// its head declares cannot end whole.
    fn end(&self, whole: bool) -> Result<bool, Error> {
        self.with_reactor(|reactor| {
            let Some(stream) = self.stream.take() else {
                return Ok(false);
            };
            let shortfall = stream.shortfall().filter(|_| whole);
            self.complete(reactor, stream.end(whole && shortfall.is_none()));
            shortfall.map_or(Ok(true), Err)
        })
    }

    fn open<T>(
        &self,
        act: impl FnOnce(&mut Request) -> Result<T, CoreError>,
    ) -> Result<T, CoreError> {
        match &mut *self.state.borrow_mut() {
            State::Open(request) => act(request),
            State::Answered(_) => Err(CoreError::AlreadySent),
        }
    }

    /// Sends the last of an answer and the request back with it.
    fn complete(&self, reactor: &Reactor, delivery: Delivery) {
        let mut state = self.state.borrow_mut();
        let delivery = match &*state {
            State::Open(request) => {
                let summary = State::Answered(request.summary());
                match std::mem::replace(&mut *state, summary) {
                    State::Open(request) => delivery.with(request.into_inner()),
                    State::Answered(_) => delivery,
                }
            }
            State::Answered(_) => delivery,
        };
        outgoing::send(reactor, delivery);
        self.answered(reactor, state.id());
    }

    /// Asks for `:answered` on the queue when the answer is complete.
    fn watch(&self) {
        self.watched.set(true);
    }

    fn answered(&self, reactor: &Reactor, id: RequestId) {
        if self.watched.take() {
            reactor.queue().push(Event::Answered(id));
        }
    }

    fn is_answered(&self) -> bool {
        match &*self.state.borrow() {
            State::Open(request) => request.responder.is_answered(),
            State::Answered(_) => true,
        }
    }

    /// Whether the client still waits for an answer or its rest.
    fn is_open(&self) -> bool {
        match (&*self.stream.borrow(), &*self.state.borrow()) {
            (Some(stream), _) => stream.is_open(),
            (None, State::Open(request)) => request.responder.is_open(),
            (None, State::Answered(_)) => false,
        }
    }

    /// Whether the client left before its answer was complete.
    fn has_left(&self) -> bool {
        match (&*self.stream.borrow(), &*self.state.borrow()) {
            (Some(stream), _) => !stream.is_open(),
            (None, State::Open(request)) => !request.responder.is_open(),
            (None, State::Answered(_)) => false,
        }
    }
}

impl Drop for RubyRequest {
    /// Runs during garbage collection, so it touches no Ruby value. A responder dropped unanswered answers 500.
    fn drop(&mut self) {
        if !self.watched.get() {
            return;
        }
        let state = self.state.get_mut();
        if let State::Open(request) = state
            && request.check("request").is_err()
        {
            return;
        }
        let id = state.id();
        if let Some(reactor) = native::running_reactor() {
            self.answered(&reactor, id);
        }
    }
}

fn not_started() -> CoreError {
    CoreError::Invalid("no streamed answer is open: call start(status, headers) first".into())
}

pub(crate) fn define(class: RClass) -> Result<(), Error> {
    class.define_method("respond", method!(RubyRequest::respond, 3))?;
    class.define_method("send_file", method!(RubyRequest::send_file, 3))?;
    class.define_method("start", method!(RubyRequest::start, 2))?;
    class.define_method("defer", method!(RubyRequest::defer, 2))?;
    class.define_method("write", method!(RubyRequest::write, 1))?;
    class.define_method("drain", method!(RubyRequest::drain, 1))?;
    class.define_method("finish", method!(RubyRequest::finish, 0))?;
    class.define_method("abort", method!(RubyRequest::abort, 0))?;
    class.define_method("watch", method!(RubyRequest::watch, 0))?;
    class.define_method("answered?", method!(RubyRequest::is_answered, 0))?;
    class.define_method("left?", method!(RubyRequest::has_left, 0))?;
    class.define_method("open?", method!(RubyRequest::is_open, 0))
}
