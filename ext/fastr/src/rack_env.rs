//! A request as a Rack env: a copy of the template, the request's own keys, and its header fields.
//! The template has the keys already, so that the copy has room for all of them.

use std::borrow::Cow;
use std::io::{Cursor, Write};
use std::net::IpAddr;

use fastr_core::http::request::Request;
use http::{HeaderMap, Method, Version};
use magnus::prelude::*;
use magnus::{RHash, RString, Ruby, Value};

use crate::convert;
use crate::raw::env::{self, Kept};
use crate::request::header_value;

static REQUEST_METHOD: Kept = Kept::new("REQUEST_METHOD");
static PATH_INFO: Kept = Kept::new("PATH_INFO");
static REQUEST_PATH: Kept = Kept::new("REQUEST_PATH");
static QUERY_STRING: Kept = Kept::new("QUERY_STRING");
static REQUEST_URI: Kept = Kept::new("REQUEST_URI");
static SERVER_PROTOCOL: Kept = Kept::new("SERVER_PROTOCOL");
static HTTP_VERSION: Kept = Kept::new("HTTP_VERSION");
static REMOTE_ADDR: Kept = Kept::new("REMOTE_ADDR");
static SERVER_NAME: Kept = Kept::new("SERVER_NAME");
static SERVER_PORT: Kept = Kept::new("SERVER_PORT");

/// Long enough for any address in text.
const ADDRESS: usize = 64;

pub(crate) fn build(ruby: &Ruby, request: &Request, template: RHash) -> RHash {
    let rack = env::duplicate(template);
    let set = |key: &Kept, value: Value| env::store(rack, key.get(ruby), value);
    let text = |text: &str| ruby.str_new(text).as_value();
    let head = &request.head;
    let version = version_name(ruby, head.version).as_value();
    let (name, port) = authority(request);
    set(&REQUEST_METHOD, method_name(ruby, &head.method).as_value());
    set(&PATH_INFO, text(head.uri.path()));
    set(&REQUEST_PATH, text(head.uri.path()));
    set(&QUERY_STRING, text(head.uri.query().unwrap_or("")));
    set(&REQUEST_URI, text(request.target()));
    set(&SERVER_PROTOCOL, version);
    set(&HTTP_VERSION, version);
    set(&REMOTE_ADDR, address(ruby, request.peer.remote.ip()));
    set(&SERVER_NAME, text(&name));
    set(&SERVER_PORT, text(&port));
    fields(ruby, &head.headers, rack);
    rack
}

/// A name's values come one after the other.
fn fields(ruby: &Ruby, fields: &HeaderMap, rack: RHash) {
    let mut before = None;
    for (name, value) in fields {
        let value = if before.replace(name) == Some(name) {
            header_value(ruby, Some(fields), name.as_str())
        } else {
            convert::text(ruby, value.as_bytes())
        };
        env::store(rack, env::header_key(name.as_str()), value);
    }
}

/// The method as a frozen String.
pub(crate) fn method_name(ruby: &Ruby, method: &Method) -> RString {
    static GET: Kept = Kept::new("GET");
    static POST: Kept = Kept::new("POST");
    match *method {
        Method::GET => GET.get(ruby),
        Method::POST => POST.get(ruby),
        _ => env::interned(method.as_str()),
    }
}

/// The protocol version as Rack writes it, a frozen String.
pub(crate) fn version_name(ruby: &Ruby, version: Version) -> RString {
    static OLD: Kept = Kept::new("HTTP/1.0");
    static USUAL: Kept = Kept::new("HTTP/1.1");
    if version == Version::HTTP_10 {
        OLD.get(ruby)
    } else {
        USUAL.get(ruby)
    }
}

/// An address as a String, without one of Rust's in between.
pub(crate) fn address(ruby: &Ruby, ip: IpAddr) -> Value {
    let mut text = Cursor::new([0; ADDRESS]);
    // It fits: an IPv6 address takes 45 bytes.
    let _ = write!(text, "{ip}");
    let length = usize::try_from(text.position()).unwrap_or(ADDRESS);
    convert::text(ruby, &text.get_ref()[..length])
}

/// Name and port as the client named them, else those of the socket.
fn authority(request: &Request) -> (Cow<'_, str>, Cow<'_, str>) {
    let host = request.head.headers.get(http::header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or("");
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => (name, port),
        _ => (host, "80"),
    };
    if name.is_empty() {
        let local = request.peer.local;
        return (
            local.ip().to_string().into(),
            local.port().to_string().into(),
        );
    }
    (name.into(), port.into())
}
