//! MySQL's and MariaDB's failures in the core's terms: the kind from the error number, the constraint from the message,
//! what became of the connection.

use crate::db::server::driver::{Failure, Fate};
use crate::error::{DatabaseError, DatabaseErrorKind as Kind, ErrorCode};

/// The statement was stopped by `KILL QUERY`.
pub(super) const INTERRUPTED: u16 = 1317;

/// The server's number of a failure, if the server spoke.
pub(super) fn number(error: &sqlx::Error) -> Option<u16> {
    spoken(error).map(sqlx::mysql::MySqlDatabaseError::number)
}

/// Whether the connection is over.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    number(error).is_none_or(ends_connection)
}

/// A failed statement. `repeatable`: it certainly did not take effect, should the connection be over.
pub(super) fn failure(error: &sqlx::Error, sql: &str, repeatable: bool) -> Failure {
    let fate = if is_lost(error) {
        let was_unread = number(error).is_some_and(was_closed_before);
        Fate::Lost {
            repeatable: repeatable || was_unread || was_unsent(error),
        }
    } else {
        Fate::Usable
    };
    Failure {
        error: of_statement(error, sql),
        fate,
    }
}

/// What the server said about a statement, or what broke under it.
pub(super) fn of_statement(error: &sqlx::Error, sql: &str) -> DatabaseError {
    let sql = (!sql.is_empty()).then(|| sql.into());
    let Some(spoken) = spoken(error) else {
        let message = format!("the connection to the database broke: {}", words(error));
        return DatabaseError {
            sql,
            ..DatabaseError::new(Kind::ConnectionLost, message)
        };
    };
    let (number, message) = (spoken.number(), spoken.message());
    DatabaseError {
        kind: kind(number, spoken.code().unwrap_or_default()),
        message: with_fix(number, message),
        sql,
        code: Some(ErrorCode::Number(number.into())),
        detail: None,
        hint: None,
        constraint: constraint(number, message),
    }
}

/// It was told to stop before it reached the server.
pub(super) fn stopped(sql: &str) -> Failure {
    Failure::of_statement(DatabaseError {
        sql: Some(sql.into()),
        code: Some(ErrorCode::Number(INTERRUPTED.into())),
        ..DatabaseError::new(Kind::Cancelled, "the statement was stopped before it began")
    })
}

/// Why no connection came about.
pub(super) fn of_connecting(error: &sqlx::Error, server: &str) -> DatabaseError {
    let said = match spoken(error) {
        Some(spoken) => spoken.message().to_owned(),
        None => words(error),
    };
    let (kind, fix) = match (error, number(error)) {
        (_, Some(number)) => connecting(number),
        (sqlx::Error::Io(io), _) if io.kind() == std::io::ErrorKind::ConnectionRefused => (
            Kind::Refused,
            "; start the server, or correct host and port",
        ),
        (sqlx::Error::Io(io), _) if io.kind() == std::io::ErrorKind::NotFound => (
            Kind::Refused,
            "; start the server, or correct the socket's path",
        ),
        _ if said.contains("certificate") || matches!(error, sqlx::Error::Tls(_)) => (
            Kind::Connection,
            "; name the server's certificate authority (ssl-ca), or choose another ssl-mode",
        ),
        _ if said.contains("authentication plugin") => (
            Kind::Authentication,
            "; let the user in by mysql_native_password or caching_sha2_password (ALTER USER … IDENTIFIED VIA \
             mysql_native_password)",
        ),
        _ => (Kind::Connection, ""),
    };
    let message = format!("cannot connect to {server}: {said}{fix}");
    let code = number(error).map(|number| ErrorCode::Number(number.into()));
    DatabaseError {
        code,
        ..DatabaseError::new(kind, message)
    }
}

/// The kind of a refused connection, and the way out.
fn connecting(number: u16) -> (Kind, &'static str) {
    match number {
        1045 | 1698 | 3118 | 3159 | 4151 => (Kind::Authentication, "; check user and password"),
        1044 => (
            Kind::Authentication,
            "; grant the user access to this database",
        ),
        1049 => (
            Kind::Connection,
            "; create the database, or correct its name",
        ),
        1040 | 1203 | 1226 => (
            Kind::Connection,
            "; use fewer connections (pool size times processes), or raise max_connections",
        ),
        1129 => (
            Kind::Connection,
            "; the server's administrator unblocks it by FLUSH HOSTS",
        ),
        _ => (Kind::Connection, ""),
    }
}

fn spoken(error: &sqlx::Error) -> Option<&sqlx::mysql::MySqlDatabaseError> {
    error.as_database_error()?.try_downcast_ref()
}

/// sqlx's words without its own introduction.
fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Tls(error) | sqlx::Error::Configuration(error) => error.to_string(),
        sqlx::Error::Protocol(text) => text.clone(),
        other => other.to_string(),
    }
}

fn kind(number: u16, state: &str) -> Kind {
    match number {
        1022 | 1062 | 1169 | 1586 | 1859 => Kind::Unique,
        1216 | 1217 | 1451 | 1452 | 1557 | 1761 | 1762 => Kind::ForeignKey,
        1048 | 1364 | 1263 | 1566 => Kind::NotNull,
        3819 => Kind::Check,
        // MySQL uses this number for something else.
        4025 if state == "23000" => Kind::Check,
        1213 | 1614 => Kind::Deadlock,
        1205 | 3572 => Kind::LockTimeout,
        1020 => Kind::Serialization,
        INTERRUPTED => Kind::Cancelled,
        1969 | 3024 => Kind::QueryTimeout,
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 | 1698 => Kind::Query,
        number if ends_connection(number) => Kind::ConnectionLost,
        _ if state.starts_with("23") => Kind::Constraint,
        _ => Kind::Query,
    }
}

/// The server closes the connection with these.
fn ends_connection(number: u16) -> bool {
    matches!(
        number,
        1053 | 1077..=1080 | 1152..=1161 | 1184 | 1927 | 2006 | 2013 | 2055 | 3032 | 3169 | 4031
    )
}

/// It said good-bye while the connection idled, before it read the statement.
fn was_closed_before(number: u16) -> bool {
    number == 4031
}

/// The statement could not even be written in full.
fn was_unsent(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe)
}

fn with_fix(number: u16, message: &str) -> String {
    let fix = match number {
        1153 => {
            "the server takes no larger packets; raise its max_allowed_packet, or send less at once"
        }
        1205 => "another transaction held the lock for longer than innodb_lock_wait_timeout",
        1213 => "two transactions waited for each other and this one was rolled back; run it again",
        1020 => "somebody else changed the row since this transaction first read; run it again",
        1461 => "lower statement_cache, or raise max_prepared_stmt_count",
        1792 => "the transaction was opened with read_only",
        1290 | 1836 => "this server takes no writes now; send them to the primary",
        _ => return message.into(),
    };
    format!("{message}: {fix}")
}

/// The name of the violated key or constraint, as the message has it.
fn constraint(number: u16, message: &str) -> Option<String> {
    let name = match number {
        1062 | 1586 | 1859 => between(message, "for key '", "'"),
        1451 | 1452 => between(message, "CONSTRAINT `", "`"),
        3819 => between(message, "constraint '", "'"),
        4025 => between(message, "CONSTRAINT `", "`"),
        1048 => between(message, "Column '", "'"),
        1364 => between(message, "Field '", "'"),
        _ => None,
    };
    name.map(Into::into)
}

fn between<'a>(message: &'a str, before: &str, after: &str) -> Option<&'a str> {
    // The last one: what stands before it may be the text of a value.
    let (_, rest) = message.rsplit_once(before)?;
    rest.split_once(after).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_named_as_the_messages_name_them() {
        for (number, message, name) in [
            (
                1062,
                "Duplicate entry 'a for key 'b'' for key 'users.email'",
                Some("users.email"),
            ),
            (
                1452,
                "Cannot add or update a child row: a foreign key constraint fails (`d`.`c`, CONSTRAINT `c_ibfk_1` FOREIGN KEY (`p`) REFERENCES `p` (`id`))",
                Some("c_ibfk_1"),
            ),
            (4025, "CONSTRAINT `adult` failed for `d`.`t`", Some("adult")),
            (3819, "Check constraint 'adult' is violated.", Some("adult")),
            (1048, "Column 'a' cannot be null", Some("a")),
            (
                1205,
                "Lock wait timeout exceeded; try restarting transaction",
                None,
            ),
        ] {
            assert_eq!(constraint(number, message).as_deref(), name, "{message}");
        }
    }

    #[test]
    fn numbers_decide_the_kind() {
        for (number, state, expected) in [
            (1062, "23000", Kind::Unique),
            (1451, "23000", Kind::ForeignKey),
            (1048, "23000", Kind::NotNull),
            (4025, "23000", Kind::Check),
            (4025, "HY000", Kind::Query),
            (1213, "40001", Kind::Deadlock),
            (1205, "HY000", Kind::LockTimeout),
            (1317, "70100", Kind::Cancelled),
            (3024, "HY000", Kind::QueryTimeout),
            (1927, "70100", Kind::ConnectionLost),
            (1064, "42000", Kind::Query),
            (9999, "23000", Kind::Constraint),
        ] {
            assert_eq!(kind(number, state), expected, "{number}");
        }
    }
}
