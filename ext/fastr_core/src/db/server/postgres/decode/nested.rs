//! Arrays and ranges: values made of values.

use super::super::oid::Type;
use super::reader::Reader;
use super::{Malformed, value};
use crate::db::rows::{Range, Value};

/// PostgreSQL has no more dimensions than these.
const DIMENSIONS: usize = 6;

const EMPTY: u8 = 0x01;
const INCLUDES_LOWER: u8 = 0x02;
const INCLUDES_UPPER: u8 = 0x04;
const NO_LOWER: u8 = 0x08;
const NO_UPPER: u8 = 0x10;

/// An array; one of many dimensions is an array of arrays. Lower bounds other than 1 are forgotten.
pub(super) fn array(element: &Type, reader: &mut Reader<'_>) -> Result<Value, Malformed> {
    let dimensions = usize::try_from(reader.i32()?).map_err(|_| Malformed::Bytes)?;
    // Whether there are NULLs; the elements say it themselves.
    reader.i32()?;
    // The element's number may be that of a domain; the column's type knows how to read it.
    reader.u32()?;
    if dimensions > DIMENSIONS {
        return Err(Malformed::Bytes);
    }
    let mut lengths = [0; DIMENSIONS];
    for length in &mut lengths[..dimensions] {
        *length = usize::try_from(reader.i32()?).map_err(|_| Malformed::Bytes)?;
        reader.i32()?;
    }
    let lengths = &lengths[..dimensions];
    if lengths.is_empty() {
        return Ok(Value::Array(Vec::new()));
    }
    // Every element takes four bytes at least, so that no length from the wire makes an array larger than its bytes.
    let count = lengths
        .iter()
        .try_fold(1_usize, |count, &length| count.checked_mul(length));
    if lengths.contains(&0) || count.is_none_or(|count| count > reader.len() / 4) {
        return Err(Malformed::Bytes);
    }
    elements(element, lengths, reader)
}

fn elements(
    element: &Type,
    lengths: &[usize],
    reader: &mut Reader<'_>,
) -> Result<Value, Malformed> {
    let [length, inner @ ..] = lengths else {
        return reader
            .sized()?
            .map_or(Ok(Value::Null), |bytes| value(element, bytes));
    };
    let values: Result<Vec<Value>, Malformed> = (0..*length)
        .map(|_| elements(element, inner, reader))
        .collect();
    values.map(Value::Array)
}

pub(super) fn range(bound: &Type, reader: &mut Reader<'_>) -> Result<Value, Malformed> {
    let flags = reader.byte()?;
    if flags & EMPTY != 0 {
        return Ok(Value::Range(Box::new(Range::Empty)));
    }
    let mut read = |is_infinite: bool| {
        if is_infinite {
            return Ok(None);
        }
        let bytes = reader.sized()?.ok_or(Malformed::Bytes)?;
        value(bound, bytes).map(Some)
    };
    let lower = read(flags & NO_LOWER != 0)?;
    let upper = read(flags & NO_UPPER != 0)?;
    Ok(Value::Range(Box::new(Range::Span {
        lower,
        includes_lower: flags & INCLUDES_LOWER != 0,
        upper,
        includes_upper: flags & INCLUDES_UPPER != 0,
    })))
}
