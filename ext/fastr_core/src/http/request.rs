//! A request as the dispatcher gets it: parsed, matched to its route, with the right to answer it.
//!
//! Its head lies in the buffer that the connection read it into. The answer takes the head back to the reactor, so
//! that the buffer is free for the next request however long Ruby keeps the object; method and target stay.

use std::net::SocketAddr;
use std::sync::LazyLock;

use http::request::Parts;
use http::{HeaderMap, Method, Uri, Version};

use crate::event::RequestId;
use crate::http::body::RequestBody;
use crate::http::responder::Responder;
use crate::http::routes::Captures;

static NO_HEADERS: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

/// Where a connection came from and arrived.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// The client's address.
    pub remote: SocketAddr,
    /// The address the client reached us at.
    pub local: SocketAddr,
}

#[derive(Debug)]
enum Head {
    Whole(Box<Parts>),
    Spent(Box<(Method, Version, Uri)>),
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// Its name within the process.
    pub id: RequestId,
    head: Head,
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

impl Request {
    pub(crate) fn new(
        id: RequestId,
        head: Parts,
        peer: Peer,
        (route, captures): (u32, Captures),
        body: RequestBody,
        responder: Responder,
    ) -> Self {
        let head = Head::Whole(Box::new(head));
        Self {
            id,
            head,
            peer,
            route,
            captures,
            body,
            responder,
        }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        match &self.head {
            Head::Whole(parts) => &parts.method,
            Head::Spent(spent) => &spent.0,
        }
    }

    /// The protocol version.
    #[must_use]
    pub fn version(&self) -> Version {
        match &self.head {
            Head::Whole(parts) => parts.version,
            Head::Spent(spent) => spent.1,
        }
    }

    /// The target as it arrived.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        match &self.head {
            Head::Whole(parts) => &parts.uri,
            Head::Spent(spent) => &spent.2,
        }
    }

    /// The header fields; none once the request is answered.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        match &self.head {
            Head::Whole(parts) => &parts.headers,
            Head::Spent(_) => &NO_HEADERS,
        }
    }

    /// Gives the head up, keeping copies of method and target.
    pub fn release_head(&mut self) -> Option<Box<Parts>> {
        let Head::Whole(parts) = &self.head else {
            return None;
        };
        let target = parts.uri.to_string().parse().unwrap_or_default();
        let spent = (parts.method.clone(), parts.version, target);
        match std::mem::replace(&mut self.head, Head::Spent(Box::new(spent))) {
            Head::Whole(parts) => Some(parts),
            Head::Spent(_) => None,
        }
    }
}
