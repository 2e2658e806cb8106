//! Ruby's status, headers and body as a response head and bytes; and a request as a Rack env.

use bytes::Bytes;
use fastr_core::http::responder::Answer;
use fastr_core::http::written::Written;
use http::header::{HeaderName, HeaderValue};
use magnus::prelude::*;
use magnus::r_hash::ForEach;
use magnus::{Error, RArray, RHash, RString, Ruby, Symbol, Value};

use crate::raw::{env, lent};
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
