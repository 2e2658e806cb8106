//! From a parsed request to its answer: what Rust answers itself, and the hand-over of the rest to the dispatcher.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::BytesMut;
use futures_util::FutureExt;
use http::header::EXPECT;
use http::{HeaderMap, Method, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::error::Error;
use crate::event::Event;
use crate::http::answering::{Answering, Dispatched, Progress};
use crate::http::answers::{
    FULL, busy, closing, constant, failed, host, name_host, not_allowed, rejected, shown,
};
use crate::http::body::{self, Content, ResponseBody};
use crate::http::connection::ConnectionState;
use crate::http::guard::Rejection;
use crate::http::lazy_timer::LazyTimer;
use crate::http::request::{Peer, Request};
use crate::http::request_body::{self, RequestBody};
use crate::http::responder::Responder;
use crate::http::routes::{Captures, Match, Target};
use crate::http::server::{Shared, next_request_id};
use crate::http::tracked::InFlight;

/// Bodies up to this size are read before Ruby sees the request, so that an action finds them there.
const INLINE_BODY: u64 = 64 * 1024;

/// What `OPTIONS *` says of the server as a whole (RFC 9110 section 9.3.7).
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// A request as it comes to the service; none has a body on the direct way.
type Inbound = http::Request<Option<Incoming>>;

/// One connection's service.
pub(crate) struct Service {
    shared: Arc<Shared>,
    pub(super) connection: Arc<ConnectionState>,
    peer: Peer,
    pub(super) timer: Mutex<LazyTimer>,
    /// The answer of the request that hyper is about to read.
    prepared: Mutex<Option<Response<ResponseBody>>>,
}

impl Service {
    pub(crate) fn new(shared: Arc<Shared>, connection: Arc<ConnectionState>, peer: Peer) -> Self {
        Self {
            shared,
            connection,
            peer,
            timer: Mutex::default(),
            prepared: Mutex::default(),
        }
    }

    /// Answers one request. Never fails: what goes wrong becomes an answer.
    pub(crate) fn answer(self: &Arc<Self>, request: Inbound) -> Answering {
        let activity = self.connection.request_started();
        let version = request.version();
        Answering::new(Arc::clone(self), activity, version, |service| {
            service.begin(request)
        })
    }

    /// Answers one request that hyper has read.
    pub(crate) fn answer_hyper(
        self: &Arc<Self>,
        request: hyper::Request<Incoming>,
    ) -> impl Future<Output = Response<ResponseBody>> + use<> {
        let prepared = self
            .prepared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let answering = match prepared {
            Some(response) => Answering::prepared(Arc::clone(self), response),
            None => self.answer(request.map(Some)),
        };
        answering.map(body::for_hyper)
    }

    /// Keeps the answer of a request that is handed to hyper after it was answered.
    pub(crate) fn prepare(&self, response: Response<ResponseBody>) {
        let response = if self.is_closing() {
            closing(response)
        } else {
            response
        };
        *self.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
    }

    /// Whether the server takes no further requests.
    pub(crate) fn is_closing(&self) -> bool {
        *self.shared.closing.borrow()
    }

    fn begin(self: &Arc<Self>, request: Inbound) -> Progress {
        if let Some(rejection) =
            Rejection::carried_by(request.method(), request.uri(), request.headers())
        {
            return Progress::done(rejected(&rejection));
        }
        if request.uri().path() == "*" {
            return Progress::done(not_allowed(&Method::OPTIONS, METHODS, request.headers()));
        }
        let files = self.shared.static_files.as_ref();
        if files.is_none_or(|files| files.lacks(request.uri().path())) {
            return self.route(request);
        }
        let service = Arc::clone(self);
        Progress::Working(Box::pin(
            async move { service.file_or_route(request).await },
        ))
    }

    async fn file_or_route(self: &Arc<Self>, request: Inbound) -> Progress {
        if let Some(files) = &self.shared.static_files {
            let path = request.uri().path();
            let file = files.serve(request.method(), path, request.headers());
            if let Some(response) = file.await {
                let queue = self.connection.files();
                return Progress::done(response.map(|body| Content::File(body.through(queue))));
            }
        }
        self.route(request)
    }

    fn route(self: &Arc<Self>, request: Inbound) -> Progress {
        let path = request.uri().path();
        let routes = self.shared.routes();
        Progress::done(
            match routes.matched(request.method().as_str(), host(&request), path) {
                Match::Found { route, captures } => match routes.target(route) {
                    Target::Ruby(number) => return self.dispatch(request, *number, captures),
                    Target::Constant(response) => constant(response),
                },
                Match::MethodNotAllowed { allow } => {
                    not_allowed(request.method(), &allow, request.headers())
                }
                Match::NotFound => shown(
                    StatusCode::NOT_FOUND,
                    &format!("404 Not Found: {path}"),
                    request.headers(),
                ),
                Match::BadPath(reason) => shown(
                    StatusCode::BAD_REQUEST,
                    &format!("400 Bad Request: {reason}"),
                    request.headers(),
                ),
            },
        )
    }

    fn dispatch(self: &Arc<Self>, request: Inbound, route: u32, captures: Captures) -> Progress {
        if self.is_full() {
            return Progress::done(busy(FULL));
        }
        let (mut head, incoming) = request.into_parts();
        name_host(&mut head);
        let Some(incoming) = incoming.filter(|body| !hyper::body::Body::is_end_stream(body)) else {
            return self.hand_over(head, RequestBody::empty(), route, captures);
        };
        let service = Arc::clone(self);
        Progress::Working(Box::pin(async move {
            match service.request_body(&head.headers, incoming).await {
                Err(error) => Progress::done(failed(&error)),
                // Others may have come while this one's body did.
                Ok(_) if service.is_full() => Progress::done(busy(FULL)),
                Ok(body) => service.hand_over(head, body, route, captures),
            }
        }))
    }

    fn hand_over(
        &self,
        head: http::request::Parts,
        body: RequestBody,
        route: u32,
        captures: Captures,
    ) -> Progress {
        let (responder, answer) = Responder::new();
        let id = next_request_id();
        let dispatched = Dispatched {
            answer,
            in_flight: InFlight::new(Arc::clone(&self.shared), id, body.clone()),
            deadline: Instant::now() + self.shared.limits.handler_timeout,
            is_head: head.method == Method::HEAD,
            is_http10: head.version == Version::HTTP_10,
        };
        let request = Request {
            id,
            head,
            peer: self.peer,
            route,
            captures,
            body,
            responder,
        };
        self.shared.reactor.emit(Event::Request(Box::new(request)));
        Progress::Dispatched(dispatched)
    }

    fn is_full(&self) -> bool {
        self.shared.in_flight.load(Ordering::Acquire) >= self.shared.limits.max_in_flight
    }

    async fn request_body(
        &self,
        headers: &HeaderMap,
        mut incoming: Incoming,
    ) -> Result<RequestBody, Error> {
        let length = headers
            .get(http::header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        // A client that waits for 100 Continue gets it when the application asks for the body, not before.
        let is_inline = length.is_some_and(|length| length <= INLINE_BODY);
        if !is_inline || headers.contains_key(EXPECT) {
            return Ok(RequestBody::incoming(incoming, self.shared.limits.max_body));
        }
        let Some(first) = request_body::data(&mut incoming).await? else {
            return Ok(RequestBody::empty());
        };
        if hyper::body::Body::is_end_stream(&incoming) {
            return Ok(RequestBody::buffered(first));
        }
        let mut whole = BytesMut::from(first);
        while let Some(bytes) = request_body::data(&mut incoming).await? {
            whole.extend_from_slice(&bytes);
        }
        Ok(RequestBody::buffered(whole.freeze()))
    }
}
