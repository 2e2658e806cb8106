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
    FULL, busy, constant, failed, host, name_host, not_allowed, rejected, shown,
};
use crate::http::body::{Content, ResponseBody};
use crate::http::connection::ConnectionState;
use crate::http::guard::Rejection;
use crate::http::lazy_timer::LazyTimer;
use crate::http::reply::Reply;
use crate::http::request::{Peer, Request};
use crate::http::request_body::{self, RequestBody};
use crate::http::responder::Responder;
use crate::http::routes::{Match, Target};
use crate::http::server::{Shared, next_request_id};
use crate::http::tracked::InFlight;

/// Bodies up to this size are read before Ruby sees the request, so that an action finds them there.
const INLINE_BODY: u64 = 64 * 1024;

/// What `OPTIONS *` says of the server as a whole (RFC 9110 section 9.3.7).
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// One connection's service.
pub(crate) struct Service {
    shared: Arc<Shared>,
    pub(super) connection: Arc<ConnectionState>,
    peer: Peer,
    pub(super) timer: Mutex<LazyTimer>,
    /// The answer of the request that hyper is about to read.
    prepared: Mutex<Option<Reply>>,
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

    /// The connection's two ends.
    pub(crate) fn peer(&self) -> Peer {
        self.peer
    }

    /// Answers one request, with the body that hyper reads for it. Never fails: what goes wrong becomes an answer.
    pub(crate) fn answer(
        self: &Arc<Self>,
        request: Box<Request>,
        body: Option<Incoming>,
    ) -> Answering {
        let activity = self.connection.request_started();
        let version = request.head.version;
        Answering::new(Arc::clone(self), activity, version, |service| {
            service.begin(request, body)
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
            Some(reply) => Answering::prepared(Arc::clone(self), reply),
            None => {
                let (head, body) = request.into_parts();
                self.answer(Request::arrived(head, self.peer), Some(body))
            }
        };
        answering.map(Reply::into_hyper)
    }

    /// Keeps the answer of a request that is handed to hyper after it was answered.
    pub(crate) fn prepare(&self, reply: Reply) {
        let reply = if self.is_closing() {
            reply.closing()
        } else {
            reply
        };
        *self.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    /// Whether the server takes no further requests.
    pub(crate) fn is_closing(&self) -> bool {
        *self.shared.closing.borrow()
    }

    fn begin(self: &Arc<Self>, request: Box<Request>, body: Option<Incoming>) -> Progress {
        let head = &request.head;
        if let Some(rejection) = Rejection::carried_by(&head.method, &head.uri, &head.headers) {
            return Progress::done(rejected(&rejection));
        }
        if head.uri.path() == "*" {
            return Progress::done(not_allowed(&Method::OPTIONS, METHODS, &head.headers));
        }
        let files = self.shared.static_files.as_ref();
        if files.is_none_or(|files| files.lacks(head.uri.path())) {
            return self.route(request, body);
        }
        let service = Arc::clone(self);
        Progress::Working(Box::pin(async move {
            service.file_or_route(request, body).await
        }))
    }

    async fn file_or_route(
        self: &Arc<Self>,
        request: Box<Request>,
        body: Option<Incoming>,
    ) -> Progress {
        if let Some(files) = &self.shared.static_files {
            let head = &request.head;
            let file = files.serve(&head.method, head.uri.path(), &head.headers);
            if let Some(response) = file.await {
                let queue = self.connection.files();
                return Progress::done(response.map(|body| Content::File(body.through(queue))));
            }
        }
        self.route(request, body)
    }

    fn route(self: &Arc<Self>, mut request: Box<Request>, body: Option<Incoming>) -> Progress {
        let head = &request.head;
        let path = head.uri.path();
        let routes = self.shared.routes();
        Progress::done(
            match routes.matched(head.method.as_str(), host(head), path) {
                Match::Found { route, captures } => match routes.target(route) {
                    Target::Ruby(number) => {
                        request.route = *number;
                        request.captures = captures;
                        return self.dispatch(request, body);
                    }
                    Target::Constant(response) => constant(response),
                },
                Match::MethodNotAllowed { allow } => {
                    not_allowed(&head.method, &allow, &head.headers)
                }
                Match::NotFound => shown(
                    StatusCode::NOT_FOUND,
                    &format!("404 Not Found: {path}"),
                    &head.headers,
                ),
                Match::BadPath(reason) => shown(
                    StatusCode::BAD_REQUEST,
                    &format!("400 Bad Request: {reason}"),
                    &head.headers,
                ),
            },
        )
    }

    fn dispatch(self: &Arc<Self>, mut request: Box<Request>, body: Option<Incoming>) -> Progress {
        if self.is_full() {
            return Progress::done(busy(FULL));
        }
        name_host(&mut request.head);
        let Some(body) = body.filter(|body| !hyper::body::Body::is_end_stream(body)) else {
            return self.hand_over(request);
        };
        let service = Arc::clone(self);
        Progress::Working(Box::pin(async move {
            match service.request_body(&request.head.headers, body).await {
                Err(error) => Progress::done(failed(&error)),
                // Others may have come while this one's body did.
                Ok(_) if service.is_full() => Progress::done(busy(FULL)),
                Ok(body) => {
                    request.body = body;
                    service.hand_over(request)
                }
            }
        }))
    }

    fn hand_over(&self, mut request: Box<Request>) -> Progress {
        let (responder, answer) = Responder::new();
        request.id = next_request_id();
        request.responder = responder;
        let dispatched = Dispatched {
            answer,
            in_flight: InFlight::new(Arc::clone(&self.shared), request.id, request.body.clone()),
            deadline: Instant::now() + self.shared.limits.handler_timeout,
            is_head: request.head.method == Method::HEAD,
            is_http10: request.head.version == Version::HTTP_10,
        };
        self.shared.reactor.emit(Event::Request(request));
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
