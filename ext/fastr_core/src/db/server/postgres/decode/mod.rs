//! From PostgreSQL's binary form to the core's values and to JSON. It trusts no length and no count it reads: what does
//! not fit its type is an error, never a panic, and never an allocation that the bytes do not back.

mod calendar;
mod json;
mod nested;
mod network;
mod number;
mod reader;
#[cfg(test)]
mod tests;

use std::fmt;

pub(super) use calendar::{DAY, EPOCH, EPOCH_DAYS};
pub(super) use json::write_json;
#[cfg(test)]
pub(super) use tests::TYPES;

use self::reader::Reader;
use super::oid::{Form, Type};
use crate::db::rows::Value;

/// Why bytes are not a value of their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malformed {
    /// They end too early or too late, or say impossible things.
    Bytes,
    /// They are text that is not UTF-8.
    Encoding,
    /// They are a point in time beyond the year 294246, which 64 bits of microseconds since 1970 cannot hold.
    TooLate,
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Malformed::Bytes => "its bytes are not in the form this type has",
            Malformed::Encoding => "it is not valid UTF-8; is the database's encoding SQL_ASCII?",
            Malformed::TooLate => "it lies beyond the year 294246; select it as text (`::text`)",
        })
    }
}

/// Reads one value that is not NULL.
pub(super) fn value(kind: &Type, bytes: &[u8]) -> Result<Value, Malformed> {
    let mut reader = Reader::new(bytes);
    let value = match &kind.form {
        Form::Bool => Value::Bool(reader.byte()? != 0),
        Form::Int2 => Value::Integer(reader.i16()?.into()),
        Form::Int4 => Value::Integer(reader.i32()?.into()),
        Form::Int8 => Value::Integer(reader.i64()?),
        Form::Oid => Value::Integer(reader.u32()?.into()),
        Form::Unsigned8 => Value::from(reader.u64()?),
        Form::Float4 => Value::Float(number::widened(reader.f32()?)),
        Form::Float8 => Value::Float(reader.f64()?),
        Form::Numeric => Value::Decimal(text_of(|out| number::numeric(out, &mut reader))?),
        Form::Money => Value::Decimal(text_of(|out| number::money(out, &mut reader))?),
        Form::Text | Form::Json => Value::Text(reader.rest_as_text()?.to_owned()),
        Form::VersionedText | Form::Jsonb => {
            Value::Text(reader.versioned()?.rest_as_text()?.to_owned())
        }
        Form::Bytea | Form::Raw => Value::Blob(reader.rest().to_vec()),
        Form::Date => Value::Date(calendar::date(reader.i32()?)?),
        Form::Timestamp | Form::TimestampTz => {
            Value::Timestamp(calendar::timestamp(reader.i64()?)?)
        }
        Form::Interval => Value::Interval(calendar::interval(&mut reader)?),
        Form::Array(element) => nested::array(element, &mut reader)?,
        Form::Range(bound) => nested::range(bound, &mut reader)?,
        Form::Void => return Ok(Value::Null),
        Form::Char
        | Form::Uuid
        | Form::Time
        | Form::TimeTz
        | Form::Inet
        | Form::Cidr
        | Form::MacAddr
        | Form::Bit
        | Form::Lsn => Value::Text(text_of(|out| write_text(&kind.form, &mut reader, out))?),
    };
    reader.end()?;
    Ok(value)
}

/// Writes a value whose form is neither text nor a number the way `psql` shows it.
fn write_text(form: &Form, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Malformed> {
    match form {
        Form::Char => network::char(out, reader),
        Form::Uuid => network::uuid(out, reader),
        Form::Time => calendar::time(out, reader),
        Form::TimeTz => calendar::time_with_zone(out, reader),
        Form::Inet | Form::Cidr => network::address(out, reader),
        Form::MacAddr => network::mac_address(out, reader),
        Form::Bit => network::bits(out, reader),
        Form::Lsn => network::log_position(out, reader),
        _ => Err(Malformed::Bytes),
    }
}

fn text_of(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Malformed>) -> Result<String, Malformed> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|_| Malformed::Encoding)
}
