//! `Fastr::Request`: one request, lazily converted, with the right to answer it. Answering is in `answer.rs`.

use std::cell::{Cell, Ref, RefCell};
use std::sync::Arc;

use bytes::Bytes;
use fastr_core::Error as CoreError;
use fastr_core::http::request::Request;
use fastr_core::http::responder::ResponseStream;
use fastr_core::reactor::Reactor;
use http::HeaderMap;
use magnus::prelude::*;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, method};

use crate::constant::define_class;
use crate::convert;
use crate::error::{guard, raise};
use crate::native;
use crate::owned::Owned;
use crate::rack_env;
use crate::raw::env;
use crate::request_state::State;
use crate::sink::Sink;

#[magnus::wrap(class = "Fastr::Request", free_immediately, size)]
pub(crate) struct RubyRequest {
    pub(crate) state: RefCell<State>,
    pub(crate) stream: RefCell<Option<Owned<ResponseStream>>>,
    /// Whether the dispatcher is to be told when the answer is complete.
    pub(crate) watched: Cell<bool>,
}

/// The Ruby object of a request that came off the queue.
pub(crate) fn wrap(request: Box<Request>) -> RubyRequest {
    RubyRequest {
        state: RefCell::new(State::Open(Owned::new(request))),
        stream: RefCell::new(None),
        watched: Cell::new(false),
    }
}

impl RubyRequest {
    fn get(&self) -> Ref<'_, State> {
        self.state.borrow()
    }

    fn id(&self) -> u64 {
        self.get().id().0
    }

    fn verb(ruby: &Ruby, this: &Self) -> RString {
        rack_env::method_name(ruby, this.get().method())
    }

    fn path(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(this.get().path())
    }

    fn query_string(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(this.get().query())
    }

    fn target(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_new(this.get().target())
    }

    fn http_version(ruby: &Ruby, this: &Self) -> RString {
        rack_env::version_name(ruby, this.get().version())
    }

    fn remote_address(ruby: &Ruby, this: &Self) -> Value {
        rack_env::address(ruby, this.get().peer().remote.ip())
    }

    fn remote_port(&self) -> u16 {
        self.get().peer().remote.port()
    }

    fn local_address(ruby: &Ruby, this: &Self) -> Value {
        rack_env::address(ruby, this.get().peer().local.ip())
    }

    fn local_port(&self) -> u16 {
        self.get().peer().local.port()
    }

    fn host(ruby: &Ruby, this: &Self) -> Value {
        let state = this.get();
        if let State::Open(request) = &*state
            && let Some(authority) = request.head.uri.authority()
        {
            return ruby.str_new(authority.as_str()).as_value();
        }
        header_value(ruby, state.headers(), "host")
    }

    fn route(&self) -> u32 {
        self.get().route()
    }

    fn captures(ruby: &Ruby, this: &Self) -> RArray {
        match &*this.get() {
            State::Open(request) => ruby.ary_from_iter(request.captures.iter()),
            State::Answered(_) => ruby.ary_new(),
        }
    }

    fn capture(ruby: &Ruby, this: &Self, index: usize) -> Value {
        match &*this.get() {
            State::Open(request) => ruby.into_value(request.captures.get(index)),
            State::Answered(_) => ruby.qnil().as_value(),
        }
    }

    fn header(ruby: &Ruby, this: &Self, name: RString) -> Result<Value, Error> {
        guard(|_| {
            let name = name.to_string()?;
            Ok(header_value(ruby, this.get().headers(), &name))
        })
    }

    fn headers(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        guard(|_| {
            let (state, hash) = (this.get(), ruby.hash_new());
            let fields = state.headers();
            for name in fields.into_iter().flat_map(HeaderMap::keys) {
                let value = header_value(ruby, fields, name.as_str());
                hash.aset(env::interned(name.as_str()), value)?;
            }
            Ok(hash)
        })
    }

    /// The Rack env: a copy of the template with what this request brings.
    fn build_env(ruby: &Ruby, this: &Self, template: RHash) -> Result<RHash, Error> {
        guard(|_| match &*this.get() {
            State::Open(request) => Ok(rack_env::build(ruby, request, template)),
            State::Answered(_) => Err(raise(ruby, &given_back())),
        })
    }

    fn content_length(&self) -> Option<u64> {
        let state = self.get();
        let length = state.headers()?.get(http::header::CONTENT_LENGTH)?;
        length.to_str().ok()?.parse().ok()
    }

    /// The whole body if it came with the head, else nil and nothing is taken.
    fn body_buffered(ruby: &Ruby, this: &Self) -> Value {
        let body = match &*this.get() {
            State::Open(request) => request.body.take_buffered(),
            State::Answered(_) => None,
        };
        body.map_or(ruby.qnil().as_value(), |bytes| env::binary(&bytes))
    }

    fn body_read(&self, sink: Sink, max: usize) -> Result<(), Error> {
        self.with_request(|reactor, request| {
            request.body.read(reactor, max, sink.completer(reactor));
        })
    }

    fn body_all(&self, sink: Sink, limit: Option<u64>) -> Result<(), Error> {
        let limit = limit.unwrap_or(u64::MAX);
        self.with_request(|reactor, request| {
            request
                .body
                .read_all(reactor, limit, sink.completer(reactor));
        })
    }

    fn multipart(&self, sink: Sink) -> Result<(), Error> {
        self.with_request(|reactor, request| {
            let content_type = request.head.headers.get(http::header::CONTENT_TYPE);
            let content_type = content_type.and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or("").to_owned();
            request
                .body
                .read_parts(reactor, content_type, sink.completer(reactor));
        })
    }

    fn with_request(&self, body: impl FnOnce(&Arc<Reactor>, &Request)) -> Result<(), Error> {
        self.with_reactor(|reactor| match &*self.get() {
            State::Open(request) => {
                body(reactor, request);
                Ok(())
            }
            State::Answered(_) => Err(given_back()),
        })
    }

    pub(crate) fn with_reactor<T>(
        &self,
        body: impl FnOnce(&Arc<Reactor>) -> Result<T, CoreError>,
    ) -> Result<T, Error> {
        guard(|ruby| {
            self.reactor()
                .and_then(|reactor| body(&reactor))
                .map_err(|error| raise(ruby, &error))
        })
    }

    /// The reactor, for a request that may be used in this process.
    pub(crate) fn reactor(&self) -> Result<Arc<Reactor>, CoreError> {
        if let State::Open(request) = &*self.get() {
            request.check("request")?;
        }
        native::reactor()
    }
}

fn given_back() -> CoreError {
    let message = "the request is answered: read its headers and body before you answer";
    CoreError::Invalid(message.into())
}

/// All values of a header as one String, nil if there is none.
pub(crate) fn header_value(ruby: &Ruby, fields: Option<&HeaderMap>, name: &str) -> Value {
    let mut values = fields.into_iter().flat_map(|fields| fields.get_all(name));
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

pub(crate) fn define(ruby: &Ruby, fastr: RModule) -> Result<(), Error> {
    let class = define_class::<RubyRequest>(ruby, fastr, "Request")?;
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
    crate::answer::define(class)
}
