//! JSON of the values that only servers have: dates, times, decimals, spans, arrays and ranges.

use super::json::{Cell, quoted, write_cell};
use super::rows::{Interval, Kind, Range, Value};
use super::{civil, json_text};

/// Appends a value.
pub(super) fn write(out: &mut Vec<u8>, kind: Kind, value: &Value) {
    match value {
        Value::Unsigned(number) => {
            out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
        }
        Value::Decimal(digits) => json_text::string(out, shortest(digits)),
        Value::Date(i32::MAX | i32::MIN) | Value::Timestamp(i64::MAX | i64::MIN) => {
            out.extend_from_slice(b"null");
        }
        Value::Date(days) => quoted(out, |out| civil::write_date(out, i64::from(*days))),
        Value::Timestamp(moment) => quoted(out, |out| civil::write_timestamp(out, *moment)),
        Value::Interval(span) => quoted(out, |out| interval(out, *span)),
        Value::Array(elements) => array(out, kind, elements),
        Value::Range(range) => json_text::string(out, &range_text(kind, range)),
        plain => write_cell(out, kind, Cell::from(plain)),
    }
}

/// Without the zeros that only say how many digits the column keeps: the number is the same, and so is the JSON of a
/// record, which knows no scale.
pub(crate) fn shortest(digits: &str) -> &str {
    let is_plain = |byte| matches!(byte, b'0'..=b'9' | b'-' | b'.');
    if digits.contains('.') && digits.bytes().all(is_plain) {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

fn array(out: &mut Vec<u8>, kind: Kind, elements: &[Value]) {
    let element_kind = match kind {
        Kind::Array(element) => *element,
        other => other,
    };
    out.push(b'[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // The rows of a many-dimensional array are arrays of the same kind.
        let kind = match element {
            Value::Array(_) => kind,
            _ => element_kind,
        };
        write_cell(out, kind, Cell::from(element));
    }
    out.push(b']');
}

/// ISO 8601, as in `P1Y2M3DT4H5M6.5S`; each part has its own sign.
pub(crate) fn interval(out: &mut Vec<u8>, span: Interval) {
    let mut text = String::from("P");
    let (years, months) = (span.months / 12, span.months % 12);
    for (number, unit) in [(years, 'Y'), (months, 'M'), (span.days, 'D')] {
        if number != 0 {
            text.push_str(&format!("{number}{unit}"));
        }
    }
    let clock = span.microseconds;
    if clock != 0 || text.len() == 1 {
        text.push('T');
        let (hours, minutes) = (clock / 3_600_000_000, clock / 60_000_000 % 60);
        for (number, unit) in [(hours, 'H'), (minutes, 'M')] {
            if number != 0 {
                text.push_str(&format!("{number}{unit}"));
            }
        }
        text.push_str(&seconds(clock % 60_000_000, text.len() == 2));
    }
    out.extend_from_slice(text.as_bytes());
}

fn seconds(microseconds: i64, is_needed: bool) -> String {
    if microseconds == 0 {
        return if is_needed {
            "0S".into()
        } else {
            String::new()
        };
    }
    let sign = if microseconds < 0 { "-" } else { "" };
    let whole = (microseconds / 1_000_000).abs();
    let fraction = format!("{:06}", (microseconds % 1_000_000).abs());
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}S"),
        digits => format!("{sign}{whole}.{digits}S"),
    }
}

/// A range as PostgreSQL writes it: `[1,5)`, `(,2026-01-31]`, `empty`.
#[must_use]
pub fn range_text(kind: Kind, range: &Range) -> String {
    let Range::Span {
        lower,
        includes_lower,
        upper,
        includes_upper,
    } = range
    else {
        return "empty".into();
    };
    let bound = |value: &Option<Value>| {
        value
            .as_ref()
            .map_or(String::new(), |value| bound_text(kind, value))
    };
    format!(
        "{}{},{}{}",
        if *includes_lower { '[' } else { '(' },
        bound(lower),
        bound(upper),
        if *includes_upper { ']' } else { ')' }
    )
}

fn bound_text(kind: Kind, value: &Value) -> String {
    let element = match kind {
        Kind::Range(element) => *element,
        other => other,
    };
    let mut out = Vec::new();
    match value {
        Value::Date(i32::MAX) | Value::Timestamp(i64::MAX) => return "infinity".into(),
        Value::Date(i32::MIN) | Value::Timestamp(i64::MIN) => return "-infinity".into(),
        other => write_cell(&mut out, element, Cell::from(other)),
    }
    String::from_utf8_lossy(&out).trim_matches('"').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(kind: Kind, value: &Value) -> String {
        let mut out = Vec::new();
        write(&mut out, kind, value);
        String::from_utf8(out).unwrap()
    }

    fn span(months: i32, days: i32, microseconds: i64) -> Value {
        Value::Interval(Interval {
            months,
            days,
            microseconds,
        })
    }

    #[test]
    fn spans_are_iso_8601() {
        for (value, expected) in [
            (span(0, 0, 0), "PT0S"),
            (span(14, 3, 14_706_500_000), "P1Y2M3DT4H5M6.5S"),
            (span(-1, 0, -1), "P-1MT-0.000001S"),
            (span(0, 1, 0), "P1D"),
            (span(0, 0, 3_600_000_000), "PT1H"),
        ] {
            assert_eq!(json(Kind::Interval, &value), format!("\"{expected}\""));
        }
    }

    #[test]
    fn arrays_nest_and_ranges_are_text() {
        let row =
            |numbers: &[i64]| Value::Array(numbers.iter().map(|&n| Value::Integer(n)).collect());
        let matrix = Value::Array(vec![row(&[1, 2]), row(&[3, 4])]);
        assert_eq!(json(Kind::Array(&Kind::Integer), &matrix), "[[1,2],[3,4]]");
        let flags = Value::Array(vec![Value::Bool(true), Value::Null]);
        assert_eq!(json(Kind::Array(&Kind::Boolean), &flags), "[true,null]");
        let range = Value::Range(Box::new(Range::Span {
            lower: Some(Value::Integer(1)),
            includes_lower: true,
            upper: None,
            includes_upper: false,
        }));
        assert_eq!(json(Kind::Range(&Kind::Integer), &range), "\"[1,)\"");
        assert_eq!(
            json(
                Kind::Range(&Kind::Integer),
                &Value::Range(Box::new(Range::Empty))
            ),
            "\"empty\""
        );
    }

    #[test]
    fn infinite_moments_are_null_and_large_numbers_keep_their_digits() {
        assert_eq!(json(Kind::DateTime, &Value::Timestamp(i64::MAX)), "null");
        assert_eq!(
            json(Kind::Integer, &Value::Unsigned(u64::MAX)),
            "18446744073709551615"
        );
        assert_eq!(
            json(Kind::Decimal, &Value::Decimal("0.10".into())),
            "\"0.1\""
        );
        assert_eq!(
            ["10", "1.00", "0.0", "-0.50", "NaN", "1.0x"].map(shortest),
            ["10", "1", "0", "-0.5", "NaN", "1.0x"]
        );
        assert_eq!(json(Kind::Date, &Value::Date(0)), "\"1970-01-01\"");
    }
}
