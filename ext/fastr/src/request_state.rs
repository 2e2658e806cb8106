//! A request before and after its answer: what Ruby can still ask of it.

use fastr_core::RequestId;
use fastr_core::http::request::{Peer, Request, Summary};
use http::{HeaderMap, Method, Version};

use crate::owned::Owned;

/// A request before its answer is complete, and what is left of it then.
pub(crate) enum State {
    Open(Owned<Box<Request>>),
    Answered(Summary),
}

impl State {
    pub(crate) fn id(&self) -> RequestId {
        match self {
            State::Open(request) => request.id,
            State::Answered(summary) => summary.id,
        }
    }

    pub(crate) fn method(&self) -> &Method {
        match self {
            State::Open(request) => &request.head.method,
            State::Answered(summary) => &summary.method,
        }
    }

    pub(crate) fn version(&self) -> Version {
        match self {
            State::Open(request) => request.head.version,
            State::Answered(summary) => summary.version,
        }
    }

    pub(crate) fn target(&self) -> &str {
        match self {
            State::Open(request) => request.target(),
            State::Answered(summary) => summary.target(),
        }
    }

    pub(crate) fn path(&self) -> &str {
        match self {
            State::Open(request) => request.head.uri.path(),
            State::Answered(summary) => summary.path(),
        }
    }

    pub(crate) fn query(&self) -> &str {
        match self {
            State::Open(request) => request.head.uri.query().unwrap_or(""),
            State::Answered(summary) => summary.query(),
        }
    }

    pub(crate) fn peer(&self) -> Peer {
        match self {
            State::Open(request) => request.peer,
            State::Answered(summary) => summary.peer,
        }
    }

    pub(crate) fn route(&self) -> u32 {
        match self {
            State::Open(request) => request.route,
            State::Answered(summary) => summary.route,
        }
    }

    /// The header fields; none once the answer is complete.
    pub(crate) fn headers(&self) -> Option<&HeaderMap> {
        match self {
            State::Open(request) => Some(&request.head.headers),
            State::Answered(_) => None,
        }
    }
}
