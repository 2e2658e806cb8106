//! Numbers: the shortest form of single-precision ones, exact decimals from digits to base 10,000, and money.

use super::Malformed;
use super::reader::Reader;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITE: u16 = 0xD000;
const NEGATIVE_INFINITE: u16 = 0xF000;

/// The double with the fewest digits that reads back as this single-precision number: 1.1 and not 1.10000002384.
pub(super) fn widened(number: f32) -> f64 {
    if number.is_finite() {
        let mut buffer = zmij::Buffer::new();
        buffer
            .format_finite(number)
            .parse()
            .unwrap_or_else(|_| number.into())
    } else {
        number.into()
    }
}

/// An exact decimal in plain digits, with as many after the point as the database keeps.
pub(super) fn numeric(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = usize::from(reader.u16()?);
    let weight = i32::from(reader.i16()?);
    let sign = reader.u16()?;
    let scale = usize::from(reader.u16()?);
    match sign {
        NAN => out.extend_from_slice(b"NaN"),
        INFINITE => out.extend_from_slice(b"Infinity"),
        NEGATIVE_INFINITE => out.extend_from_slice(b"-Infinity"),
        0 | NEGATIVE => {
            let digits = reader.take(count * 2)?;
            if sign == NEGATIVE {
                out.push(b'-');
            }
            return decimal(out, digits, weight, scale);
        }
        _ => return Err(Malformed::Bytes),
    }
    reader.take(count * 2).map(drop)
}

/// `weight` is the position of the first group: 0 stands directly before the point.
fn decimal(out: &mut Vec<u8>, digits: &[u8], weight: i32, scale: usize) -> Result<(), Malformed> {
    let group = |position: i32| -> Result<u16, Malformed> {
        let index = usize::try_from(weight - position).ok();
        let digit = index
            .and_then(|index| digits.get(index * 2..index * 2 + 2))
            .map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        if digit < 10_000 {
            Ok(digit)
        } else {
            Err(Malformed::Bytes)
        }
    };
    if weight < 0 {
        out.push(b'0');
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(group(weight)?).as_bytes());
        for position in (0..weight).rev() {
            out.extend_from_slice(&four(group(position)?));
        }
    }
    if scale > 0 {
        out.push(b'.');
        let end = out.len() + scale;
        let mut position = -1;
        while out.len() < end {
            out.extend_from_slice(&four(group(position)?));
            position -= 1;
        }
        out.truncate(end);
    }
    Ok(())
}

fn four(group: u16) -> [u8; 4] {
    let digit = |unit: u16| b'0' + u8::try_from(group / unit % 10).unwrap_or(0);
    [digit(1000), digit(100), digit(10), digit(1)]
}

/// Money has two digits after the point, as in nearly all locales; where `lc_monetary` says otherwise select it as
/// `::numeric`.
pub(super) fn money(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let cents = reader.i64()?;
    let whole = cents.unsigned_abs();
    if cents < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(itoa::Buffer::new().format(whole / 100).as_bytes());
    out.push(b'.');
    out.extend_from_slice(&four(u16::try_from(whole % 100).unwrap_or(0))[2..]);
    Ok(())
}
