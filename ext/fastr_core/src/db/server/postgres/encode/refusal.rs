//! Why a value cannot be given to a placeholder, as a sentence that names the placeholder, the value's class and the
//! type, and never shows the value.

use std::fmt;

use super::super::oid::Type;
use crate::db::rows::Value;

/// Why a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its class has no meaning for the type.
    Class,
    /// It is text that does not say such a value, or says it in a form that only the server reads.
    Text,
    /// It is beyond what the type holds.
    Range,
    /// It has a fraction and the type has none.
    Fraction,
    /// It contains a NUL character.
    Nul,
    /// It contains bytes that are not UTF-8.
    Encoding,
    /// Its rows have different lengths.
    Ragged,
    /// It has more dimensions than PostgreSQL has.
    Deep,
    /// It has more bytes than PostgreSQL takes.
    TooLarge,
    /// The type itself cannot be written.
    Type,
}

impl Refusal {
    /// What the caller is told.
    pub(super) fn sentence(self, placeholder: usize, value: &Value, kind: &Type) -> String {
        let (class, name) = (class(value), &kind.name);
        let subject = format!("${placeholder} is {name} and was given {class}");
        match self {
            Refusal::Class => format!("{subject}, which it cannot hold"),
            Refusal::Text => format!(
                "{subject} that does not read as {name}; if PostgreSQL reads it, write \
                 ${placeholder}::text::{name} in the statement"
            ),
            Refusal::Range => format!("{subject} beyond the range of {name}"),
            Refusal::Fraction => {
                format!("{subject} with a fraction; round it, or write ${placeholder}::numeric")
            }
            Refusal::Nul => {
                format!(
                    "{subject} with a NUL character, which PostgreSQL's text cannot hold; use bytea"
                )
            }
            Refusal::Encoding => {
                format!("{subject} that are not UTF-8; use a column of type bytea")
            }
            Refusal::Ragged => format!("{subject} whose rows have different lengths"),
            Refusal::Deep => format!("{subject} of more than six dimensions"),
            Refusal::TooLarge => format!("{subject} of more than a gigabyte"),
            Refusal::Type => format!(
                "{subject}; fastr cannot write this type in its binary form: write \
                 ${placeholder}::text::{name} in the statement and give it text"
            ),
        }
    }
}

impl Refusal {
    /// The same where no type is known: the end of a sentence about a value.
    pub(super) fn rest(self) -> String {
        match self {
            Refusal::Nul => "contains a NUL character, which PostgreSQL's text cannot hold".into(),
            Refusal::Encoding => "is not UTF-8".into(),
            _ => "is in a form that fastr does not read".into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

impl std::error::Error for Refusal {}

fn class(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "a boolean",
        Value::Integer(_) | Value::Unsigned(_) => "a whole number",
        Value::Float(_) => "a floating-point number",
        Value::Decimal(_) => "a decimal",
        Value::Text(_) => "text",
        Value::Blob(_) => "bytes",
        Value::Date(_) => "a date",
        Value::Timestamp(_) => "a point in time",
        Value::Interval(_) => "a span of time",
        Value::Array(_) => "an array",
        Value::Range(_) => "a range",
    }
}
