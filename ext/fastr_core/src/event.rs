//! What travels on the event queue, and the one-shot right to put a completion there.
//!
//! A [`Completer`] is made by whoever waits, handed to whoever works, and completes exactly once: dropped without
//! a result it completes with [`Error::Lost`], or with [`Error::NotRunning`] when the reactor was stopped, so that nobody
//! waits for ever. Rust only ever holds ids; which fiber
//! or block an id means is known to the Ruby side.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::db::{Feed, Notification, RowStream, Rows, TransactionId, Written};
use crate::error::Error;
use crate::here;
use crate::http::multipart::Part;
use crate::http::request::Request;
use crate::operations::Operations;
use crate::queue::EventQueue;
use crate::waiter::Waiter;

/// Names one pending operation. Given out by the Ruby side, never used twice in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompletionId(pub u64);

/// Names one request within a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// One thing for the dispatcher to do.
#[derive(Debug)]
pub enum Event {
    /// A request whose head arrived, matched to a route of Ruby.
    Request(Box<Request>),
    /// A pending operation has its result.
    Completion(CompletionId, Result<Outcome, Error>),
    /// The client of a request that is still being answered went away.
    Closed(RequestId),
    /// A request that somebody watches was answered: nobody has to be told any more when its client leaves.
    Answered(RequestId),
    /// Ruby callbacks wait in the Ruby-side inbox. Coalesced: at most one lies on the queue.
    Tick,
}

/// The result of an operation, in the core's own types.
#[derive(Debug)]
pub enum Outcome {
    /// It is done and has nothing to say: a timer fired, space became free.
    Done,
    /// Bytes, empty at the end of a stream.
    Bytes(Bytes),
    /// Readiness of a descriptor, as the bits of `IO::READABLE` (1), `IO::PRIORITY` (2) and `IO::WRITABLE` (4).
    Ready(u8),
    /// A host name's addresses.
    Addresses(Vec<IpAddr>),
    /// The parts of a multipart body.
    Parts(Vec<Part>),
    /// Rows, still in Rust.
    Rows(Arc<Rows>),
    /// Rows already rendered as one JSON document.
    Json(Bytes),
    /// A statement without rows changed this much.
    Written(Written),
    /// A transaction was opened.
    Transaction(TransactionId),
    /// A statement's rows, to be taken in batches; each batch arrives as `Rows`, the end as `Done`.
    Stream(RowStream),
    /// A subscription; each notification arrives as `Notified`, the end as `Done`.
    Subscription(Arc<Feed<Notification>>),
    /// One notification.
    Notified(Notification),
}

/// Where a completion goes.
#[derive(Debug)]
enum Target {
    /// To the dispatcher.
    Queue(Arc<EventQueue>),
    /// To one thread that sleeps without the GVL.
    Waiter(Arc<Waiter>),
    /// To the core itself.
    Call(Callback),
}

/// What the core does with a result that is its own.
struct Callback(Box<dyn FnOnce(Result<Outcome, Error>) + Send>);

impl fmt::Debug for Callback {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Callback")
    }
}

/// The one-shot right to complete one operation.
#[derive(Debug)]
pub struct Completer {
    id: CompletionId,
    operations: Option<Arc<Operations>>,
    target: Option<Target>,
}

impl Completer {
    /// Completes on the event queue.
    #[must_use]
    pub fn queue(queue: Arc<EventQueue>, id: CompletionId) -> Self {
        Self {
            id,
            operations: None,
            target: Some(Target::Queue(queue)),
        }
    }

    /// Completes one sleeping thread.
    #[must_use]
    pub fn waiter(waiter: Arc<Waiter>, id: CompletionId) -> Self {
        Self {
            id,
            operations: None,
            target: Some(Target::Waiter(waiter)),
        }
    }

    /// Completes a part of the core: `callback` is called on whatever thread has the result, and must be quick.
    pub(crate) fn call(callback: impl FnOnce(Result<Outcome, Error>) + Send + 'static) -> Self {
        Self {
            id: CompletionId(0),
            operations: None,
            target: Some(Target::Call(Callback(Box::new(callback)))),
        }
    }

    /// Keeps an entry in the register of cancellable operations until it completes.
    #[must_use]
    pub fn registered(mut self, operations: Arc<Operations>) -> Self {
        operations.open(self.id);
        self.operations = Some(operations);
        self
    }

    /// The id of the operation.
    #[must_use]
    pub fn id(&self) -> CompletionId {
        self.id
    }

    /// Hands the result over. Never blocks, never fails: a completion is not refused.
    pub fn complete(mut self, result: Result<Outcome, Error>) {
        self.deliver(result);
    }

    fn is_stopped(&self) -> bool {
        let operations = self.operations.as_ref();
        operations.is_some_and(|operations| operations.is_stopped())
    }

    fn deliver(&mut self, result: Result<Outcome, Error>) {
        let Some(target) = self.target.take() else {
            return;
        };
        if let Some(operations) = self.operations.take() {
            operations.finish(self.id);
        }
        match target {
            Target::Queue(queue) => here::push(&queue, Event::Completion(self.id, result)),
            Target::Waiter(waiter) => waiter.complete(result),
            Target::Call(Callback(callback)) => callback(result),
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        let error = if std::thread::panicking() {
            Error::Panicked("Rust code panicked while it worked on this operation".into())
        } else if self.is_stopped() {
            Error::NotRunning("the reactor was stopped while this operation was under way".into())
        } else {
            Error::Lost
        };
        self.deliver(Err(error));
    }
}
