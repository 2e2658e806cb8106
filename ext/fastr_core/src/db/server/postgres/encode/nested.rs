//! Arrays and ranges.

use super::super::oid::{Form, Type};
use super::refusal::Refusal;
use super::{literal, put, sized};
use crate::db::rows::{Range, Value};

/// PostgreSQL has no more dimensions than these.
const DIMENSIONS: usize = 6;
/// Vectors count from 0, arrays from 1.
const INT2VECTOR: u32 = 22;
const OIDVECTOR: u32 = 30;

const EMPTY: u8 = 0x01;
const INCLUDES_LOWER: u8 = 0x02;
const INCLUDES_UPPER: u8 = 0x04;
const NO_LOWER: u8 = 0x08;
const NO_UPPER: u8 = 0x10;

pub(super) fn array(
    value: &Value,
    kind: &Type,
    element: &Type,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match value {
        Value::Array(elements) => write_array(elements, kind, element, out),
        Value::Text(text) if matches!(kind.oid, INT2VECTOR | OIDVECTOR) => {
            let elements: Vec<Value> = text
                .split_ascii_whitespace()
                .map(|number| Value::Text(number.into()))
                .collect();
            write_array(&elements, kind, element, out)
        }
        Value::Text(text) => {
            let elements = literal::array(text).ok_or(Refusal::Text)?;
            write_array(&elements, kind, element, out)
        }
        _ => Err(Refusal::Class),
    }
}

fn write_array(
    elements: &[Value],
    kind: &Type,
    element: &Type,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let mut lengths = Vec::new();
    measure(elements, &mut lengths)?;
    if lengths.contains(&0) {
        lengths.clear();
    }
    let start = out.len();
    let count = i32::try_from(lengths.len()).map_err(|_| Refusal::Deep)?;
    put(out, count.to_be_bytes());
    put(out, [0; 4]);
    put(out, element.oid.to_be_bytes());
    let first: i32 = if matches!(kind.oid, INT2VECTOR | OIDVECTOR) {
        0
    } else {
        1
    };
    for &length in &lengths {
        put(
            out,
            i32::try_from(length)
                .map_err(|_| Refusal::TooLarge)?
                .to_be_bytes(),
        );
        put(out, first.to_be_bytes());
    }
    let mut has_null = false;
    write_elements(elements, &lengths, element, &mut has_null, out)?;
    out[start + 7] = has_null.into();
    Ok(())
}

/// The length of every dimension, by the first element of each.
fn measure(elements: &[Value], lengths: &mut Vec<usize>) -> Result<(), Refusal> {
    lengths.push(elements.len());
    if lengths.len() > DIMENSIONS {
        return Err(Refusal::Deep);
    }
    match elements.first() {
        Some(Value::Array(inner)) => measure(inner, lengths),
        _ => Ok(()),
    }
}

fn write_elements(
    elements: &[Value],
    lengths: &[usize],
    element: &Type,
    has_null: &mut bool,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let Some((&length, inner)) = lengths.split_first() else {
        // Rows without elements are an empty array, as long as all of them are.
        let is_empty = |value: &Value| matches!(value, Value::Array(row) if row.is_empty());
        return if elements.iter().all(is_empty) {
            Ok(())
        } else {
            Err(Refusal::Ragged)
        };
    };
    if elements.len() != length {
        return Err(Refusal::Ragged);
    }
    for value in elements {
        match (value, inner) {
            (Value::Array(elements), [_, ..]) => {
                write_elements(elements, inner, element, has_null, out)?;
            }
            (Value::Array(_), []) | (_, [_, ..]) => return Err(Refusal::Ragged),
            (value, []) => {
                *has_null |= matches!(value, Value::Null);
                sized(value, element, out)?;
            }
        }
    }
    Ok(())
}

pub(super) fn range(value: &Value, bound: &Type, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Range(range) => write_range(range, bound, out),
        Value::Text(text) => {
            let range = literal::range(text).ok_or(Refusal::Text)?;
            write_range(&range, bound, out)
        }
        _ => Err(Refusal::Class),
    }
}

fn write_range(range: &Range, bound: &Type, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let Range::Span {
        lower,
        includes_lower,
        upper,
        includes_upper,
    } = range
    else {
        out.push(EMPTY);
        return Ok(());
    };
    let lower = finite(lower.as_ref(), bound);
    let upper = finite(upper.as_ref(), bound);
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(lower.is_none(), NO_LOWER)
            | flag(upper.is_none(), NO_UPPER)
            | flag(lower.is_some() && *includes_lower, INCLUDES_LOWER)
            | flag(upper.is_some() && *includes_upper, INCLUDES_UPPER),
    );
    for value in [lower, upper].into_iter().flatten() {
        sized(value, bound, out)?;
    }
    Ok(())
}

/// A bound that is there. An infinite number is no bound for types that have no infinity.
fn finite<'a>(value: Option<&'a Value>, bound: &Type) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::Float(number) if number.is_infinite() => {
            !matches!(bound.form, Form::Int2 | Form::Int4 | Form::Int8)
        }
        _ => true,
    })
}
