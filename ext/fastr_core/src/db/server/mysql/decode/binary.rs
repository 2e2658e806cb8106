//! MySQL's binary format. Whole numbers are little-endian and as wide as their type; dates and times have a length in
//! front, and leave out what is zero at their end.

use super::{Read, Reading, bits, date, decimal, timestamp, utf8};

/// Reads one value that is not NULL.
pub(super) fn read(reading: Reading, bytes: &[u8]) -> Read<'_> {
    let read = match reading {
        Reading::Signed => signed(bytes).map(Read::Integer),
        Reading::Unsigned => unsigned(bytes).map(Read::Unsigned),
        Reading::Float | Reading::Double => float(bytes).map(Read::Float),
        Reading::Date => fields(bytes).map(|fields| fields.date().map_or(Read::Null, Read::Date)),
        Reading::Timestamp => fields(bytes).map(|fields| timestamp(fields.date(), fields.clock())),
        Reading::Clock => clock(bytes).map(Read::Clock),
        Reading::Bits => Some(bits(bytes)),
        Reading::Decimal => Some(decimal(bytes)),
        Reading::Text => Some(utf8(bytes)),
        Reading::Bytes => None,
    };
    read.unwrap_or(Read::Bytes(bytes))
}

fn signed(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [a] => i64::from(i8::from_le_bytes([a])),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn unsigned(bytes: &[u8]) -> Option<u64> {
    Some(match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        _ => u64::from_le_bytes(bytes.try_into().ok()?),
    })
}

/// A `FLOAT` becomes the double with the same shortest digits: 0.1 stays 0.1.
fn float(bytes: &[u8]) -> Option<f64> {
    match *bytes {
        [a, b, c, d] => zmij::Buffer::new()
            .format(f32::from_le_bytes([a, b, c, d]))
            .parse()
            .ok(),
        _ => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
    }
}

/// The parts of a date with or without a time of day; what is left out is zero.
struct Fields {
    year: i64,
    month: u8,
    day: u8,
    seconds: i64,
    microseconds: i64,
}

impl Fields {
    fn date(&self) -> Option<i32> {
        date(self.year, self.month.into(), self.day.into())
    }

    fn clock(&self) -> i64 {
        self.seconds * 1_000_000 + self.microseconds
    }
}

fn fields(bytes: &[u8]) -> Option<Fields> {
    let (&length, rest) = bytes.split_first()?;
    let mut all = [0; 11];
    let given = rest.get(..usize::from(length))?;
    all.get_mut(..given.len())?.copy_from_slice(given);
    let [y0, y1, month, day, hour, minute, second, m0, m1, m2, m3] = all;
    Some(Fields {
        year: u16::from_le_bytes([y0, y1]).into(),
        month,
        day,
        seconds: seconds(hour.into(), minute, second),
        microseconds: u32::from_le_bytes([m0, m1, m2, m3]).into(),
    })
}

fn seconds(hours: i64, minutes: u8, seconds: u8) -> i64 {
    hours * 3600 + i64::from(minutes) * 60 + i64::from(seconds)
}

/// `-838:59:59.000001`: hours beyond a day, and a fraction only if there is one.
fn clock(bytes: &[u8]) -> Option<String> {
    let (&length, rest) = bytes.split_first()?;
    let mut all = [0; 12];
    let given = rest.get(..usize::from(length))?;
    all.get_mut(..given.len())?.copy_from_slice(given);
    let [
        is_negative,
        d0,
        d1,
        d2,
        d3,
        hour,
        minute,
        second,
        m0,
        m1,
        m2,
        m3,
    ] = all;
    let sign = if is_negative == 1 { "-" } else { "" };
    let hours = u64::from(u32::from_le_bytes([d0, d1, d2, d3])) * 24 + u64::from(hour);
    let microseconds = u32::from_le_bytes([m0, m1, m2, m3]);
    Some(match microseconds {
        0 => format!("{sign}{hours:02}:{minute:02}:{second:02}"),
        fraction => format!("{sign}{hours:02}:{minute:02}:{second:02}.{fraction:06}"),
    })
}
