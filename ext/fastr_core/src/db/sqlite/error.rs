//! SQLite's failures in the core's terms: the kind from the extended result code, the constraint from the message.

use rusqlite::ffi;

use crate::error::{DatabaseError, DatabaseErrorKind, ErrorCode};

/// SQLite's own words in front of a violated constraint's name.
const CONSTRAINT_FAILED: &str = " constraint failed: ";

/// What SQLite said about a statement.
pub(super) fn from_sqlite(error: &rusqlite::Error, sql: &str) -> DatabaseError {
    let (code, message) = match error {
        rusqlite::Error::SqliteFailure(failure, message) => (
            failure.extended_code,
            message.clone().unwrap_or_else(|| failure.to_string()),
        ),
        rusqlite::Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
        rusqlite::Error::MultipleStatement => {
            return own(
                "there is a second statement after the first; submit them one by one or use `execute_script`",
                sql,
            );
        }
        rusqlite::Error::Empty => return own("there is no statement in it", sql),
        other => return own(&other.to_string(), sql),
    };
    DatabaseError {
        kind: kind(code),
        constraint: constraint(&message),
        message: with_fix(code, message),
        sql: Some(sql.into()),
        code: Some(ErrorCode::Number(code)),
        detail: None,
        hint: None,
    }
}

/// Whether SQLite stopped because it was told to, rather than by its own account.
pub(super) fn was_stopped(error: &DatabaseError) -> bool {
    match error.code {
        Some(ErrorCode::Number(code)) => {
            matches!(code & 0xff, ffi::SQLITE_INTERRUPT | ffi::SQLITE_BUSY)
        }
        _ => false,
    }
}

fn own(message: &str, sql: &str) -> DatabaseError {
    DatabaseError {
        sql: Some(sql.into()),
        ..DatabaseError::new(DatabaseErrorKind::Query, message)
    }
}

fn kind(code: i32) -> DatabaseErrorKind {
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => return DatabaseErrorKind::Unique,
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return DatabaseErrorKind::ForeignKey,
        ffi::SQLITE_CONSTRAINT_NOTNULL => return DatabaseErrorKind::NotNull,
        ffi::SQLITE_CONSTRAINT_CHECK => return DatabaseErrorKind::Check,
        _ => {}
    }
    match code & 0xff {
        ffi::SQLITE_CONSTRAINT => DatabaseErrorKind::Constraint,
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => DatabaseErrorKind::Busy,
        ffi::SQLITE_INTERRUPT => DatabaseErrorKind::Cancelled,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_NOTADB | ffi::SQLITE_IOERR => {
            DatabaseErrorKind::Connection
        }
        _ => DatabaseErrorKind::Query,
    }
}

fn with_fix(code: i32, message: String) -> String {
    let fix = match code {
        ffi::SQLITE_BUSY_SNAPSHOT => {
            "another process wrote since this transaction's first read; run it again, or open it in immediate mode"
        }
        _ if code & 0xff == ffi::SQLITE_BUSY => {
            "another connection held the lock for longer than busy_timeout"
        }
        _ if code & 0xff == ffi::SQLITE_FULL => {
            "the disk is full; nothing of this statement was kept"
        }
        _ => return message,
    };
    format!("{message}: {fix}")
}

/// `users.email` from `UNIQUE constraint failed: users.email`, `adult` from `CHECK constraint failed: adult`.
fn constraint(message: &str) -> Option<String> {
    let (_, name) = message.split_once(CONSTRAINT_FAILED)?;
    let name = name
        .strip_prefix("index '")
        .and_then(|name| name.strip_suffix('\''))
        .unwrap_or(name);
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_named_as_sqlite_names_them() {
        let named = |message| constraint(message);
        assert_eq!(
            named("UNIQUE constraint failed: users.email").as_deref(),
            Some("users.email")
        );
        assert_eq!(
            named("UNIQUE constraint failed: t.a, t.b").as_deref(),
            Some("t.a, t.b")
        );
        assert_eq!(
            named("UNIQUE constraint failed: index 'lower_email'").as_deref(),
            Some("lower_email")
        );
        assert_eq!(named("FOREIGN KEY constraint failed"), None);
    }

    #[test]
    fn extended_codes_decide_the_kind() {
        for (code, expected) in [
            (2067, DatabaseErrorKind::Unique),
            (1555, DatabaseErrorKind::Unique),
            (787, DatabaseErrorKind::ForeignKey),
            (1299, DatabaseErrorKind::NotNull),
            (275, DatabaseErrorKind::Check),
            (1811, DatabaseErrorKind::Constraint),
            (5, DatabaseErrorKind::Busy),
            (517, DatabaseErrorKind::Busy),
            (261, DatabaseErrorKind::Busy),
            (14, DatabaseErrorKind::Connection),
            (13, DatabaseErrorKind::Query),
            (1, DatabaseErrorKind::Query),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
    }
}
