//! What a route leads to.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::error::Error;

/// Names one route of a table, in the order of adding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId(pub u32);

/// What answers a route.
#[derive(Debug, Clone)]
pub enum Target {
    /// The route of the Ruby side with this number.
    Ruby(u32),
    /// The same response every time, given without Ruby.
    Constant(Arc<ConstantResponse>),
}

/// A response that never changes: a health check, a redirect, `robots.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstantResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl ConstantResponse {
    /// Checks and keeps a response.
    ///
    /// # Errors
    /// `Invalid` when the status is not in 200..=999 or a header's name or value cannot be sent.
    pub fn new(
        status: u16,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Self, Error> {
        let invalid =
            |what: String| Error::Invalid(format!("a constant response cannot have {what}"));
        let code = StatusCode::from_u16(status)
            .ok()
            .filter(|code| !code.is_informational());
        let mut map = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            let parsed_name = HeaderName::from_bytes(name.as_bytes());
            let parsed_name =
                parsed_name.map_err(|_| invalid(format!("the header name {name:?}")))?;
            let parsed_value = HeaderValue::from_bytes(value.as_bytes());
            let parsed_value =
                parsed_value.map_err(|_| invalid(format!("the value {value:?} of {name}")))?;
            map.append(parsed_name, parsed_value);
        }
        let status = code.ok_or_else(|| invalid(format!("the status {status}")))?;
        Ok(ConstantResponse {
            status,
            headers: map,
            body: body.into(),
        })
    }

    /// A plain text response, as health checks give.
    #[must_use]
    pub fn text(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        let headers = HeaderMap::from_iter([(http::header::CONTENT_TYPE, plain)]);
        ConstantResponse {
            status,
            headers,
            body: body.into(),
        }
    }
}
