//! The answers that Rust gives itself, and what it puts right in those of Ruby.

use bytes::Bytes;
use http::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER,
    TRANSFER_ENCODING, VARY,
};
use http::{HeaderMap, Method, Response, StatusCode};

use crate::error::Error;
use crate::http::body::Content;
use crate::http::guard::Rejection;
use crate::http::routes::ConstantResponse;
use crate::http::status_page;

pub(super) const FULL: &str = "the server has as many requests in flight as it allows";

/// The framing is the server's: a length that is not the body's would let this answer run into the next one. Answers
/// without a body to HEAD and with 304 may name the length of another (RFC 9110 section 8.6).
pub(super) fn framed<B>(mut response: Response<B>, may_name_another: bool) -> Response<B> {
    response.headers_mut().remove(TRANSFER_ENCODING);
    if !may_name_another {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

/// The authority of an absolute target takes the place of the Host field, for everyone who reads either (RFC 9112
/// section 3.2.2).
pub(super) fn name_host(head: &mut http::request::Parts) {
    let authority = head.uri.authority();
    if let Some(host) = authority.and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        head.headers.insert(HOST, host);
    }
}

pub(super) fn internal_error() -> Response<Content> {
    plain(
        StatusCode::INTERNAL_SERVER_ERROR,
        "500 Internal Server Error",
    )
}

pub(super) fn rejected(rejection: &Rejection) -> Response<Content> {
    let status = StatusCode::from_u16(rejection.status).unwrap_or(StatusCode::BAD_REQUEST);
    closing(plain(status, &format!("{status}: {}", rejection.reason)))
}

pub(super) fn closing<B>(mut response: Response<B>) -> Response<B> {
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(super) fn plain(status: StatusCode, text: &str) -> Response<Content> {
    let mut response = Response::new(Content::whole(text.to_owned()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

/// The same for a person at a browser, who gets a page.
pub(super) fn shown(status: StatusCode, text: &str, headers: &HeaderMap) -> Response<Content> {
    if !status_page::is_wanted(headers) {
        return plain(status, text);
    }
    let mut response = plain(status, &status_page::page(text));
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("accept"));
    response
}

pub(super) fn busy(reason: &str) -> Response<Content> {
    let mut response = plain(
        StatusCode::SERVICE_UNAVAILABLE,
        &format!("503 Service Unavailable: {reason}"),
    );
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

pub(super) fn failed(error: &Error) -> Response<Content> {
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

pub(super) fn not_allowed(method: &Method, allow: &str, headers: &HeaderMap) -> Response<Content> {
    let mut response = if method == Method::OPTIONS {
        let mut empty = Response::new(Content::whole(Bytes::new()));
        *empty.status_mut() = StatusCode::NO_CONTENT;
        empty
    } else {
        shown(
            StatusCode::METHOD_NOT_ALLOWED,
            &format!("405 Method Not Allowed: this path answers {allow}"),
            headers,
        )
    };
    if let Ok(allow) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

pub(super) fn constant(prepared: &ConstantResponse) -> Response<Content> {
    let mut response = Response::new(Content::whole(prepared.body.clone()));
    *response.status_mut() = prepared.status;
    *response.headers_mut() = prepared.headers.clone();
    response
}

/// The authority that the request is for: that of an absolute target comes before the Host field (RFC 9112, 3.2.2).
pub(super) fn host(head: &http::request::Parts) -> &str {
    if let Some(authority) = head.uri.authority() {
        return authority.as_str();
    }
    head.headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("")
}
