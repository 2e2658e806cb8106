//! MySQL's text format, in which statements answer that cannot be prepared.

use super::{Read, Reading, bits, date, decimal, timestamp, utf8};

/// Reads one value that is not NULL.
pub(super) fn read(reading: Reading, bytes: &[u8]) -> Read<'_> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let read = match reading {
        Reading::Signed => text.parse().ok().map(Read::Integer),
        Reading::Unsigned => text.parse().ok().map(Read::Unsigned),
        Reading::Float | Reading::Double => text.parse().ok().map(Read::Float),
        Reading::Date => day(text).map(|date| date.map_or(Read::Null, Read::Date)),
        Reading::Timestamp => moment(text),
        Reading::Clock => Some(Read::Clock(clock_text(text))),
        Reading::Bits => Some(bits(bytes)),
        Reading::Decimal => Some(decimal(bytes)),
        Reading::Text => Some(utf8(bytes)),
        Reading::Bytes => None,
    };
    read.unwrap_or_else(|| utf8(bytes))
}

/// `2026-01-31`; the inner none is a zero date.
fn day(text: &str) -> Option<Option<i32>> {
    let mut parts = text
        .split('-')
        .map(|part| part.parse::<u16>().ok().map(i64::from));
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    Some(date(year, month, day))
}

/// `2026-01-31 23:59:59.000001`
fn moment(text: &str) -> Option<Read<'static>> {
    let (date, clock) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = whole
        .split(':')
        .map(|part| part.parse::<u8>().ok().map(i64::from));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let fraction = fraction.get(..6).unwrap_or(fraction);
    let microseconds: u32 = format!("{fraction:0<6}").parse().ok()?;
    let clock = (hour * 3600 + minute * 60 + second) * 1_000_000 + i64::from(microseconds);
    Some(timestamp(day(date)?, clock))
}

/// A time as the binary format has it: a fraction only if there is one, and then six digits.
fn clock_text(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    match fraction.bytes().all(|digit| digit == b'0') {
        true => whole.into(),
        false => format!("{whole}.{fraction:0<6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_its_column_says() {
        let text = |reading, text: &'static str| read(reading, text.as_bytes());
        assert_eq!(text(Reading::Signed, "-5"), Read::Integer(-5));
        assert_eq!(
            text(Reading::Unsigned, "18446744073709551615"),
            Read::Unsigned(u64::MAX)
        );
        assert_eq!(text(Reading::Date, "0000-00-00"), Read::Null);
        assert_eq!(text(Reading::Date, "1970-01-02"), Read::Date(1));
        assert_eq!(
            text(Reading::Timestamp, "1970-01-01 00:00:01.5"),
            Read::Timestamp(1_500_000)
        );
        let long = "1970-01-01 00:00:00.9223372036854775807";
        assert_eq!(text(Reading::Timestamp, long), Read::Timestamp(922_337));
        assert_eq!(text(Reading::Timestamp, "2020-00-01 00:00:00"), Read::Null);
        assert_eq!(
            text(Reading::Clock, "-838:59:59.500"),
            Read::Clock("-838:59:59.500000".into())
        );
        assert_eq!(
            text(Reading::Clock, "00:00:00.00"),
            Read::Clock("00:00:00".into())
        );
        assert_eq!(text(Reading::Signed, "many"), Read::Text("many"));
        assert_eq!(read(Reading::Bits, &[1, 0]), Read::Unsigned(256));
        assert_eq!(read(Reading::Text, &[255]), Read::Bytes(&[255]));
    }
}
