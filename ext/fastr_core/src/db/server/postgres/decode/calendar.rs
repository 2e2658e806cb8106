//! Dates and times: PostgreSQL counts from 2000-01-01, the core from 1970-01-01.

use super::Malformed;
use super::reader::Reader;
use crate::db::civil;
use crate::db::rows::Interval;

/// Days from 1970-01-01 to 2000-01-01.
pub(in super::super) const EPOCH_DAYS: i32 = 10_957;
/// Microseconds from 1970-01-01 to 2000-01-01.
pub(in super::super) const EPOCH: i64 = EPOCH_DAYS as i64 * DAY;
/// Microseconds of a day.
pub(in super::super) const DAY: i64 = 86_400_000_000;

pub(super) fn date(days: i32) -> Result<i32, Malformed> {
    match days {
        i32::MAX | i32::MIN => Ok(days),
        days => days.checked_add(EPOCH_DAYS).ok_or(Malformed::TooLate),
    }
}

pub(super) fn timestamp(moment: i64) -> Result<i64, Malformed> {
    match moment {
        i64::MAX | i64::MIN => Ok(moment),
        moment => moment
            .checked_add(EPOCH)
            .filter(|&moment| moment != i64::MAX)
            .ok_or(Malformed::TooLate),
    }
}

pub(super) fn interval(reader: &mut Reader<'_>) -> Result<Interval, Malformed> {
    let microseconds = reader.i64()?;
    let days = reader.i32()?;
    let months = reader.i32()?;
    Ok(Interval {
        months,
        days,
        microseconds,
    })
}

/// `23:59:59.000001`, and `24:00:00`, which PostgreSQL has.
pub(super) fn time(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    match reader.i64()? {
        clock @ 0..=DAY => {
            civil::write_clock(out, clock);
            Ok(())
        }
        _ => Err(Malformed::Bytes),
    }
}

/// `23:59:59+02` or `23:59:59-03:30`.
pub(super) fn time_with_zone(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    time(out, reader)?;
    // PostgreSQL counts seconds to the west of Greenwich.
    let west = reader.i32()?;
    let seconds = west.unsigned_abs();
    if seconds >= 24 * 3600 {
        return Err(Malformed::Bytes);
    }
    out.push(if west > 0 { b'-' } else { b'+' });
    two(out, seconds / 3600);
    for part in [seconds / 60 % 60, seconds % 60] {
        if seconds % 3600 != 0 && (part != 0 || seconds % 60 != 0) {
            out.push(b':');
            two(out, part);
        }
    }
    Ok(())
}

fn two(out: &mut Vec<u8>, number: u32) {
    let digit = |number: u32| b'0' + u8::try_from(number % 10).unwrap_or(0);
    out.extend_from_slice(&[digit(number / 10), digit(number)]);
}
