//! From PostgreSQL's binary form straight to JSON, without a value in between for the types that are common.

use super::super::oid::{Form, Type};
use super::reader::Reader;
use super::{Malformed, calendar, number, value, write_text};
use crate::db::json::{Cell, quoted, write_cell};
use crate::db::rows::Kind;
use crate::db::{civil, json_text, json_value};

/// Appends one value that is not NULL.
pub(in super::super) fn write_json(
    out: &mut Vec<u8>,
    of: &Type,
    kind: Kind,
    bytes: &[u8],
) -> Result<(), Malformed> {
    let mut reader = Reader::new(bytes);
    match &of.form {
        Form::Bool => write_cell(out, kind, Cell::Bool(reader.byte()? != 0)),
        Form::Int2 => json_text::integer(out, reader.i16()?.into()),
        Form::Int4 => json_text::integer(out, reader.i32()?.into()),
        Form::Int8 => json_text::integer(out, reader.i64()?),
        Form::Oid => json_text::integer(out, reader.u32()?.into()),
        Form::Float8 => write_cell(out, kind, Cell::Float(reader.f64()?)),
        Form::Text => json_text::string(out, reader.rest_as_text()?),
        // The server keeps only valid JSON in it.
        Form::Jsonb => out.extend_from_slice(reader.versioned()?.rest_as_text()?.as_bytes()),
        Form::Json => out.extend_from_slice(reader.rest_as_text()?.as_bytes()),
        Form::Numeric => decimal(out, |out| number::numeric(out, &mut reader))?,
        Form::Money => decimal(out, |out| number::money(out, &mut reader))?,
        Form::Timestamp | Form::TimestampTz => match calendar::timestamp(reader.i64()?)? {
            i64::MAX | i64::MIN => out.extend_from_slice(b"null"),
            moment => quoted(out, |out| civil::write_timestamp(out, moment)),
        },
        // A character of this type may be one that JSON escapes.
        Form::Char => return slow(out, of, kind, bytes),
        Form::Uuid
        | Form::Time
        | Form::TimeTz
        | Form::Inet
        | Form::Cidr
        | Form::MacAddr
        | Form::Bit
        | Form::Lsn => try_quoted(out, |out| write_text(&of.form, &mut reader, out))?,
        _ => return slow(out, of, kind, bytes),
    }
    reader.end()
}

fn slow(out: &mut Vec<u8>, of: &Type, kind: Kind, bytes: &[u8]) -> Result<(), Malformed> {
    write_cell(out, kind, Cell::from(&value(of, bytes)?));
    Ok(())
}

fn decimal(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    try_quoted(out, |out| {
        let start = out.len();
        write(out)?;
        let digits = std::str::from_utf8(&out[start..]).map_err(|_| Malformed::Bytes)?;
        let kept = json_value::shortest(digits).len();
        out.truncate(start + kept);
        Ok(())
    })
}

fn try_quoted(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    out.push(b'"');
    write(out)?;
    out.push(b'"');
    Ok(())
}
