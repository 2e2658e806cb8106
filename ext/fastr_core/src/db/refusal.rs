//! What fastr itself says about a statement, whatever the database: why it may not run, why it was stopped, and what
//! became of its transaction.

use std::time::Duration;

use super::backend::Stats;
use super::statement::Statement;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// How much of a statement an error message shows.
const SHOWN_SQL: usize = 200;

/// An error that fastr itself raises about a statement.
pub(super) fn refused(kind: DatabaseErrorKind, message: impl Into<String>, sql: &str) -> Error {
    DatabaseError {
        sql: Some(sql.into()),
        ..DatabaseError::new(kind, message)
    }
    .into()
}

/// Refuses what would leave its connection in a state that the next user of the connection must not meet.
pub(super) fn check(statement: Statement, sql: &str, is_in_transaction: bool) -> Result<(), Error> {
    let fix = match statement {
        Statement::Transaction => {
            "BEGIN, COMMIT and ROLLBACK are not statements of their own here, because the next statement may run on \
             another connection; use `transaction`"
        }
        Statement::Savepoint if !is_in_transaction => {
            "a savepoint exists only inside a transaction; use `transaction`"
        }
        _ => return Ok(()),
    };
    Err(refused(DatabaseErrorKind::Query, fix, sql))
}

/// The answer to an operation that was cancelled.
pub(super) fn cancelled(sql: &str) -> Error {
    refused(
        DatabaseErrorKind::Cancelled,
        "the operation was cancelled",
        sql,
    )
}

/// The answer to a statement that was stopped by its time limit.
pub(super) fn timed_out(limit: Duration, sql: &str) -> Error {
    let message = format!(
        "the statement ran longer than its limit of {}",
        seconds(limit)
    );
    refused(DatabaseErrorKind::QueryTimeout, message, sql)
}

/// The answer to an operation that nobody could serve: `what` happened, these are the numbers, and this held the
/// connections.
pub(super) fn exhausted(what: &str, stats: &Stats, holder: &str, sql: &str) -> Error {
    let message = format!(
        "{what}: size {}, busy {}, waiting {}; {holder}",
        stats.size, stats.busy, stats.waiting
    );
    refused(DatabaseErrorKind::PoolTimeout, message, sql)
}

/// Why an open transaction was rolled back without being asked.
pub(super) fn idled(limit: Duration) -> String {
    format!(
        "it was rolled back because it had no statement for {} (idle_in_transaction)",
        seconds(limit)
    )
}

/// A statement that ended the transaction it ran in.
pub(super) fn ended_inside(sql: &str) -> Error {
    refused(
        DatabaseErrorKind::TransactionClosed,
        "this ended the transaction it ran in; leave COMMIT and ROLLBACK to `transaction`",
        sql,
    )
}

/// A statement that opened a transaction by the way.
pub(super) fn left_open(sql: &str) -> Error {
    refused(
        DatabaseErrorKind::Query,
        "this left a transaction open, which was rolled back; use `transaction`",
        sql,
    )
}

/// What an answer says when the database was closed.
pub(super) const CLOSED: &str = "the database was closed";

/// A duration as messages show it: short ones with more digits, or a limit of 20 ms would read as none.
pub(super) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 0.1 {
        format!("{seconds:.3} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// As much of a statement as messages show.
pub(super) fn shown(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN_SQL) {
        Some((end, _)) => format!("{}…", &sql[..end]),
        None => sql.into(),
    }
}
