//! `Fastr::Request`: one request, lazily converted, with the right to answer it.

use std::cell::{Cell, Ref, RefCell};
use std::sync::Arc;

use bytes::Bytes;
use fastr_core::http::request::Request;
use fastr_core::http::responder::ResponseStream;
use fastr_core::reactor::Reactor;
use fastr_core::{Error as CoreError, Event, RequestId};
use magnus::prelude::*;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, method};

use crate::convert;
use crate::error::{guard, raise};
use crate::native;
use crate::outgoing;
use crate::raw::env;
use crate::response;
use crate::sink::Sink;

#[magnus::wrap(class = "Fastr::Request", free_immediately, size)]
pub(crate) struct RubyRequest {
    request: RefCell<Box<Request>>,
    stream: RefCell<Option<ResponseStream>>,
    /// Whether the dispatcher is to be told when the answer is complete.
    watched: Cell<bool>,
}

/// The Ruby object of a request that came off the queue.
pub(crate) fn wrap(request: Box<Request>) -> RubyRequest {
    RubyRequest {
        request: RefCell::new(request),
        stream: RefCell::new(None),
        watched: Cell::new(false),
    }
}

impl RubyRequest {
    fn get(&self) -> Ref<'_, Box<Request>> {
        self.request.borrow()
    }

    fn id(&self) -> u64 {
        self.get().id.0
    }

    fn verb(&self) -> RString {
        env::interned(self.get().method().as_str())
    }

    fn path(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(this.get().uri().path())
    }

    fn query_string(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(this.get().uri().query().unwrap_or(""))
    }

    fn target(ruby: &Ruby, this: &Self) -> RString {
        let request = this.get();
        let target = request
            .uri()
            .path_and_query()
            .map_or("*", http::uri::PathAndQuery::as_str);
        ruby.str_new(target)
    }

    fn http_version(&self) -> RString {
        env::interned(if self.get().version() == http::Version::HTTP_10 {
            "HTTP/1.0"
        } else {
            "HTTP/1.1"
        })
    }

    fn remote_address(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(&this.get().peer.remote.ip().to_string())
    }

    fn remote_port(&self) -> u16 {
        self.get().peer.remote.port()
    }

    fn local_address(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(&this.get().peer.local.ip().to_string())
    }

    fn local_port(&self) -> u16 {
        self.get().peer.local.port()
    }

    fn host(ruby: &Ruby, this: &Self) -> Value {
        let request = this.get();
        if let Some(authority) = request.uri().authority() {
            return ruby.str_new(authority.as_str()).as_value();
        }
        header_value(ruby, &request, "host")
    }

    fn route(&self) -> u32 {
        self.get().route
    }

    fn captures(ruby: &Ruby, this: &Self) -> RArray {
        ruby.ary_from_iter(this.get().captures.iter())
    }

    fn capture(ruby: &Ruby, this: &Self, index: usize) -> Value {
        let request = this.get();
        request
            .captures
            .get(index)
            .map_or(ruby.qnil().as_value(), |text| ruby.str_new(text).as_value())
    }

    fn header(ruby: &Ruby, this: &Self, name: RString) -> Result<Value, Error> {
        guard(|_| Ok(header_value(ruby, &this.get(), &name.to_string()?)))
    }

    fn headers(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        guard(|_| {
            let (request, headers) = (this.get(), ruby.hash_new());
            for name in request.headers().keys() {
                headers.aset(
                    env::interned(name.as_str()),
                    header_value(ruby, &request, name.as_str()),
                )?;
            }
            Ok(headers)
        })
    }

    /// The Rack env: a copy of the template with what this request brings.
    fn build_env(ruby: &Ruby, this: &Self, template: RHash) -> Result<RHash, Error> {
        guard(|_| Ok(response::rack_env(ruby, &this.get(), template)))
    }

    fn content_length(&self) -> Option<u64> {
        let request = self.get();
        request
            .headers()
            .get(http::header::CONTENT_LENGTH)?
            .to_str()
            .ok()?
            .parse()
            .ok()
    }

    /// The whole body if it came with the head, else nil and nothing is taken.
    fn body_buffered(ruby: &Ruby, this: &Self) -> Value {
        this.get()
            .body
            .take_buffered()
            .map_or(ruby.qnil().as_value(), |bytes| env::binary(&bytes))
    }

    fn body_read(&self, sink: Sink, max: usize) -> Result<(), Error> {
        self.with_reactor(|reactor| {
            self.get().body.read(reactor, max, sink.completer(reactor));
            Ok(())
        })
    }

    fn body_all(&self, sink: Sink, limit: Option<u64>) -> Result<(), Error> {
        self.with_reactor(|reactor| {
            self.get()
                .body
                .read_all(reactor, limit.unwrap_or(u64::MAX), sink.completer(reactor));
            Ok(())
        })
    }

    fn multipart(&self, sink: Sink) -> Result<(), Error> {
        self.with_reactor(|reactor| {
            let request = self.get();
            let content_type = request.headers().get(http::header::CONTENT_TYPE);
            let content_type = content_type
                .and_then(|value| value.to_str().ok())
                .unwrap_or("")
                .to_owned();
            request
                .body
                .read_parts(reactor, content_type, sink.completer(reactor));
            Ok(())
        })
    }

    fn respond(&self, status: u16, headers: RHash, body: RString) -> Result<(), Error> {
        let head = guard(|ruby| response::head(ruby, status, headers))?;
        let response = head.map(|()| response::copy(body));
        self.with_reactor(|reactor| {
            let mut request = self.request.borrow_mut();
            if request.responder.is_answered() {
                return Err(CoreError::AlreadySent);
            }
            let spent = request.release_head();
            outgoing::send(reactor, request.responder.whole(response, spent)?);
            self.answered(reactor, request.id);
            Ok(())
        })
    }

    fn start(&self, status: u16, headers: RHash) -> Result<(), Error> {
        let head = guard(|ruby| response::head(ruby, status, headers))?;
        self.with_reactor(|reactor| {
            let (delivery, stream) = self.request.borrow_mut().responder.streamed(head)?;
            self.stream.replace(Some(stream));
            outgoing::send(reactor, delivery);
            Ok(())
        })
    }

    fn write(&self, body: RString) -> Result<usize, Error> {
        let bytes = response::copy(body);
        self.with_reactor(|reactor| {
            let stream = self.stream.borrow();
            let stream = stream.as_ref().ok_or_else(not_started)?;
            if !bytes.is_empty() {
                outgoing::send(reactor, stream.write(bytes)?);
            }
            Ok(stream.queued())
        })
    }

    fn drain(&self, sink: Sink) -> Result<(), Error> {
        self.with_reactor(|reactor| {
            outgoing::flush(reactor);
            self.stream
                .borrow()
                .as_ref()
                .ok_or_else(not_started)?
                .drain(sink.completer(reactor));
            Ok(())
        })
    }

    fn finish(&self) -> Result<bool, Error> {
        self.end(true)
    }

    fn abort(&self) -> Result<bool, Error> {
        self.end(false)
    }

    /// Ends a streamed answer once; false if there is none or it ended before.
    fn end(&self, complete: bool) -> Result<bool, Error> {
        self.with_reactor(|reactor| {
            let Some(stream) = self.stream.take() else {
                return Ok(false);
            };
            let mut request = self.request.borrow_mut();
            outgoing::send(reactor, stream.end(complete, request.release_head()));
            self.answered(reactor, request.id);
            Ok(true)
        })
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
        self.get().responder.is_answered()
    }

    /// Whether the client still waits for an answer or its rest.
    fn is_open(&self) -> bool {
        match self.stream.borrow().as_ref() {
            Some(stream) => stream.is_open(),
            None => self.get().responder.is_open(),
        }
    }

    fn with_reactor<T>(
        &self,
        body: impl FnOnce(&Arc<Reactor>) -> Result<T, CoreError>,
    ) -> Result<T, Error> {
        guard(|ruby| {
            native::reactor()
                .and_then(|reactor| body(&reactor))
                .map_err(|error| raise(ruby, &error))
        })
    }
}

fn not_started() -> CoreError {
    CoreError::Invalid("no streamed answer is open: call start(status, headers) first".into())
}

/// All values of a header as one String, nil if there is none.
fn header_value(ruby: &Ruby, request: &Request, name: &str) -> Value {
    let mut values = request.headers().get_all(name).iter();
    let Some(first) = values.next() else {
        return ruby.qnil().as_value();
    };
    let Some(second) = values.next() else {
        return convert::text(ruby, first.as_bytes());
    };
    let separator: &[u8] = if name == "cookie" { b"; " } else { b", " };
    let mut joined = first.as_bytes().to_vec();
    for value in std::iter::once(second).chain(values) {
        joined.extend_from_slice(separator);
        joined.extend_from_slice(value.as_bytes());
    }
    convert::text(ruby, &Bytes::from(joined))
}

impl Drop for RubyRequest {
    /// Runs during garbage collection, so it touches no Ruby value. A responder dropped unanswered answers 500.
    fn drop(&mut self) {
        let id = self.request.get_mut().id;
        if let Some(reactor) = native::running_reactor() {
            self.answered(&reactor, id);
        }
    }
}

pub(crate) fn header_of(ruby: &Ruby, request: &Request, name: &str) -> Value {
    header_value(ruby, request, name)
}

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let class = fastr.define_class("Request", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("id", method!(RubyRequest::id, 0))?;
    class.define_method("method", method!(RubyRequest::verb, 0))?;
    class.define_method("path", method!(RubyRequest::path, 0))?;
    class.define_method("query_string", method!(RubyRequest::query_string, 0))?;
    class.define_method("target", method!(RubyRequest::target, 0))?;
    class.define_method("http_version", method!(RubyRequest::http_version, 0))?;
    class.define_method("remote_addr", method!(RubyRequest::remote_address, 0))?;
    class.define_method("remote_port", method!(RubyRequest::remote_port, 0))?;
    class.define_method("local_addr", method!(RubyRequest::local_address, 0))?;
    class.define_method("local_port", method!(RubyRequest::local_port, 0))?;
    class.define_method("host", method!(RubyRequest::host, 0))?;
    class.define_method("route", method!(RubyRequest::route, 0))?;
    class.define_method("captures", method!(RubyRequest::captures, 0))?;
    class.define_method("capture", method!(RubyRequest::capture, 1))?;
    class.define_method("header", method!(RubyRequest::header, 1))?;
    class.define_method("headers", method!(RubyRequest::headers, 0))?;
    class.define_method("build_env", method!(RubyRequest::build_env, 1))?;
    class.define_method("content_length", method!(RubyRequest::content_length, 0))?;
    class.define_method("body_buffered", method!(RubyRequest::body_buffered, 0))?;
    class.define_method("body_read", method!(RubyRequest::body_read, 2))?;
    class.define_method("body_all", method!(RubyRequest::body_all, 2))?;
    class.define_method("multipart", method!(RubyRequest::multipart, 1))?;
    class.define_method("respond", method!(RubyRequest::respond, 3))?;
    class.define_method("start", method!(RubyRequest::start, 2))?;
    class.define_method("write", method!(RubyRequest::write, 1))?;
    class.define_method("drain", method!(RubyRequest::drain, 1))?;
    class.define_method("finish", method!(RubyRequest::finish, 0))?;
    class.define_method("abort", method!(RubyRequest::abort, 0))?;
    class.define_method("watch", method!(RubyRequest::watch, 0))?;
    class.define_method("answered?", method!(RubyRequest::is_answered, 0))?;
    class.define_method("open?", method!(RubyRequest::is_open, 0))
}
