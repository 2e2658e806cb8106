//! A refusal and the way it travels: through hyper, as a request no client can send.
//!
//! A bad head is answered in its turn, after the responses to the requests before it. So the guard puts a small valid
//! request in its place, whose target `*` is refused with any method but OPTIONS when it comes from a client, and
//! whose own field carries the verdict. Nothing else needs to be shared between the connection and the service.

use std::borrow::Cow;
use std::fmt::{self, Write};

use bytes::BytesMut;
use http::{HeaderMap, Method, Uri};

/// What the guard puts in the place of a bad head, up to the verdict.
const STAND_IN: &str = "GET * HTTP/1.1\r\nHost: rejected\r\nConnection: close\r\nFastr-Rejected: ";
/// The field of the stand-in that carries the verdict.
const VERDICT: &str = "fastr-rejected";

/// Why a request is refused, and the status to answer with.
///
/// It is an error, so that a broken body can be handed up as the inner error of a [`std::io::Error`] and be found
/// again by downcasting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The HTTP status: 400, 408, 413, 414, 417, 431, 501 or 505.
    pub status: u16,
    /// What was wrong. Never quotes the client, so it is safe to show and to log.
    pub reason: Cow<'static, str>,
}

impl Rejection {
    /// A refusal with `status` because of `reason`, which must be a single line.
    #[must_use]
    pub const fn new(status: u16, reason: &'static str) -> Self {
        Self {
            status,
            reason: Cow::Borrowed(reason),
        }
    }

    /// The refusal that a request arriving at the service stands for; none for a real request.
    ///
    /// Ask it of HTTP/1.1 requests behind a guard only: an HTTP/2 client can send anything.
    #[must_use]
    pub fn carried_by(method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Self> {
        if uri.path() != "*" || method != Method::GET {
            return None;
        }
        let verdict = headers.get(VERDICT)?.to_str().ok()?;
        let (status, reason) = verdict.split_once(' ')?;
        Some(Self {
            status: status.parse().ok()?,
            reason: Cow::Owned(reason.to_owned()),
        })
    }

    /// Appends the request that stands for this refusal.
    pub(super) fn write_stand_in(&self, output: &mut BytesMut) {
        output.extend_from_slice(STAND_IN.as_bytes());
        // Writing into a buffer in memory cannot fail.
        let _ = write!(output, "{} {}\r\n\r\n", self.status, self.reason);
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.reason, self.status)
    }
}

impl std::error::Error for Rejection {}

/// A refusal with 400.
pub(super) const fn bad(reason: &'static str) -> Rejection {
    Rejection::new(400, reason)
}
