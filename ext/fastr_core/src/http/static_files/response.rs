//! From an opened file and a request to the response.

use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, RANGE, RETRY_AFTER, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use super::body::StaticBody;
use super::conditions::{Verdict, allows_range, evaluate};
use super::range::{Span, Wanted, parse};
use super::source::Source;

/// Answers a GET or HEAD for an opened file.
pub(super) fn respond(
    source: &Source,
    method: &Method,
    headers: &HeaderMap,
    cache_control: Option<&HeaderValue>,
) -> Response<StaticBody> {
    let mut response = match evaluate(headers, &source.etag, source.modified) {
        Verdict::NotModified => empty(StatusCode::NOT_MODIFIED),
        Verdict::Failed => without_content(StatusCode::PRECONDITION_FAILED),
        Verdict::Proceed => content(source, method, headers),
    };
    describe(source, response.headers_mut(), cache_control);
    response
}

/// The server has no descriptor left: a moment later it may.
pub(super) fn unavailable() -> Response<StaticBody> {
    let mut response = without_content(StatusCode::SERVICE_UNAVAILABLE);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn content(source: &Source, method: &Method, headers: &HeaderMap) -> Response<StaticBody> {
    // Ranges mean something for GET only (RFC 9110, section 14.2).
    if method == Method::HEAD {
        let mut response = empty(StatusCode::OK);
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, source.size.into());
        describe_content(source, headers);
        return response;
    }
    match wanted(source, headers) {
        Wanted::Whole => whole(source),
        Wanted::Nothing => unsatisfiable(source.size),
        Wanted::Parts(spans) => match spans[..] {
            [span] => single(source, span),
            _ => several(source, &spans),
        },
    }
}

fn wanted(source: &Source, headers: &HeaderMap) -> Wanted {
    let mut values = headers.get_all(RANGE).into_iter();
    match (
        values.next().and_then(|value| value.to_str().ok()),
        values.next(),
    ) {
        (Some(range), None) if allows_range(headers, &source.etag, source.modified) => {
            parse(range, source.size)
        }
        _ => Wanted::Whole,
    }
}

fn whole(source: &Source) -> Response<StaticBody> {
    let mut body = StaticBody::default();
    body.push_span(
        &source.content,
        Span {
            start: 0,
            length: source.size,
        },
    );
    let mut response = sized(StatusCode::OK, body);
    describe_content(source, response.headers_mut());
    response
}

fn single(source: &Source, span: Span) -> Response<StaticBody> {
    let mut body = StaticBody::default();
    body.push_span(&source.content, span);
    let mut response = sized(StatusCode::PARTIAL_CONTENT, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_RANGE, header(content_range(span, source.size)));
    describe_content(source, headers);
    response
}

/// Several parts as `multipart/byteranges` (RFC 9110, section 14.6).
fn several(source: &Source, spans: &[Span]) -> Response<StaticBody> {
    let boundary = boundary();
    let media_type = source.content_type.to_str().unwrap_or_default();
    let mut body = StaticBody::default();
    for span in spans {
        let range = content_range(*span, source.size);
        let head = format!(
            "\r\n--{boundary}\r\nContent-Type: {media_type}\r\nContent-Range: {range}\r\n\r\n"
        );
        body.push(head.into());
        body.push_span(&source.content, *span);
    }
    body.push(format!("\r\n--{boundary}--\r\n").into());
    let mut response = sized(StatusCode::PARTIAL_CONTENT, body);
    let headers = response.headers_mut();
    describe_content(source, headers);
    headers.insert(
        CONTENT_TYPE,
        header(format!("multipart/byteranges; boundary={boundary}")),
    );
    response
}

fn unsatisfiable(size: u64) -> Response<StaticBody> {
    let mut response = without_content(StatusCode::RANGE_NOT_SATISFIABLE);
    response
        .headers_mut()
        .insert(CONTENT_RANGE, header(format!("bytes */{size}")));
    response
}

/// What every response about this file says, with or without its content.
fn describe(source: &Source, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
    headers.insert(ETAG, source.etag.clone());
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(modified) = source.modified {
        headers.insert(LAST_MODIFIED, header(httpdate::fmt_http_date(modified)));
    }
    if let Some(value) = cache_control {
        headers.insert(CACHE_CONTROL, value.clone());
    }
    if source.varies {
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
}

fn describe_content(source: &Source, headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, source.content_type.clone());
    if let Some(coding) = source.coding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
}

fn sized(status: StatusCode, body: StaticBody) -> Response<StaticBody> {
    let length = body.remaining();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

fn without_content(status: StatusCode) -> Response<StaticBody> {
    sized(status, StaticBody::default())
}

fn empty(status: StatusCode) -> Response<StaticBody> {
    let mut response = Response::new(StaticBody::default());
    *response.status_mut() = status;
    response
}

fn content_range(span: Span, size: u64) -> String {
    format!(
        "bytes {}-{}/{size}",
        span.start,
        span.start + span.length - 1
    )
}

/// Unlikely to occur in any file: 128 bits that differ each time.
fn boundary() -> String {
    let random = || RandomState::new().hash_one(0_u8);
    format!("fastr{:016x}{:016x}", random(), random())
}

fn header(value: String) -> HeaderValue {
    HeaderValue::from_maybe_shared(Bytes::from(value)).expect("made of visible ASCII")
}
