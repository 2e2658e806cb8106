//! A request as the dispatcher gets it.

/// One request.
#[derive(Debug)]
pub struct Request {}
