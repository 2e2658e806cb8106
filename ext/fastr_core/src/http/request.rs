//! A request as the dispatcher gets it: parsed, matched to its route, with the right to answer it.

use std::net::SocketAddr;

use http::request::Parts;

use crate::event::RequestId;
use crate::http::body::RequestBody;
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
    pub route: Option<u32>,
    /// The route's captures, decoded, in the order of its pattern.
    pub captures: Captures,
    /// The body.
    pub body: RequestBody,
    /// The right to answer.
    pub responder: Responder,
}
