//! The one error type of the core. It owns kinds and messages; which Ruby class each becomes is the binding's
//! business. Callers match on the variant, never on the text.

use std::fmt;

/// What went wrong, in the terms of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A listening socket could not be opened; the text names the address and the way out.
    Bind(String),
    /// Something was asked of a reactor that is not running, or was inherited through `fork`.
    NotRunning(String),
    /// The operation was cancelled: by its caller, or because the client of its request left.
    Cancelled,
    /// The time limit of the operation passed.
    TimedOut(String),
    /// The answer to this request was already given.
    AlreadySent,
    /// A streamed answer is longer or shorter than its head declares.
    WrongLength(String),
    /// The client closed its connection.
    Disconnected,
    /// The client sent something malformed; the status is the one to answer with.
    BadRequest {
        /// The HTTP status to answer with (400, 408, 413, 415, 431 …).
        status: u16,
        /// What was wrong, safe to show to the client.
        reason: String,
    },
    /// An operating-system call failed.
    Io(String),
    /// An argument cannot be used; the text names the fix.
    Invalid(String),
    /// The database did not do what was asked.
    Database(Box<DatabaseError>),
    /// Rust code panicked; the request or completion it served ends with this.
    Panicked(String),
    /// The operation's owner went away without a result. Seeing it is a bug, but never a hang.
    Lost,
}

/// The kinds of database failure a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseErrorKind {
    /// The database could not be opened or reached.
    Connection,
    /// Nobody listens at the server's address.
    Refused,
    /// The server does not let this user in.
    Authentication,
    /// The connection broke while the statement ran: whether it took effect is unknown.
    ConnectionLost,
    /// No connection became free in time.
    PoolTimeout,
    /// The statement was refused: syntax, unknown table, wrong type.
    Query,
    /// A unique index or primary key would hold a value twice.
    Unique,
    /// A foreign key points nowhere.
    ForeignKey,
    /// NULL where a column refuses it.
    NotNull,
    /// A CHECK constraint was false.
    Check,
    /// A constraint of another kind.
    Constraint,
    /// The database was locked by someone else for longer than the limit.
    Busy,
    /// A lock was not given within the database's own limit for locks.
    LockTimeout,
    /// Two transactions waited for each other, and this one was chosen to give way.
    Deadlock,
    /// The transaction cannot be ordered among the concurrent ones.
    Serialization,
    /// The query ran longer than its limit and was stopped.
    QueryTimeout,
    /// The query was stopped on request.
    Cancelled,
    /// A value could not be read.
    Decode,
    /// The transaction was already finished, or was rolled back for idling.
    TransactionClosed,
}

/// A database failure: what kind, what the database said, and the statement it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseError {
    /// The kind a caller can act on.
    pub kind: DatabaseErrorKind,
    /// The database's own words, completed with the fix where one is known.
    pub message: String,
    /// The statement, if the failure belongs to one. Binds are never part of it.
    pub sql: Option<String>,
    /// The database's own code.
    pub code: Option<ErrorCode>,
    /// What the database adds to its message (PostgreSQL's DETAIL).
    pub detail: Option<String>,
    /// What the database recommends (PostgreSQL's HINT).
    pub hint: Option<String>,
    /// The violated constraint (`users.email`, or a constraint's name), where the database names it.
    pub constraint: Option<String>,
}

impl DatabaseError {
    /// An error of `kind` that belongs to no statement.
    #[must_use]
    pub fn new(kind: DatabaseErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            sql: None,
            code: None,
            detail: None,
            hint: None,
            constraint: None,
        }
    }
}

/// A database's own code for a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorCode {
    /// A number: SQLite's extended result code, MySQL's error number.
    Number(i32),
    /// PostgreSQL's SQLSTATE.
    State(String),
}

impl From<DatabaseError> for Error {
    fn from(error: DatabaseError) -> Self {
        Error::Database(Box::new(error))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Io(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bind(text)
            | Error::NotRunning(text)
            | Error::TimedOut(text)
            | Error::Io(text)
            | Error::Invalid(text)
            | Error::WrongLength(text)
            | Error::Panicked(text) => out.write_str(text),
            Error::Cancelled => out.write_str("cancelled"),
            Error::AlreadySent => {
                out.write_str("this request was already answered; the first answer stands")
            }
            Error::Disconnected => out.write_str("the client closed its connection"),
            Error::BadRequest { reason, .. } => out.write_str(reason),
            Error::Database(error) => out.write_str(&error.message),
            Error::Lost => out.write_str(
                "the operation ended without a result (a bug in fastr, please report it)",
            ),
        }
    }
}

impl std::error::Error for Error {}
