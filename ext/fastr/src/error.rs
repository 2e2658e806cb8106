//! The core's errors as Ruby exceptions: which class each becomes, and the edge where panics stop.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastr_core::Error as CoreError;
use fastr_core::error::{DatabaseError, DatabaseErrorKind, ErrorCode};
use magnus::prelude::*;
use magnus::{Error, Exception, ExceptionClass, RModule, Ruby, kwargs};

/// Runs a binding method's body; a panic in it becomes an ordinary `Fastr::InternalError`, which `rescue` can catch.
pub(crate) fn guard<T>(body: impl FnOnce(&Ruby) -> Result<T, Error>) -> Result<T, Error> {
    let ruby = Ruby::get().expect("binding methods run on Ruby threads with the GVL");
    match catch_unwind(AssertUnwindSafe(|| body(&ruby))) {
        Ok(result) => result,
        Err(panic) => Err(raise(&ruby, &CoreError::Panicked(panic_text(&*panic)))),
    }
}

/// None for what Ruby refused by an exception of this class. Any other is not about the call: another thread's kill or
/// raise, a time limit and a `throw` arrive while Ruby code runs, and go on to where they were meant.
pub(crate) fn refusable<T>(
    class: ExceptionClass,
    result: Result<T, Error>,
) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_kind_of(class) => Ok(None),
        Err(error) => Err(error),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("Rust code panicked: {}", text.unwrap_or("no message"))
}

/// The error to return to magnus.
pub(crate) fn raise(ruby: &Ruby, error: &CoreError) -> Error {
    match exception(ruby, error) {
        Ok(exception) => Error::from(exception),
        Err(error) => error,
    }
}

/// The exception object for an error.
pub(crate) fn exception(ruby: &Ruby, error: &CoreError) -> Result<Exception, Error> {
    let message = error.to_string();
    match error {
        CoreError::BadRequest { status, .. } => {
            class(ruby, "Fastr", "RequestError")?.new_instance((message, *status))
        }
        CoreError::Database(error) => database(ruby, error),
        CoreError::Invalid(_) => ruby.exception_arg_error().new_instance((message,)),
        other => class(ruby, "Fastr", name(other))?.new_instance((message,)),
    }
}

fn name(error: &CoreError) -> &'static str {
    match error {
        CoreError::Bind(_) => "BindError",
        CoreError::NotRunning(_) => "ReactorError",
        CoreError::Cancelled => "CancelledError",
        CoreError::TimedOut(_) => "TimeoutError",
        CoreError::AlreadySent => "AlreadySentError",
        CoreError::WrongLength(_) => "ResponseError",
        CoreError::Disconnected => "DisconnectedError",
        CoreError::Lost | CoreError::Panicked(_) => "InternalError",
        CoreError::Io(_)
        | CoreError::BadRequest { .. }
        | CoreError::Invalid(_)
        | CoreError::Database(_) => "Error",
    }
}

fn database(ruby: &Ruby, error: &DatabaseError) -> Result<Exception, Error> {
    let name = match error.kind {
        DatabaseErrorKind::Connection => "ConnectionError",
        DatabaseErrorKind::Refused => "ConnectionRefused",
        DatabaseErrorKind::Authentication => "AuthenticationFailed",
        DatabaseErrorKind::ConnectionLost => "ConnectionLost",
        DatabaseErrorKind::PoolTimeout => "PoolTimeout",
        DatabaseErrorKind::Query => "QueryError",
        DatabaseErrorKind::Unique => "UniqueViolation",
        DatabaseErrorKind::ForeignKey => "ForeignKeyViolation",
        DatabaseErrorKind::NotNull => "NotNullViolation",
        DatabaseErrorKind::Check => "CheckViolation",
        DatabaseErrorKind::Constraint => "ConstraintViolation",
        DatabaseErrorKind::Busy => "BusyError",
        DatabaseErrorKind::LockTimeout => "LockTimeout",
        DatabaseErrorKind::Deadlock => "Deadlock",
        DatabaseErrorKind::Serialization => "SerializationFailure",
        DatabaseErrorKind::QueryTimeout => "QueryTimeout",
        DatabaseErrorKind::Cancelled => "Cancelled",
        DatabaseErrorKind::Decode => "DecodeError",
        DatabaseErrorKind::TransactionClosed => "TransactionClosed",
    };
    let code = error.code.as_ref().map(|code| match code {
        ErrorCode::Number(number) => ruby.into_value(*number),
        ErrorCode::State(state) => ruby.str_new(state).as_value(),
    });
    let details = kwargs!(
        "sql" => error.sql.as_deref(),
        "code" => code,
        "constraint" => error.constraint.as_deref(),
        "detail" => error.detail.as_deref(),
        "hint" => error.hint.as_deref()
    );
    class(ruby, "AsyncRecord", name)?.funcall("new", (error.message.as_str(), details))
}

fn class(ruby: &Ruby, module: &str, name: &str) -> Result<ExceptionClass, Error> {
    ruby.class_object()
        .const_get::<_, RModule>(module)?
        .const_get(name)
}
