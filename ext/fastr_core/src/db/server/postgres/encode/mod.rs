//! From the core's values to PostgreSQL's binary form, for the type that the server inferred for a placeholder. Text is
//! accepted for every type and read as PostgreSQL reads it; a value that does not fit is refused with a message that
//! names its class, never the value itself.

mod calendar;
mod interval;
mod literal;
mod nested;
mod network;
mod number;
mod refusal;
#[cfg(test)]
mod tests;
mod text;

use self::refusal::Refusal;
use super::oid::{Form, Type};
use super::wire::messages::{self, BINARY, TEXT};
use crate::db::rows::Value;

/// Whether a value is NULL, for which nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsNull {
    Yes,
    No,
}

/// Appends a `Bind` with all values of a statement, for the types its placeholders have; on failure the sentence for the
/// caller, and nothing is appended.
pub(super) fn bind(
    out: &mut Vec<u8>,
    portal: &str,
    name: &str,
    values: &[Value],
    types: &[Type],
) -> Result<(), String> {
    if values.len() != types.len() {
        return Err(wrong_count(types.len(), values.len()));
    }
    let start = out.len();
    let written = write_binary(out, portal, name, values, types);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn write_binary(
    out: &mut Vec<u8>,
    portal: &str,
    name: &str,
    values: &[Value],
    types: &[Type],
) -> Result<(), String> {
    let mark = messages::bind(out, portal, name, BINARY);
    count(out, values)?;
    for (index, (value, kind)) in values.iter().zip(types).enumerate() {
        sized(value, kind, out).map_err(|refusal| refusal.sentence(index + 1, value, kind))?;
    }
    if messages::end_of_bind(out, mark, BINARY) {
        Ok(())
    } else {
        Err(too_large())
    }
}

/// Appends a `Bind` with all values as text, for placeholders whose types only the server knows. It takes the rows as
/// text, too. On failure the sentence for the caller, and nothing is appended.
pub(super) fn bind_text(
    out: &mut Vec<u8>,
    portal: &str,
    name: &str,
    values: &[Value],
) -> Result<(), String> {
    let start = out.len();
    let written = write_texts(out, portal, name, values);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn write_texts(
    out: &mut Vec<u8>,
    portal: &str,
    name: &str,
    values: &[Value],
) -> Result<(), String> {
    let mark = messages::bind(out, portal, name, TEXT);
    count(out, values)?;
    for (index, value) in values.iter().enumerate() {
        let written = behind_its_length(out, |out| {
            match value {
                Value::Null => return Ok(IsNull::Yes),
                Value::Blob(bytes) => text::hex_form(bytes, out),
                other => text::text(other, out)?,
            }
            Ok(IsNull::No)
        });
        written.map_err(|refusal| format!("${} {}", index + 1, refusal.rest()))?;
    }
    if messages::end_of_bind(out, mark, TEXT) {
        Ok(())
    } else {
        Err(too_large())
    }
}

/// How many values there are.
fn count(out: &mut Vec<u8>, values: &[Value]) -> Result<(), String> {
    let count = u16::try_from(values.len()).map_err(|_| {
        format!(
            "the statement was given {} values, and PostgreSQL takes 65535 at most; give an array to = any($1), or \
             insert in portions",
            values.len()
        )
    })?;
    put(out, count.to_be_bytes());
    Ok(())
}

fn too_large() -> String {
    "the values of the statement are more than a gigabyte, which PostgreSQL does not take at once"
        .into()
}

/// What the caller is told who gives too many values, or too few.
pub(super) fn wrong_count(placeholders: usize, values: usize) -> String {
    format!(
        "the statement has {} and was given {}; give one value per $n",
        counted(placeholders, "placeholder"),
        counted(values, "value")
    )
}

/// The binary form of a text that the server wrote.
pub(super) fn bytes_of(text: &str, kind: &Type) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let value = Value::Text(text.to_owned());
    match encode(&value, kind, &mut out) {
        Ok(_) => Ok(out),
        Err(Refusal::Type) => Ok(Vec::new()),
        Err(refusal) => Err(refusal.rest()),
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}"),
        1 => format!("one {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Appends one value.
fn encode(value: &Value, kind: &Type, out: &mut Vec<u8>) -> Result<IsNull, Refusal> {
    if matches!(value, Value::Null) {
        return Ok(IsNull::Yes);
    }
    match &kind.form {
        Form::Bool => out.push(number::boolean(value)?.into()),
        Form::Int2 => put(out, number::integer::<i16>(value)?.to_be_bytes()),
        Form::Int4 => put(out, number::integer::<i32>(value)?.to_be_bytes()),
        Form::Int8 => put(out, number::integer::<i64>(value)?.to_be_bytes()),
        Form::Oid => put(out, number::integer::<u32>(value)?.to_be_bytes()),
        Form::Unsigned8 => put(out, number::integer::<u64>(value)?.to_be_bytes()),
        Form::Float4 => put(out, number::single(value)?.to_be_bytes()),
        Form::Float8 => put(out, number::double(value)?.to_be_bytes()),
        Form::Numeric => number::numeric(value, out)?,
        Form::Money => put(out, number::cents(value)?.to_be_bytes()),
        Form::Text => text::text(value, out)?,
        Form::Char => out.push(text::char(value)?),
        Form::VersionedText => {
            out.push(1);
            text::text(value, out)?;
        }
        Form::Json => text::json(value, out)?,
        Form::Jsonb => {
            out.push(1);
            text::json(value, out)?;
        }
        Form::Bytea => text::bytes(value, out)?,
        Form::Date => put(out, calendar::date(value)?.to_be_bytes()),
        Form::Timestamp | Form::TimestampTz => {
            put(out, calendar::timestamp(value, &kind.form)?.to_be_bytes());
        }
        Form::Time => put(out, calendar::time(value)?.to_be_bytes()),
        Form::TimeTz => calendar::time_with_zone(value, out)?,
        Form::Interval => interval::interval(value, out)?,
        Form::Uuid => network::uuid(value, out)?,
        Form::Inet | Form::Cidr => network::address(value, kind.form == Form::Cidr, out)?,
        Form::MacAddr => network::mac_address(value, kind.oid, out)?,
        Form::Bit => network::bits(value, out)?,
        Form::Lsn => network::log_position(value, out)?,
        Form::Array(element) => nested::array(value, kind, element, out)?,
        Form::Range(bound) => nested::range(value, bound, out)?,
        Form::Void | Form::Raw => return Err(Refusal::Type),
    }
    Ok(IsNull::No)
}

fn put<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&bytes);
}

/// Appends a value behind its length, as messages, arrays and ranges keep their parts.
fn sized(value: &Value, kind: &Type, out: &mut Vec<u8>) -> Result<(), Refusal> {
    behind_its_length(out, |out| encode(value, kind, out))
}

fn behind_its_length(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<IsNull, Refusal>,
) -> Result<(), Refusal> {
    let start = out.len();
    put(out, [0; 4]);
    let length = match write(out)? {
        IsNull::Yes => -1,
        IsNull::No => i32::try_from(out.len() - start - 4).map_err(|_| Refusal::TooLarge)?,
    };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
