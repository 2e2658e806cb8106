//! What the caller is told about a statement that ran, and what becomes of its connection. It decides and does nothing.

use super::driver::{Failure, Fate};
use super::job::{Task, Ticket};
use super::stopping::{Ran, Stop};
use crate::db::refusal::refused;
use crate::db::statement::{Statement, classify};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::Outcome;

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// It goes on.
    GoOn,
    /// It is thrown away; nothing is wrong with the others.
    ThrowAway,
    /// It broke, and most likely the others, too.
    Lost,
    /// It was dead before it got the statement, which is repeated on a fresh one.
    Repeat,
}

/// The judgement on a statement that ran.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) result: Result<Outcome, Error>,
    pub(super) then: Then,
}

impl Verdict {
    pub(super) fn new(result: Result<Outcome, Error>, then: Then) -> Self {
        Self { result, then }
    }
}

/// Judges. `may_repeat` says that the statement stands alone and was not repeated before.
pub(super) fn judge(ticket: &Ticket, task: &Task, ran: Ran, may_repeat: bool) -> Verdict {
    match (ran.result, ran.stop) {
        (None, stop) => stuck(ticket, stop),
        (Some(Ok(outcome)), None) => Verdict::new(Ok(outcome), Then::GoOn),
        (Some(Ok(outcome)), Some(stop)) => {
            Verdict::new(too_late(ticket, task, outcome, stop), Then::GoOn)
        }
        (Some(Err(failure)), stop) => failed(ticket, task, failure, stop, may_repeat),
    }
}

/// It was stopped, and did not even end then.
pub(super) fn stuck(ticket: &Ticket, stop: Option<Stop>) -> Verdict {
    let error = stop.unwrap_or(Stop::Cancelled).error(ticket);
    let error = match error {
        Error::Database(mut error) => {
            error.message += "; the server did not confirm that, so whether the statement took effect is unknown";
            Error::Database(error)
        }
        other => other,
    };
    Verdict::new(Err(error), Then::ThrowAway)
}

/// It was stopped, but had succeeded before, or says so. What took effect is told; what only reads or opens is not
/// wanted any more (and MySQL's `sleep` answers a row when it is stopped).
fn too_late(ticket: &Ticket, task: &Task, outcome: Outcome, stop: Stop) -> Result<Outcome, Error> {
    let is_unwanted = match task {
        Task::Begin(_) => true,
        Task::Query => classify(&ticket.query.sql) == Statement::Read,
        _ => false,
    };
    if is_unwanted {
        return Err(stop.error(ticket));
    }
    Ok(outcome)
}

fn failed(
    ticket: &Ticket,
    task: &Task,
    failure: Failure,
    stop: Option<Stop>,
    may_repeat: bool,
) -> Verdict {
    let Failure { error, fate } = failure;
    let then = match fate {
        Fate::Lost { repeatable: true } if may_repeat && stop.is_none() => Then::Repeat,
        Fate::Lost { .. } => Then::Lost,
        // A transaction that was opened half way may have left its level behind.
        Fate::Usable if matches!(task, Task::Begin(_)) => Then::ThrowAway,
        Fate::Usable => Then::GoOn,
    };
    let error = match (stop, fate) {
        (Some(stop), Fate::Lost { .. }) => stop.error(ticket),
        (Some(stop), Fate::Usable) if was_stopped(&error) => stop.error(ticket),
        (_, Fate::Lost { repeatable }) => lost(&error.message, repeatable, &ticket.query.sql),
        (_, Fate::Usable) => error.into(),
    };
    Verdict::new(Err(error), then)
}

/// Whether the database stopped because it was told to, rather than by its own account.
pub(super) fn was_stopped(error: &DatabaseError) -> bool {
    matches!(
        error.kind,
        DatabaseErrorKind::Cancelled | DatabaseErrorKind::QueryTimeout
    )
}

fn lost(message: &str, repeatable: bool, sql: &str) -> Error {
    let effect = if repeatable {
        "the statement did not take effect"
    } else {
        "whether the statement took effect is unknown"
    };
    let message = format!("the connection was lost ({message}); {effect}");
    refused(DatabaseErrorKind::ConnectionLost, message, sql)
}
