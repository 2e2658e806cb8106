//! PostgreSQL's failures in the core's terms: the kind from the SQLSTATE, what became of the connection, and the fix
//! where one is known.

use std::io;

use super::answer::Ending;
use super::wire::{Fault, Report};
use crate::db::server::driver::{Failure, Fate};
use crate::error::{DatabaseError, DatabaseErrorKind, ErrorCode};

/// How far a statement had come when its connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// It was not even sent.
    Nothing,
    /// It was being prepared: nothing of it ran.
    Preparation,
    /// It was sent. PostgreSQL commits it only after its last message, and answers after that.
    Execution {
        /// Whether it is one that leaves nothing behind unless it ends well, or nothing at all.
        is_read: bool,
        /// Whether it runs within one transaction, which a server that shuts down rolls back.
        is_atomic: bool,
    },
    /// A part of its answer was here.
    Answer,
}

/// An error that fastr itself raises about a statement; nothing of it was sent.
pub(super) fn refused(message: impl Into<String>, sql: &str) -> Failure {
    about(DatabaseErrorKind::Query, message, sql)
}

/// A failure after which the connection goes on.
pub(super) fn about(kind: DatabaseErrorKind, message: impl Into<String>, sql: &str) -> Failure {
    Failure::of_statement(DatabaseError {
        sql: Some(sql.into()),
        ..DatabaseError::new(kind, message)
    })
}

/// What the caller is told whose statement reads more than it wants.
pub(super) fn too_many_rows(limit: usize) -> String {
    format!("the result has more than {limit} rows; select fewer, or take them in batches")
}

/// What became of a statement and its connection.
pub(super) fn of_statement(ending: Ending, sql: &str, reached: Reached) -> Failure {
    let fault = match ending {
        Ending::Refused(kind, sentence) => return about(kind, sentence, sql),
        Ending::Fault(fault) => fault,
    };
    let fate = fate(&fault, reached);
    let error = DatabaseError {
        sql: Some(sql.into()),
        ..match fault {
            Fault::Server(report) => from_server(*report, Some(sql), fate != Fate::Usable),
            Fault::Io(error) => DatabaseError::new(
                DatabaseErrorKind::ConnectionLost,
                format!("the connection to PostgreSQL broke: {}", broken(&error)),
            ),
            Fault::Protocol(reason) | Fault::Tls(reason) => DatabaseError::new(
                DatabaseErrorKind::ConnectionLost,
                format!("PostgreSQL's answer was not understood: {reason}"),
            ),
        }
    };
    Failure { error, fate }
}

/// Why a connection could not be opened.
pub(super) fn of_connecting(fault: Fault, server: &str) -> DatabaseError {
    match fault {
        Fault::Server(report) => {
            let mut error = from_server(*report, None, false);
            if !matches!(error.kind, DatabaseErrorKind::Authentication) {
                error.kind = DatabaseErrorKind::Connection;
            }
            error.message = format!("{server} refuses the connection: {}", error.message);
            error
        }
        Fault::Io(error) => {
            let kind = match error.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                    DatabaseErrorKind::Refused
                }
                _ => DatabaseErrorKind::Connection,
            };
            let message = if kind == DatabaseErrorKind::Refused {
                format!("nobody listens at {server}: {error}; is PostgreSQL running there?")
            } else {
                format!("cannot reach {server}: {}", broken(&error))
            };
            DatabaseError::new(kind, message)
        }
        Fault::Tls(reason) => without_tls(server, &reason),
        Fault::Protocol(reason) => DatabaseError::new(
            DatabaseErrorKind::Connection,
            format!("cannot connect to {server}: {reason}"),
        ),
    }
}

fn without_tls(server: &str, reason: &str) -> DatabaseError {
    DatabaseError::new(
        DatabaseErrorKind::Connection,
        format!(
            "cannot speak TLS with {server}: {reason}; give the file of the authority by sslrootcert, or choose \
             another sslmode"
        ),
    )
}

/// Whether the prepared form of a statement is what failed, because the schema changed or somebody deallocated it.
pub(super) fn is_stale(error: &DatabaseError) -> bool {
    match &error.code {
        Some(ErrorCode::State(state)) if state == "26000" => true,
        Some(ErrorCode::State(state)) => {
            state == "0A000" && error.message.starts_with("cached plan")
        }
        _ => false,
    }
}

/// An `Io` error's words; the one for an end of file says nothing to a reader.
fn broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed it".into(),
        _ => error.to_string(),
    }
}

/// May the pool repeat it? Only if the statement certainly had no effect:
///
/// - while it was prepared, nothing of it ran;
/// - a pipe that is broken took none of the last message, without which nothing is committed;
/// - a server that says it shuts down answers that instead of the statement, which it rolled back if it had begun. That
///   holds for statements within one transaction; `CALL`, `DO` and `VACUUM` may have committed something before;
/// - a connection that just ends may have ended after the commit and before its answer, so only reads are repeated.
fn fate(fault: &Fault, reached: Reached) -> Fate {
    let lost = |repeatable| Fate::Lost { repeatable };
    let (is_read, is_atomic) = match reached {
        Reached::Nothing if fault.is_final() => return lost(true),
        Reached::Nothing | Reached::Preparation => (true, true),
        Reached::Execution { is_read, is_atomic } => (is_read, is_atomic),
        Reached::Answer => (false, false),
    };
    match fault {
        Fault::Server(report) if !report.is_fatal => Fate::Usable,
        Fault::Server(report) => lost(
            is_atomic && matches!(report.state.as_str(), "57P01" | "57P02" | "57P03" | "57P05"),
        ),
        Fault::Io(error) => match error.kind() {
            io::ErrorKind::BrokenPipe => lost(is_atomic),
            _ => lost(is_read),
        },
        Fault::Tls(_) | Fault::Protocol(_) => lost(false),
    }
}

fn from_server(report: Report, sql: Option<&str>, is_ended: bool) -> DatabaseError {
    let kind = match kind(&report.state, &report.message) {
        DatabaseErrorKind::Query if is_ended => DatabaseErrorKind::ConnectionLost,
        kind => kind,
    };
    let constraint = match kind {
        DatabaseErrorKind::NotNull => report.column.map(|column| match report.table {
            Some(table) => format!("{table}.{column}"),
            None => column,
        }),
        _ => report.constraint,
    };
    let mut message = report.message;
    if let Some(fix) = fix(&report.state, &message) {
        message = format!("{message}: {fix}");
    }
    if let (Some(sql), Some(position)) = (sql, report.position)
        && let Some(place) = place(sql, position)
    {
        message = format!("{message}\n{place}");
    }
    DatabaseError {
        message,
        code: Some(ErrorCode::State(report.state)),
        detail: report.detail,
        hint: report.hint,
        constraint,
        ..DatabaseError::new(kind, "")
    }
}

fn kind(state: &str, message: &str) -> DatabaseErrorKind {
    match state {
        "23505" => DatabaseErrorKind::Unique,
        "23503" => DatabaseErrorKind::ForeignKey,
        "23502" => DatabaseErrorKind::NotNull,
        "23514" => DatabaseErrorKind::Check,
        "40001" => DatabaseErrorKind::Serialization,
        "40P01" => DatabaseErrorKind::Deadlock,
        "55P03" => DatabaseErrorKind::LockTimeout,
        "57014" if message.contains("statement timeout") => DatabaseErrorKind::QueryTimeout,
        "57014" => DatabaseErrorKind::Cancelled,
        "25P03" => DatabaseErrorKind::TransactionClosed,
        "3D000" | "57P03" | "53300" => DatabaseErrorKind::Connection,
        "57P01" | "57P02" | "57P04" | "57P05" => DatabaseErrorKind::ConnectionLost,
        _ => match state.get(..2) {
            Some("23") => DatabaseErrorKind::Constraint,
            Some("28") => DatabaseErrorKind::Authentication,
            Some("08") => DatabaseErrorKind::ConnectionLost,
            _ => DatabaseErrorKind::Query,
        },
    }
}

fn fix(state: &str, message: &str) -> Option<&'static str> {
    Some(match state {
        "25P02" => {
            "an earlier statement of this transaction failed, and PostgreSQL ignores all others until it is rolled \
             back; put what may fail between SAVEPOINT and ROLLBACK TO"
        }
        "25P03" => "the transaction was open for too long without a statement",
        "0A000" if message.starts_with("cached plan") => {
            "a table changed since the statement was prepared; roll the transaction back and run it again, or name \
             the columns instead of *"
        }
        "42P18" => "say what type it is, as in ?::text",
        "42601" if message.contains("multiple commands") => {
            "there is a second statement after the first; submit them one by one or use `execute_script`"
        }
        "53300" => {
            "all connections of the server are taken; lower the pool's size or raise max_connections"
        }
        "42P05" | "26000" => {
            "a pooler between here and the server mixes its connections; add pgbouncer=true to the URL"
        }
        _ => return None,
    })
}

/// The line of an error with a caret below its character; the position counts characters from 1.
fn place(sql: &str, position: usize) -> Option<String> {
    const WIDTH: usize = 60;
    let before: String = sql.chars().take(position.checked_sub(1)?).collect();
    let number = before.matches('\n').count() + 1;
    let line = sql.lines().nth(number - 1)?;
    let column = before.rsplit('\n').next()?.chars().count();
    // A long line is shown around the place.
    let skipped = column.saturating_sub(WIDTH / 2);
    let shown: String = line.chars().skip(skipped).take(WIDTH).collect();
    let head = format!("LINE {number}: {}", if skipped > 0 { "…" } else { "" });
    let indent = head.chars().count() + column - skipped;
    Some(format!(
        "{head}{}\n{:indent$}^",
        shown.replace('\t', " "),
        ""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_stands_below_the_place() {
        let place = place("select 1,\n  wrong from t", 13).unwrap();
        assert_eq!(place, "LINE 2:   wrong from t\n          ^");
    }

    #[test]
    fn a_position_beyond_the_text_is_no_panic() {
        assert_eq!(place("", 5), None);
        assert!(place("select", 99).is_some());
        assert_eq!(place("select", 0), None);
    }

    #[test]
    fn states_decide_the_kind() {
        for (state, expected) in [
            ("23505", DatabaseErrorKind::Unique),
            ("23P01", DatabaseErrorKind::Constraint),
            ("28P01", DatabaseErrorKind::Authentication),
            ("08006", DatabaseErrorKind::ConnectionLost),
            ("42703", DatabaseErrorKind::Query),
            ("", DatabaseErrorKind::Query),
        ] {
            assert_eq!(kind(state, ""), expected, "{state}");
        }
        let timeout = "canceling statement due to statement timeout";
        assert_eq!(kind("57014", timeout), DatabaseErrorKind::QueryTimeout);
        assert_eq!(
            kind("57014", "due to user request"),
            DatabaseErrorKind::Cancelled
        );
    }
}
