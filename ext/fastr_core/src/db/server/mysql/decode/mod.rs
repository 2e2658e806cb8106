//! From the server's bytes to values. A prepared statement answers in MySQL's binary format, a plain one in text.
//!
//! A date that is none (`0000-00-00`, or with month or day zero) is NULL. Text that is not UTF-8 stays bytes. Nothing
//! fails: what cannot be read as its type stays the bytes it is.

mod binary;
mod text;

use sqlx::mysql::{MySqlRow, MySqlValueRef};
use sqlx::{Decode, MySql, Row, ValueRef};

use crate::db::civil;
use crate::db::json::Cell;
use crate::db::rows::Value;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// How the bytes of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Signed,
    Unsigned,
    Bits,
    Float,
    Double,
    Decimal,
    Date,
    Timestamp,
    Clock,
    Text,
    Bytes,
}

/// The two formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Binary,
    Text,
}

/// A value as it was read, borrowed from its row where that is possible.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Read<'a> {
    Null,
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Decimal(&'a str),
    Date(i32),
    Timestamp(i64),
    Clock(String),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Reading {
    /// Reads one column of a row.
    pub(super) fn read(self, row: &MySqlRow, index: usize, format: Format) -> Read<'_> {
        match bytes(row, index) {
            None => Read::Null,
            Some(bytes) => match format {
                Format::Binary => binary::read(self, bytes),
                Format::Text => text::read(self, bytes),
            },
        }
    }

    /// Whether a value of it has to be made before it can become JSON.
    pub(super) fn is_made(self) -> bool {
        matches!(
            self,
            Self::Unsigned | Self::Bits | Self::Date | Self::Timestamp | Self::Clock
        )
    }
}

impl From<Read<'_>> for Value {
    fn from(read: Read<'_>) -> Self {
        match read {
            Read::Null => Value::Null,
            Read::Integer(number) => Value::Integer(number),
            Read::Unsigned(number) => Value::from(number),
            Read::Float(number) => Value::Float(number),
            Read::Decimal(digits) => Value::Decimal(digits.into()),
            Read::Date(days) => Value::Date(days),
            Read::Timestamp(moment) => Value::Timestamp(moment),
            Read::Clock(text) => Value::Text(text),
            Read::Text(text) => Value::Text(text.into()),
            Read::Bytes(bytes) => Value::Blob(bytes.into()),
        }
    }
}

/// A value on its way to JSON. The readings that are made first never come here.
pub(super) fn cell(read: Read<'_>) -> Cell<'_> {
    match read {
        Read::Integer(number) => Cell::Integer(number),
        Read::Float(number) => Cell::Float(number),
        Read::Text(text) | Read::Decimal(text) => Cell::Text(text),
        Read::Bytes(bytes) => Cell::Blob(bytes),
        Read::Null | Read::Unsigned(_) | Read::Date(_) | Read::Timestamp(_) | Read::Clock(_) => {
            Cell::Null
        }
    }
}

fn bytes(row: &MySqlRow, index: usize) -> Option<&[u8]> {
    let value: MySqlValueRef<'_> = row.try_get_raw(index).ok()?;
    if value.is_null() {
        return None;
    }
    <&[u8] as Decode<'_, MySql>>::decode(value).ok()
}

fn utf8(bytes: &[u8]) -> Read<'_> {
    std::str::from_utf8(bytes).map_or(Read::Bytes(bytes), Read::Text)
}

fn decimal(bytes: &[u8]) -> Read<'_> {
    std::str::from_utf8(bytes).map_or(Read::Bytes(bytes), Read::Decimal)
}

/// The bits of `BIT(n)`, which both formats send as bytes, the highest first.
fn bits(bytes: &[u8]) -> Read<'_> {
    if bytes.len() > 8 {
        return Read::Bytes(bytes);
    }
    Read::Unsigned(
        bytes
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)),
    )
}

/// A date, unless it is a zero date.
fn date(year: i64, month: i64, day: i64) -> Option<i32> {
    if month == 0 || day == 0 {
        return None;
    }
    i32::try_from(civil::days(year, month, day)).ok()
}

/// A point in time, unless its date is a zero date.
fn timestamp(date: Option<i32>, clock: i64) -> Read<'static> {
    date.map_or(Read::Null, |days| {
        Read::Timestamp(i64::from(days) * DAY + clock)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const READINGS: [Reading; 11] = [
        Reading::Signed,
        Reading::Unsigned,
        Reading::Bits,
        Reading::Float,
        Reading::Double,
        Reading::Decimal,
        Reading::Date,
        Reading::Timestamp,
        Reading::Clock,
        Reading::Text,
        Reading::Bytes,
    ];

    proptest! {
        #[test]
        fn no_bytes_of_a_server_make_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..24),
            text in "-?[0-9]{0,5}-[0-9]{0,3}-[0-9]{0,3}( [0-9]{0,3}:[0-9]{0,3}:[0-9]{0,3}(\\.[0-9é]{0,25})?)?",
        ) {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                for reading in READINGS {
                    for read in [binary::read(reading, bytes), text::read(reading, bytes)] {
                        let value = Value::from(read.clone());
                        let _ = (cell(read), format!("{value:?}"));
                    }
                }
            }
        }

        #[test]
        fn a_date_with_its_length_in_front_is_read_at_every_length(bytes in prop::collection::vec(any::<u8>(), 0..11)) {
            let sent = [&[bytes.len() as u8], bytes.as_slice()].concat();
            let read = binary::read(Reading::Timestamp, &sent);
            prop_assert!(matches!(read, Read::Null | Read::Timestamp(_)), "{read:?}");
        }
    }
}
