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

use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::{Arguments, Postgres};

use self::refusal::Refusal;
use super::oid::{Form, Type};
use crate::db::rows::Value;

/// What may be encoded: something is written, or it is NULL and nothing is.
type Encoded = Result<IsNull, Refusal>;

/// All values of a statement, for the types its placeholders have; on failure the sentence for the caller.
pub(super) fn arguments(values: &[Value], types: &[Type]) -> Result<PgArguments, String> {
    if values.len() != types.len() {
        return Err(wrong_count(types.len(), values.len()));
    }
    let mut arguments = PgArguments::default();
    arguments.reserve(values.len(), values.len() * 16);
    for (index, (value, kind)) in values.iter().zip(types).enumerate() {
        arguments.add(Parameter { value, kind }).map_err(|error| {
            error.downcast_ref::<Refusal>().map_or_else(
                || format!("${} is too large: {error}", index + 1),
                |refusal| refusal.sentence(index + 1, value, kind),
            )
        })?;
    }
    Ok(arguments)
}

/// What the caller is told who gives too many values, or too few.
pub(super) fn wrong_count(placeholders: usize, values: usize) -> String {
    format!(
        "the statement has {} and was given {}; give one value per $n",
        counted(placeholders, "placeholder"),
        counted(values, "value")
    )
}

/// Appends a value as a literal, for statements that cannot have placeholders; on failure the rest of a sentence.
pub(super) fn literal(value: &Value, out: &mut String) -> Result<(), String> {
    let mut plain = Vec::new();
    match value {
        Value::Null => {
            out.push_str("NULL");
            return Ok(());
        }
        Value::Blob(bytes) => text::hex_form(bytes, &mut plain),
        other => text::text(other, &mut plain).map_err(Refusal::rest)?,
    }
    let plain = String::from_utf8(plain).map_err(|_| Refusal::Encoding.rest())?;
    // In this form a backslash means the same whatever the server's settings say.
    let has_backslash = plain.contains('\\');
    out.push_str(if has_backslash { "E'" } else { "'" });
    for character in plain.chars() {
        if matches!(character, '\'' | '\\') {
            out.push(character);
        }
        out.push(character);
    }
    out.push('\'');
    Ok(())
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

/// A value and the type of its placeholder.
struct Parameter<'a> {
    value: &'a Value,
    kind: &'a Type,
}

impl sqlx::Type<Postgres> for Parameter<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for Parameter<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(encode(self.value, self.kind, buffer)?)
    }

    /// The type is told again, so that a statement which has to be prepared anew gets the bytes it expects.
    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_oid(Oid(self.kind.oid)))
    }

    fn size_hint(&self) -> usize {
        0
    }
}

/// Appends one value.
fn encode(value: &Value, kind: &Type, out: &mut Vec<u8>) -> Encoded {
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

/// Appends a value behind its length, as arrays and ranges keep their parts.
fn sized(value: &Value, kind: &Type, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    put(out, [0; 4]);
    let length = match encode(value, kind, out)? {
        IsNull::Yes => -1,
        IsNull::No => i32::try_from(out.len() - start - 4).map_err(|_| Refusal::TooLarge)?,
    };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
