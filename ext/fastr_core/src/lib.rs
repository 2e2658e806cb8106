//! The core of fastr: reactor, event queue, HTTP server and database drivers. It never names Ruby.
//!
//! Start reading at [`queue`] (what waits for the dispatcher) and [`reactor`] (who fills it), then follow a request
//! through [`http`] and a query through [`db`].

pub mod db;
pub mod error;
pub mod event;
pub mod http;
pub mod operations;
pub mod outbox;
pub mod queue;
pub mod reactor;
pub mod waiter;

mod here;
mod stage;
mod sync;

pub use error::Error;
pub use event::{Completer, CompletionId, Event, Outcome, RequestId};
