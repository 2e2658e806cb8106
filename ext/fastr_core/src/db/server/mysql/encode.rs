//! Binds. A value's type travels with it at each execution, so the same statement may be given a number once and a text
//! the next time. It refuses what MySQL has no value for, and says what to do instead.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::mysql::{MySqlArguments, MySqlTypeInfo};
use sqlx::{Arguments, Encode, MySql, Type};

use super::connect::Types;
use crate::db::civil;
use crate::db::rows::{Interval, Value};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// MySQL's `TIME` ends here: 838:59:59.999999.
const LONGEST_TIME: i64 = (838 * 3600 + 59 * 60 + 60) * 1_000_000;

/// MySQL's dates end with the year 9999.
const YEARS: std::ops::RangeInclusive<i64> = 0..=9999;

/// The binds of one execution, or why a value is refused.
pub(super) fn arguments(binds: &[Value], types: &Types) -> Result<MySqlArguments, String> {
    let mut arguments = MySqlArguments::default();
    arguments.reserve(binds.len(), binds.iter().map(size).sum());
    for (index, value) in binds.iter().enumerate() {
        arguments
            .add(Bind { value, types })
            .map_err(|reason| format!("value {} {reason}", index + 1))?;
    }
    Ok(arguments)
}

/// About how many bytes a value takes on its way.
pub(super) fn size(value: &Value) -> usize {
    9 + match value {
        Value::Text(text) | Value::Decimal(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 8,
    }
}

struct Bind<'a> {
    value: &'a Value,
    types: &'a Types,
}

impl Type<MySql> for Bind<'_> {
    fn type_info() -> MySqlTypeInfo {
        <str as Type<MySql>>::type_info()
    }
}

impl Encode<'_, MySql> for Bind<'_> {
    fn encode_by_ref(&self, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
        match self.value {
            Value::Null => return Ok(IsNull::Yes),
            Value::Bool(bool) => out.push(u8::from(*bool)),
            Value::Integer(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Unsigned(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Float(number) if number.is_finite() => {
                out.extend_from_slice(&number.to_le_bytes())
            }
            Value::Float(number) => {
                return refuse(format!(
                    "is {number}, which MySQL has no value for; bind NULL"
                ));
            }
            Value::Decimal(digits) => return decimal(digits, out),
            Value::Text(text) => return <&str as Encode<MySql>>::encode(text, out),
            Value::Blob(bytes) => return <&[u8] as Encode<MySql>>::encode(bytes, out),
            Value::Date(days) => return date(*days, out),
            Value::Timestamp(moment) => return timestamp(*moment, out),
            Value::Interval(span) => return time(*span, out),
            Value::Array(_) => {
                return refuse(
                    "is an array, which MySQL does not have; bind its elements one by one, or as JSON text",
                );
            }
            Value::Range(_) => {
                return refuse("is a range, which MySQL does not have; bind its two ends");
            }
        }
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<MySqlTypeInfo> {
        Some(match self.value {
            Value::Bool(_) => <bool as Type<MySql>>::type_info(),
            Value::Integer(_) => <i64 as Type<MySql>>::type_info(),
            Value::Unsigned(_) => <u64 as Type<MySql>>::type_info(),
            Value::Float(_) => <f64 as Type<MySql>>::type_info(),
            Value::Decimal(_) => self.types.decimal.clone(),
            Value::Blob(_) => <[u8] as Type<MySql>>::type_info(),
            Value::Date(_) => self.types.date.clone(),
            Value::Timestamp(_) => self.types.timestamp.clone(),
            Value::Interval(_) => self.types.time.clone(),
            Value::Null | Value::Text(_) | Value::Array(_) | Value::Range(_) => {
                <str as Type<MySql>>::type_info()
            }
        })
    }
}

fn refuse(reason: impl Into<String>) -> Result<IsNull, BoxDynError> {
    Err(reason.into().into())
}

fn decimal(digits: &str, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
    if matches!(digits, "NaN" | "Infinity" | "-Infinity") {
        return refuse(format!(
            "is {digits}, which MySQL has no value for; bind NULL"
        ));
    }
    <&str as Encode<MySql>>::encode(digits, out)
}

fn date(days: i32, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
    if let i32::MAX | i32::MIN = days {
        return refuse(
            "is an infinite date, which MySQL does not have; bind NULL or a date far away",
        );
    }
    out.push(4);
    calendar(i64::from(days), out)
}

fn timestamp(moment: i64, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
    if let i64::MAX | i64::MIN = moment {
        return refuse(
            "is an infinite time, which MySQL does not have; bind NULL or a time far away",
        );
    }
    out.push(11);
    let is_null = calendar(moment.div_euclid(DAY), out)?;
    clock(moment.rem_euclid(DAY), out);
    Ok(is_null)
}

fn time(span: Interval, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
    if span.months != 0 || span.days != 0 {
        return refuse(
            "is a span with days or months, and MySQL's TIME has hours at most; bind hours, or use INTERVAL in the SQL",
        );
    }
    if span.microseconds.unsigned_abs() >= LONGEST_TIME.unsigned_abs() {
        return refuse("is longer than MySQL's TIME, which ends at 838:59:59");
    }
    let length = span.microseconds.abs();
    out.extend_from_slice(&[12, u8::from(span.microseconds < 0)]);
    out.extend_from_slice(
        &u32::try_from(length / DAY)
            .unwrap_or_default()
            .to_le_bytes(),
    );
    clock(length % DAY, out);
    Ok(IsNull::No)
}

fn calendar(days: i64, out: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
    let (year, month, day) = civil::date(days);
    if !YEARS.contains(&year) {
        return refuse(format!(
            "lies in the year {year}; MySQL's years are 0 to 9999"
        ));
    }
    out.extend_from_slice(&u16::try_from(year).unwrap_or_default().to_le_bytes());
    out.extend_from_slice(&[month, day]);
    Ok(IsNull::No)
}

/// Hour, minute, second and microseconds of a day.
fn clock(microseconds: i64, out: &mut Vec<u8>) {
    let seconds = microseconds / 1_000_000;
    for part in [seconds / 3600, seconds / 60 % 60, seconds % 60] {
        out.push(u8::try_from(part).unwrap_or_default());
    }
    let fraction = u32::try_from(microseconds % 1_000_000).unwrap_or_default();
    out.extend_from_slice(&fraction.to_le_bytes());
}
