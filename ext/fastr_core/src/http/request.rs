//! A request as the dispatcher gets it: parsed, matched to its route, with the right to answer it.
//!
//! Its head lies in the buffer that the connection read it into. The answer takes the whole request back to the
//! reactor, so that the buffer is free for the next one however long Ruby keeps its object; a [`Summary`] stays.

use std::net::SocketAddr;

use http::request::Parts;
use http::{Method, Version};

use crate::event::RequestId;
use crate::http::request_body::RequestBody;
use crate::http::responder::Responder;
use crate::http::routes::Captures;

/// Where a connection came from and arrived.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// The client's address.
    pub remote: SocketAddr,
    /// The address the client reached us at.
    pub local: SocketAddr,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// Its name within the process.
    pub id: RequestId,
    /// Method, target, version and headers as they arrived.
    pub head: Parts,
    /// The connection's two ends.
    pub peer: Peer,
    /// The number that the Ruby side gave the route.
    pub route: u32,
    /// The route's captures, decoded, in the order of its pattern.
    pub captures: Captures,
    /// The body.
    pub body: RequestBody,
    /// The right to answer.
    pub responder: Responder,
}

/// What is still known of a request after its answer: enough for a log line.
#[derive(Debug)]
pub struct Summary {
    /// Its name within the process.
    pub id: RequestId,
    /// The method.
    pub method: Method,
    /// The protocol version.
    pub version: Version,
    /// The connection's two ends.
    pub peer: Peer,
    /// The number that the Ruby side gave the route.
    pub route: u32,
    target: Target,
    path: usize,
}

/// Most targets are shorter, and need no memory of their own.
const SHORT: usize = 46;

/// Path and query.
#[derive(Debug)]
enum Target {
    Short(u8, [u8; SHORT]),
    Long(Box<str>),
}

impl Target {
    fn new(text: &str) -> Self {
        let mut short = [0; SHORT];
        match (short.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(text.as_bytes());
                Target::Short(length, short)
            }
            _ => Target::Long(text.into()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Target::Short(length, bytes) => {
                std::str::from_utf8(&bytes[..usize::from(*length)]).expect("it was made of text")
            }
            Target::Long(text) => text,
        }
    }
}

impl Request {
    /// A request that has neither a route yet nor a name and the right to answer, which it gets when the dispatcher does.
    pub(crate) fn arrived(head: Parts, peer: Peer) -> Box<Self> {
        Box::new(Self {
            id: RequestId(0),
            head,
            peer,
            route: 0,
            captures: Captures::none(),
            body: RequestBody::empty(),
            responder: Responder::none(),
        })
    }

    /// Path and query as they arrived; `*` for OPTIONS of the whole server.
    #[must_use]
    pub fn target(&self) -> &str {
        let target = self.head.uri.path_and_query();
        target.map_or("*", http::uri::PathAndQuery::as_str)
    }

    /// What stays when the request is given back.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            id: self.id,
            method: self.head.method.clone(),
            version: self.head.version,
            peer: self.peer,
            route: self.route,
            target: Target::new(self.target()),
            path: self.head.uri.path().len(),
        }
    }
}

impl Summary {
    /// Path and query as they arrived.
    #[must_use]
    pub fn target(&self) -> &str {
        self.target.as_str()
    }

    /// The path, still percent-encoded.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target().get(..self.path).unwrap_or(self.target())
    }

    /// The query, without its question mark.
    #[must_use]
    pub fn query(&self) -> &str {
        self.target().get(self.path + 1..).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_any_length_is_kept() {
        for length in [0, 1, SHORT - 1, SHORT, SHORT + 1, 300] {
            let text = format!("{}\u{fc}", "x".repeat(length));
            assert_eq!(Target::new(&text).as_str(), text);
        }
    }
}
