//! From a parsed request to its answer: what Rust answers itself, and the hand-over of the rest to the dispatcher.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderValue, RETRY_AFTER,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, Method, Response, StatusCode, Version};
use hyper::body::Incoming;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::event::Event;
use crate::http::body::{self, Content, RequestBody, ResponseBody};
use crate::http::connection::ConnectionState;
use crate::http::guard::Rejection;
use crate::http::lazy_timer::LazyTimer;
use crate::http::request::{Peer, Request};
use crate::http::responder::{Answer, Responder};
use crate::http::routes::{Captures, ConstantResponse, Match, Target};
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
        let Some(first) = body::data(&mut incoming).await? else {
            return Ok(RequestBody::empty());
        };
        if hyper::body::Body::is_end_stream(&incoming) {
            return Ok(RequestBody::buffered(first));
        }
        let mut whole = BytesMut::from(first);
        while let Some(bytes) = body::data(&mut incoming).await? {
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

const FULL: &str = "the server has as many requests in flight as it allows";

/// The framing is the server's: a length that is not the body's would let this answer run into the next one. Answers
/// without a body to HEAD and with 304 may name the length of another (RFC 9110 section 8.6).
fn framed(mut response: Response<Bytes>, is_head: bool) -> Response<Bytes> {
    let may_name_another =
        response.body().is_empty() && (is_head || response.status() == StatusCode::NOT_MODIFIED);
    response.headers_mut().remove(TRANSFER_ENCODING);
    if !may_name_another {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

/// The authority of an absolute target takes the place of the Host field, for everyone who reads either (RFC 9112
/// section 3.2.2).
fn name_host(head: &mut http::request::Parts) {
    let authority = head.uri.authority();
    if let Some(host) = authority.and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        head.headers.insert(HOST, host);
    }
}

fn internal_error() -> Response<Content> {
    plain(
        StatusCode::INTERNAL_SERVER_ERROR,
        "500 Internal Server Error",
    )
}

fn rejected(rejection: &Rejection) -> Response<Content> {
    let status = StatusCode::from_u16(rejection.status).unwrap_or(StatusCode::BAD_REQUEST);
    closing(plain(status, &format!("{status}: {}", rejection.reason)))
}

fn closing<B>(mut response: Response<B>) -> Response<B> {
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Content> {
    let mut response = Response::new(Content::whole(text.to_owned()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

fn busy(reason: &str) -> Response<Content> {
    let mut response = plain(
        StatusCode::SERVICE_UNAVAILABLE,
        &format!("503 Service Unavailable: {reason}"),
    );
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn failed(error: &Error) -> Response<Content> {
    let status = match error {
        Error::BadRequest { status, .. } => {
            StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_REQUEST)
        }
        _ => StatusCode::BAD_REQUEST,
    };
    let mut response = plain(status, &format!("{status}: {error}"));
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn not_allowed(method: &Method, allow: &str) -> Response<Content> {
    let mut response = if method == Method::OPTIONS {
        let mut empty = Response::new(Content::whole(Bytes::new()));
        *empty.status_mut() = StatusCode::NO_CONTENT;
        empty
    } else {
        plain(
            StatusCode::METHOD_NOT_ALLOWED,
            &format!("405 Method Not Allowed: this path answers {allow}"),
        )
    };
    if let Ok(allow) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

fn constant(prepared: &ConstantResponse) -> Response<Content> {
    let mut response = Response::new(Content::whole(prepared.body.clone()));
    *response.status_mut() = prepared.status;
    *response.headers_mut() = prepared.headers.clone();
    response
}

/// The authority that the request is for: that of an absolute target comes before the Host field (RFC 9112, 3.2.2).
fn host(request: &hyper::Request<Incoming>) -> &str {
    if let Some(authority) = request.uri().authority() {
        return authority.as_str();
    }
    request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("")
}
