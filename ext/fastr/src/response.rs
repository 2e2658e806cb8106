//! Ruby's status, headers and body as a response head and bytes; and a request as a Rack env.

use bytes::Bytes;
use fastr_core::http::request::Request;
use fastr_core::http::responder::Answer;
use fastr_core::http::written::Written;
use http::header::{HeaderName, HeaderValue};
use magnus::prelude::*;
use magnus::r_hash::ForEach;
use magnus::{Error, RArray, RHash, RString, Ruby, Symbol, Value};

use crate::raw::{env, lent};
use crate::request::header_value as header_value_of;
use crate::shared_fields;

/// A whole response: as bytes where its fields are plain Strings and nothing about it is unusual.
pub(crate) fn whole(
    ruby: &Ruby,
    status: u16,
    headers: RHash,
    body: RString,
) -> Result<Answer, Error> {
    if let Some(written) = written(ruby, status, headers, body)? {
        return Ok(Answer::Written(written));
    }
    let head = head(ruby, status, headers)?;
    Ok(Answer::Whole(Box::new(
        head.map(|()| self::body(ruby, body)),
    )))
}

fn written(
    ruby: &Ruby,
    status: u16,
    headers: RHash,
    body: RString,
) -> Result<Option<Written>, Error> {
    let status = http::StatusCode::from_u16(status).ok();
    let Some(mut written) = status.and_then(|status| Written::begin(status, body.len())) else {
        return Ok(None);
    };
    Ok(shared_fields::append(ruby, &mut written, headers)?.then(|| env::end(written, body)))
}

/// The head of a response. A name or value that HTTP does not allow (CR, LF or NUL in it, above all) raises.
pub(crate) fn head(ruby: &Ruby, status: u16, headers: RHash) -> Result<http::Response<()>, Error> {
    let mut response = http::Response::new(());
    let known = http::StatusCode::from_u16(status).ok();
    let known = known.filter(|status| !status.is_informational());
    *response.status_mut() = known.ok_or_else(|| {
        let message = format!("{status} is no status that an answer can have (200 to 999)");
        Error::new(ruby.exception_arg_error(), message)
    })?;
    let map = response.headers_mut();
    headers.foreach(|name: Value, value: Value| {
        let name = header_name(ruby, name)?;
        if let Some(values) = RArray::from_value(value) {
            for value in values.into_iter() {
                map.append(name.clone(), header_value(ruby, &name, value)?);
            }
        } else if !value.is_nil() {
            map.append(name.clone(), header_value(ruby, &name, value)?);
        }
        Ok(ForEach::Continue)
    })?;
    Ok(response)
}

fn header_name(ruby: &Ruby, name: Value) -> Result<HeaderName, Error> {
    let text = match Symbol::from_value(name) {
        Some(symbol) => symbol.name()?.into_owned(),
        None => name.to_r_string()?.to_string()?,
    };
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| {
        Error::new(
            ruby.exception_arg_error(),
            format!("{text:?} is no header name"),
        )
    })
}

fn header_value(ruby: &Ruby, name: &HeaderName, value: Value) -> Result<HeaderValue, Error> {
    let text = value.to_r_string()?;
    HeaderValue::from_bytes(&copy(text)).map_err(|_| {
        let message =
            format!("the value of header {name} holds a line break or another control character");
        Error::new(ruby.exception_arg_error(), message)
    })
}

/// A body: the bytes of a String, which are not copied when it is large.
pub(crate) fn body(ruby: &Ruby, text: RString) -> Bytes {
    lent::bytes(ruby, text).unwrap_or_else(|| copy(text))
}

/// A copy of the bytes of a String.
fn copy(text: RString) -> Bytes {
    env::bytes(text)
}

/// The Rack env of a request: a copy of the template, the request's own keys, and its header fields.
pub(crate) fn rack_env(ruby: &Ruby, request: &Request, template: RHash) -> RHash {
    let rack = env::duplicate(template);
    let uri = &request.head.uri;
    let set = |key: &str, value: Value| env::store(rack, env::interned(key), value);
    set(
        "REQUEST_METHOD",
        env::interned(request.head.method.as_str()).as_value(),
    );
    set("PATH_INFO", ruby.str_new(uri.path()).as_value());
    set("REQUEST_PATH", ruby.str_new(uri.path()).as_value());
    set(
        "QUERY_STRING",
        ruby.str_new(uri.query().unwrap_or("")).as_value(),
    );
    set("REQUEST_URI", ruby.str_new(request.target()).as_value());
    let version = version_name(request.head.version);
    set("SERVER_PROTOCOL", env::interned(version).as_value());
    set("HTTP_VERSION", env::interned(version).as_value());
    set(
        "REMOTE_ADDR",
        ruby.str_new(&request.peer.remote.ip().to_string())
            .as_value(),
    );
    let (name, port) = authority(request);
    set("SERVER_NAME", ruby.str_new(&name).as_value());
    set("SERVER_PORT", ruby.str_new(&port).as_value());
    for header in request.head.headers.keys() {
        env::store(
            rack,
            env::header_key(header.as_str()),
            header_value_of(ruby, Some(&request.head.headers), header.as_str()),
        );
    }
    rack
}

fn authority(request: &Request) -> (String, String) {
    let host = request
        .head
        .headers
        .get(http::header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("");
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() =>
        {
            (name, port.to_owned())
        }
        _ => (host, "80".to_owned()),
    };
    if name.is_empty() {
        return (
            request.peer.local.ip().to_string(),
            request.peer.local.port().to_string(),
        );
    }
    (name.to_owned(), port)
}

/// The protocol version as Rack writes it.
pub(crate) fn version_name(version: http::Version) -> &'static str {
    if version == http::Version::HTTP_10 {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    }
}
