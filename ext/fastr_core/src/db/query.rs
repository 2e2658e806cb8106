//! One query as a database takes it: text, binds, the shape of the answer and its limits. It owns no SQL knowledge;
//! what a statement does is guessed in [`statement`](super::statement) and decided by the database.

use std::sync::Arc;
use std::time::Duration;

use super::json::JsonOptions;
use super::rows::{TransactionId, Value};
use super::timings::Timings;

/// In which form a result with columns comes back. A statement without columns always answers
/// [`Outcome::Written`](crate::Outcome::Written).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shape {
    /// [`Outcome::Rows`](crate::Outcome::Rows): typed values, read one by one.
    #[default]
    Rows,
    /// [`Outcome::Json`](crate::Outcome::Json): one array of objects, ready to be sent.
    Json(JsonOptions),
}

/// Exactly one statement with its binds.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The statement. A second one after it is refused.
    pub sql: String,
    /// One value per placeholder, in order.
    pub binds: Vec<Value>,
    /// The form of the answer.
    pub shape: Shape,
    /// How long it may run, from the moment it has a connection; none means the database's default.
    pub timeout: Option<Duration>,
    /// The transaction it belongs to.
    pub transaction: Option<TransactionId>,
    /// A statement that only reads fails once it yields more rows than this. Nothing is cut off silently.
    pub row_limit: Option<usize>,
    /// Where to say how long its parts took, if somebody wants to know.
    pub timings: Option<Arc<Timings>>,
}

impl Query {
    /// A query without binds, limits or transaction.
    #[must_use]
    pub fn new(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            ..Self::default()
        }
    }

    /// The same query with these binds.
    #[must_use]
    pub fn binds(mut self, binds: Vec<Value>) -> Self {
        self.binds = binds;
        self
    }

    /// The same query inside a transaction.
    #[must_use]
    pub fn within(mut self, transaction: TransactionId) -> Self {
        self.transaction = Some(transaction);
        self
    }
}

/// When a transaction takes its write lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionMode {
    /// At once, so that no later statement fails because someone else wrote in between. The default.
    #[default]
    Immediate,
    /// With its first write. On SQLite that write fails with `Busy` (code 517) if another process wrote since the
    /// transaction's first read.
    Deferred,
}

/// How a transaction is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BeginOptions {
    /// When the write lock is taken.
    pub mode: TransactionMode,
    /// How long taking the lock may last once the connection is there; none means the database's default.
    pub timeout: Option<Duration>,
    /// What concurrent transactions may show it; none means the database's default. SQLite is always serializable.
    pub isolation: Option<Isolation>,
    /// Whether it only reads: a write in it fails.
    pub read_only: bool,
    /// PostgreSQL, serializable and read only: waits for a moment at which it cannot fail.
    pub deferrable: bool,
}

/// The levels of the SQL standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Sees what others have not committed yet, where the database has such a thing.
    ReadUncommitted,
    /// Each statement sees what was committed before it.
    ReadCommitted,
    /// All statements see what was committed before the first.
    RepeatableRead,
    /// As if transactions ran one after the other.
    Serializable,
}

impl Isolation {
    /// Its name in SQL.
    #[must_use]
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}
