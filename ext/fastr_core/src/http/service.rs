//! From a parsed request to its answer: what Rust answers itself, and the hand-over of the rest to the dispatcher.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Instant;

use bytes::BytesMut;
use futures_util::FutureExt;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Response, StatusCode, Version};
use hyper::body::Incoming;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::event::Event;
use crate::http::answers::{
    FULL, busy, closing, constant, failed, framed, host, internal_error, name_host, not_allowed,
    plain, rejected,
};
use crate::http::body::{Content, ResponseBody};
use crate::http::connection::ConnectionState;
use crate::http::guard::Rejection;
use crate::http::lazy_timer::LazyTimer;
use crate::http::request::{Peer, Request};
use crate::http::request_body::{self, RequestBody};
use crate::http::responder::{Answer, Responder};
use crate::http::routes::{Captures, Match, Target};
use crate::http::server::{Shared, next_request_id};
use crate::http::tracked::{InFlight, TrackedStream};

/// Bodies up to this size are read before Ruby sees the request, so that an action finds them there.
const INLINE_BODY: u64 = 64 * 1024;

/// What `OPTIONS *` says of the server as a whole (RFC 9110 section 9.3.7).
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// One connection's service.
pub(crate) struct Service {
    shared: Arc<Shared>,
    connection: Arc<ConnectionState>,
    peer: Peer,
    timer: Mutex<LazyTimer>,
}

impl Service {
    pub(crate) fn new(shared: Arc<Shared>, connection: Arc<ConnectionState>, peer: Peer) -> Self {
        Self {
            shared,
            connection,
            peer,
            timer: Mutex::default(),
        }
    }

    /// Answers one request. Never fails: what goes wrong becomes an answer.
    pub(crate) async fn answer(&self, request: hyper::Request<Incoming>) -> Response<ResponseBody> {
        let activity = self.connection.request_started();
        let version = request.version();
        let answer = AssertUnwindSafe(self.route(request)).catch_unwind().await;
        let mut answer = answer.unwrap_or_else(|_| internal_error());
        // An answer that says `close` to HTTP/1.0 must be one of HTTP/1.0: to others hyper adds `keep-alive`.
        if version == Version::HTTP_10 && answer.headers().contains_key(CONNECTION) {
            *answer.version_mut() = version;
        }
        answer.map(|content| ResponseBody::new(content, activity))
    }

    async fn route(&self, request: hyper::Request<Incoming>) -> Response<Content> {
        if let Some(rejection) =
            Rejection::carried_by(request.method(), request.uri(), request.headers())
        {
            return rejected(&rejection);
        }
        let path = request.uri().path();
        if path == "*" {
            return not_allowed(&Method::OPTIONS, METHODS);
        }
        if let Some(files) = &self.shared.static_files {
            // Boxed, because the future of every request would be as large as that of the largest branch.
            let file = Box::pin(files.serve(request.method(), path, request.headers()));
            if let Some(response) = file.await {
                return response.map(Content::File);
            }
        }
        let routes = self.shared.routes();
        match routes.matched(request.method().as_str(), host(&request), path) {
            Match::Found { route, captures } => match routes.target(route) {
                Target::Ruby(number) => self.dispatch(request, *number, captures).await,
                Target::Constant(response) => constant(response),
            },
            Match::MethodNotAllowed { allow } => not_allowed(request.method(), &allow),
            Match::NotFound => plain(StatusCode::NOT_FOUND, &format!("404 Not Found: {path}")),
            Match::BadPath(reason) => plain(
                StatusCode::BAD_REQUEST,
                &format!("400 Bad Request: {reason}"),
            ),
        }
    }

    async fn dispatch(
        &self,
        request: hyper::Request<Incoming>,
        route: u32,
        captures: Captures,
    ) -> Response<Content> {
        if self.is_full() {
            return busy(FULL);
        }
        let (mut head, incoming) = request.into_parts();
        name_host(&mut head);
        let body = if hyper::body::Body::is_end_stream(&incoming) {
            Ok(RequestBody::empty())
        } else {
            Box::pin(self.request_body(&head.headers, incoming)).await
        };
        let body = match body {
            Ok(body) => body,
            Err(error) => return failed(&error),
        };
        // Others may have come while this one's body did.
        if self.is_full() {
            return busy(FULL);
        }
        let (responder, answer) = Responder::new();
        let id = next_request_id();
        let in_flight = InFlight::new(Arc::clone(&self.shared), id, body.clone());
        let asked = Asked {
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
        self.wait(asked, answer, in_flight).await
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

    async fn wait(
        &self,
        asked: Asked,
        mut answer: oneshot::Receiver<Answer>,
        mut in_flight: InFlight,
    ) -> Response<Content> {
        let deadline = Instant::now() + self.shared.limits.handler_timeout;
        let answer = poll_fn(|context| {
            if let Poll::Ready(answer) = std::pin::Pin::new(&mut answer).poll(context) {
                return Poll::Ready(Some(answer));
            }
            let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
            timer.poll(deadline, context).map(|()| None)
        });
        match answer.await {
            Some(Ok(Answer::Whole(response))) => {
                in_flight.finish();
                let mut response = framed(response, asked.is_head).map(Content::whole);
                if in_flight.body().is_unread() {
                    response = closing(response);
                }
                response
            }
            Some(Ok(Answer::Streamed(mut response))) => {
                self.connection.answer_streams();
                response.headers_mut().remove(TRANSFER_ENCODING);
                // Without chunks only the end of the connection ends a body of unknown length.
                if asked.is_http10 && !response.headers().contains_key(CONTENT_LENGTH) {
                    response = closing(response);
                }
                response.map(|body| Content::Streamed(TrackedStream::new(body, in_flight)))
            }
            Some(Err(_)) => {
                in_flight.finish();
                internal_error()
            }
            // Dropping `in_flight` unfinished tells the dispatcher to cancel what runs for this request.
            None => busy("no answer was given in time"),
        }
    }
}

/// What the framing of the answer depends on.
struct Asked {
    is_head: bool,
    is_http10: bool,
}
