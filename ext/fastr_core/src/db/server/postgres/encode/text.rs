//! Text, JSON and bytes: the types that take nearly every class of value, each in the form PostgreSQL would write it.

use super::super::decode::DAY;
use super::refusal::Refusal;
use crate::db::json::{Cell, write_cell};
use crate::db::json_value;
use crate::db::rows::{Kind, Range, Value};
use crate::db::{civil, json_text};

/// Appends any value as text.
pub(super) fn text(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Text(text) | Value::Decimal(text) => return checked(text, out),
        Value::Blob(bytes) => {
            return checked(
                std::str::from_utf8(bytes).map_err(|_| Refusal::Encoding)?,
                out,
            );
        }
        Value::Null => {}
        Value::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        Value::Integer(number) => json_text::integer(out, *number),
        Value::Unsigned(number) => {
            out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
        }
        Value::Float(number) => float(*number, out),
        Value::Date(days) => date(*days, out),
        Value::Timestamp(moment) => timestamp(*moment, out),
        Value::Interval(span) => json_value::interval(out, *span),
        Value::Array(elements) => array(elements, out)?,
        Value::Range(range) => self::range(range, out)?,
    }
    Ok(())
}

fn checked(text: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(Refusal::Nul);
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The shortest digits, as PostgreSQL has them: `1` and not `1.0`.
fn float(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if number.is_infinite() {
        out.extend_from_slice(if number < 0.0 {
            b"-Infinity"
        } else {
            b"Infinity"
        });
    } else {
        let mut buffer = zmij::Buffer::new();
        let digits = buffer.format_finite(number);
        out.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
    }
}

/// `2026-01-31`, `0044-03-15 BC`, `infinity`.
fn date(days: i32, out: &mut Vec<u8>) {
    match days {
        i32::MAX => out.extend_from_slice(b"infinity"),
        i32::MIN => out.extend_from_slice(b"-infinity"),
        days => {
            let is_before_christ = write_day(days.into(), out);
            out.extend_from_slice(if is_before_christ { b" BC" } else { b"" });
        }
    }
}

/// `2026-01-31 23:59:59.000000`, in UTC, with all digits as in every database of fastr.
fn timestamp(moment: i64, out: &mut Vec<u8>) {
    match moment {
        i64::MAX => out.extend_from_slice(b"infinity"),
        i64::MIN => out.extend_from_slice(b"-infinity"),
        moment => {
            let is_before_christ = write_day(moment.div_euclid(DAY), out);
            let clock = moment.rem_euclid(DAY);
            out.push(b' ');
            civil::write_clock(out, clock);
            if clock % 1_000_000 == 0 {
                out.extend_from_slice(b".000000");
            }
            out.extend_from_slice(if is_before_christ { b" BC" } else { b"" });
        }
    }
}

/// A day without its era, and whether that is before Christ.
fn write_day(days: i64, out: &mut Vec<u8>) -> bool {
    let (year, month, day) = civil::date(days);
    let shown = if year < 1 { 1 - year } else { year };
    out.extend_from_slice(format!("{shown:04}-{month:02}-{day:02}").as_bytes());
    year < 1
}

/// `\x6869`
pub(super) fn hex_form(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\x");
    for byte in bytes {
        out.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
}

/// `{1,"two, three",NULL}`
fn array(elements: &[Value], out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.push(b'{');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match element {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Array(elements) => array(elements, out)?,
            Value::Blob(bytes) => {
                out.extend_from_slice(b"\"\\");
                hex_form(bytes, out);
                out.push(b'"');
            }
            plain => quoted(plain, out)?,
        }
    }
    out.push(b'}');
    Ok(())
}

fn quoted(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut plain = Vec::new();
    text(value, &mut plain)?;
    out.push(b'"');
    for byte in plain {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    Ok(())
}

/// `["1","5")`
fn range(range: &Range, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let Range::Span {
        lower,
        includes_lower,
        upper,
        includes_upper,
    } = range
    else {
        out.extend_from_slice(b"empty");
        return Ok(());
    };
    out.push(if *includes_lower { b'[' } else { b'(' });
    if let Some(lower) = lower {
        quoted(lower, out)?;
    }
    out.push(b',');
    if let Some(upper) = upper {
        quoted(upper, out)?;
    }
    out.push(if *includes_upper { b']' } else { b')' });
    Ok(())
}

/// The one byte of `"char"`.
pub(super) fn char(value: &Value) -> Result<u8, Refusal> {
    let mut plain = Vec::new();
    text(value, &mut plain)?;
    match plain.as_slice() {
        [] => Ok(0),
        [byte] => Ok(*byte),
        _ => Err(Refusal::Range),
    }
}

/// Text is a JSON document; every other value becomes one.
pub(super) fn json(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Text(text) => checked(text, out),
        // A decimal is a number in JSON, with all its digits.
        Value::Decimal(digits) if digits.ends_with(|last: char| last.is_ascii_digit()) => {
            checked(digits, out)
        }
        Value::Blob(_) => text(value, out),
        other => {
            write_cell(out, Kind::Any, Cell::from(other));
            Ok(())
        }
    }
}

/// Bytes as they are; text in PostgreSQL's two forms: `\x6869`, or plain with `\\` and `\ooo`.
pub(super) fn bytes(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Blob(bytes) => {
            out.extend_from_slice(bytes);
            Ok(())
        }
        Value::Text(text) => match text.strip_prefix("\\x") {
            Some(digits) => hex(digits.as_bytes(), out),
            None => escaped(text.as_bytes(), out),
        },
        _ => Err(Refusal::Class),
    }
}

fn hex(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let digits: Vec<u8> = digits
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|&byte| {
            char::from(byte)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()
        .ok_or(Refusal::Text)?;
    if !digits.len().is_multiple_of(2) {
        return Err(Refusal::Text);
    }
    out.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Ok(())
}

fn escaped(mut text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    loop {
        match text {
            [] => return Ok(()),
            [b'\\', b'\\', rest @ ..] => {
                out.push(b'\\');
                text = rest;
            }
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                text = rest;
            }
            [b'\\', ..] => return Err(Refusal::Text),
            [byte, rest @ ..] => {
                out.push(*byte);
                text = rest;
            }
        }
    }
}
