//! Dates and times. Text is read in the ISO forms, `2026-01-31`, `2026-01-31 23:59:59.5+02`, `23:59:59`, with `BC`,
//! `infinity` and `epoch`; what else PostgreSQL reads (names of months, of zones, `tomorrow`) only the server reads.

use super::super::decode::{DAY, EPOCH, EPOCH_DAYS};
use super::super::oid::Form;
use super::put;
use super::refusal::Refusal;
use crate::db::civil;
use crate::db::rows::Value;

const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;
const SECOND: i64 = 1_000_000;
/// 4714-11-24 BC is PostgreSQL's first day, counted from 1970.
const FIRST_DAY: i64 = -2_440_588;
/// 5874897-12-31 is its last.
const LAST_DAY: i64 = 2_145_042_905;
/// 294276-12-31 is the last day of its points in time.
const LAST_MOMENT_DAY: i64 = 106_762_939;

/// Days since 2000-01-01.
pub(super) fn date(value: &Value) -> Result<i32, Refusal> {
    let days = match value {
        Value::Date(days @ (i32::MAX | i32::MIN)) => return Ok(*days),
        Value::Date(days) => i64::from(*days),
        Value::Timestamp(i64::MAX) => return Ok(i32::MAX),
        Value::Timestamp(i64::MIN) => return Ok(i32::MIN),
        Value::Timestamp(moment) => moment.div_euclid(DAY),
        Value::Float(number) if number.is_infinite() => {
            return Ok(if *number < 0.0 { i32::MIN } else { i32::MAX });
        }
        Value::Text(text) => match Moment::parse(text)? {
            Moment::Infinite => return Ok(i32::MAX),
            Moment::NegativeInfinite => return Ok(i32::MIN),
            Moment::At { day, .. } => day,
        },
        _ => return Err(Refusal::Class),
    };
    if !(FIRST_DAY..=LAST_DAY).contains(&days) {
        return Err(Refusal::Range);
    }
    i32::try_from(days - i64::from(EPOCH_DAYS)).map_err(|_| Refusal::Range)
}

/// Microseconds since 2000-01-01.
pub(super) fn timestamp(value: &Value, form: &Form) -> Result<i64, Refusal> {
    let since_1970 = match value {
        Value::Timestamp(moment @ (i64::MAX | i64::MIN)) => return Ok(*moment),
        Value::Timestamp(moment) => i128::from(*moment),
        Value::Date(i32::MAX) => return Ok(i64::MAX),
        Value::Date(i32::MIN) => return Ok(i64::MIN),
        Value::Date(days) => i128::from(*days) * i128::from(DAY),
        Value::Float(number) if number.is_infinite() => {
            return Ok(if *number < 0.0 { i64::MIN } else { i64::MAX });
        }
        Value::Text(text) => match Moment::parse(text)? {
            Moment::Infinite => return Ok(i64::MAX),
            Moment::NegativeInfinite => return Ok(i64::MIN),
            Moment::At { day, clock, zone } => {
                // Without a zone in the type PostgreSQL ignores the one in the text.
                let east = if *form == Form::TimestampTz {
                    zone.unwrap_or(0)
                } else {
                    0
                };
                i128::from(day) * i128::from(DAY) + i128::from(clock - east)
            }
        },
        _ => return Err(Refusal::Class),
    };
    let day = since_1970.div_euclid(i128::from(DAY));
    if !(i128::from(FIRST_DAY)..=i128::from(LAST_MOMENT_DAY)).contains(&day) {
        return Err(Refusal::Range);
    }
    i64::try_from(since_1970 - i128::from(EPOCH)).map_err(|_| Refusal::Range)
}

/// Microseconds since midnight.
pub(super) fn time(value: &Value) -> Result<i64, Refusal> {
    match value {
        Value::Timestamp(moment) if !matches!(*moment, i64::MAX | i64::MIN) => {
            Ok(moment.rem_euclid(DAY))
        }
        Value::Interval(span) => Ok(span.microseconds.rem_euclid(DAY)),
        Value::Text(text) => of_day(text).map(|(clock, _)| clock),
        _ => Err(Refusal::Class),
    }
}

pub(super) fn time_with_zone(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (clock, zone) = match value {
        Value::Text(text) => of_day(text)?,
        other => (time(other)?, None),
    };
    put(out, clock.to_be_bytes());
    let west = i32::try_from(-zone.unwrap_or(0) / SECOND).map_err(|_| Refusal::Range)?;
    put(out, west.to_be_bytes());
    Ok(())
}

/// A time of day, also the one of a whole point in time.
fn of_day(text: &str) -> Result<(i64, Option<i64>), Refusal> {
    let mut scanner = Scanner(text.trim());
    if let Some((clock, zone)) = scanner.clock_and_zone()
        && scanner.0.is_empty()
    {
        return Ok((clock, zone));
    }
    match Moment::parse(text)? {
        Moment::At { clock, zone, .. } => Ok((clock, zone)),
        _ => Err(Refusal::Text),
    }
}

/// A date with or without a time of day.
enum Moment {
    Infinite,
    NegativeInfinite,
    At {
        /// Days since 1970-01-01.
        day: i64,
        /// Microseconds since midnight.
        clock: i64,
        /// Microseconds to the east of Greenwich.
        zone: Option<i64>,
    },
}

impl Moment {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        if is("infinity") || is("+infinity") {
            return Ok(Moment::Infinite);
        }
        if is("-infinity") {
            return Ok(Moment::NegativeInfinite);
        }
        if is("epoch") {
            let (day, clock, zone) = (0, 0, Some(0));
            return Ok(Moment::At { day, clock, zone });
        }
        let (text, is_before_christ) = match text
            .len()
            .checked_sub(2)
            .map(|at| text.split_at_checked(at))
        {
            Some(Some((rest, end))) if end.eq_ignore_ascii_case("bc") => (rest.trim_end(), true),
            _ => (text, false),
        };
        let mut scanner = Scanner(text);
        let day = scanner.date(is_before_christ).ok_or(Refusal::Text)?;
        if scanner.0.is_empty() {
            let (clock, zone) = (0, None);
            return Ok(Moment::At { day, clock, zone });
        }
        scanner.0 = scanner
            .0
            .strip_prefix(['T', 't', ' '])
            .ok_or(Refusal::Text)?
            .trim_start();
        let (clock, zone) = scanner.clock_and_zone().ok_or(Refusal::Text)?;
        if scanner.0.is_empty() {
            Ok(Moment::At { day, clock, zone })
        } else {
            Err(Refusal::Text)
        }
    }
}

/// What is left of a text.
pub(super) struct Scanner<'a>(pub(super) &'a str);

impl Scanner<'_> {
    /// A run of digits.
    pub(super) fn number(&mut self) -> Option<i64> {
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        // Nothing in a date has more digits.
        if digits.len() > 9 {
            None
        } else {
            digits.parse().ok()
        }
    }

    pub(super) fn skip(&mut self, character: char) -> Option<()> {
        self.0 = self.0.strip_prefix(character)?;
        Some(())
    }

    /// `2026-01-31`, as days since 1970-01-01. There is no year 0.
    fn date(&mut self, is_before_christ: bool) -> Option<i64> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.number()?;
        self.skip('-')?;
        let month = self.number()?;
        self.skip('-')?;
        let day = self.number()?;
        if digits < 4 || number == 0 {
            return None;
        }
        let year = if is_before_christ { 1 - number } else { number };
        let days = civil::days(year, month, day);
        let written = (year, u8::try_from(month).ok()?, u8::try_from(day).ok()?);
        // A day that the month does not have comes back as another one.
        (civil::date(days) == written).then_some(days)
    }

    /// `23:59:59.5+02`; the zone may be missing.
    fn clock_and_zone(&mut self) -> Option<(i64, Option<i64>)> {
        let clock = self.clock()?;
        self.0 = self.0.trim_start();
        let zone = self.zone()?;
        Some((clock, zone))
    }

    /// `23:59`, `23:59:59`, `23:59:59.123456`.
    pub(super) fn clock(&mut self) -> Option<i64> {
        let hours = self.number()?;
        self.skip(':')?;
        let minutes = self.number()?;
        let mut clock = hours * HOUR + minutes * MINUTE;
        let mut is_valid = hours <= 24 && minutes < 60;
        if self.skip(':').is_some() {
            let seconds = self.number()?;
            clock += seconds * SECOND + self.fraction()?;
            is_valid &= seconds <= 60;
        }
        (is_valid && clock <= DAY).then_some(clock)
    }

    /// Microseconds after a point, rounded; nothing without a point.
    pub(super) fn fraction(&mut self) -> Option<i64> {
        if self.skip('.').is_none() {
            return Some(0);
        }
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        let digit = |index: usize| {
            digits
                .as_bytes()
                .get(index)
                .map_or(0, |digit| i64::from(digit - b'0'))
        };
        let whole = (0..6).fold(0, |number, index| number * 10 + digit(index));
        Some(whole + i64::from(digit(6) >= 5))
    }

    /// Microseconds to the east of Greenwich: `Z`, `UTC`, `+02`, `+0230`, `-03:30`.
    fn zone(&mut self) -> Option<Option<i64>> {
        let text = self.0;
        if text.is_empty() {
            return Some(None);
        }
        if ["z", "utc", "gmt"]
            .iter()
            .any(|name| text.eq_ignore_ascii_case(name))
        {
            self.0 = "";
            return Some(Some(0));
        }
        let sign = match text.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &text[1..];
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.number()?;
        let (hours, mut minutes) = match digits {
            1 | 2 => (number, 0),
            3 | 4 => (number / 100, number % 100),
            _ => return None,
        };
        let mut seconds = 0;
        if digits <= 2 && self.skip(':').is_some() {
            minutes = self.number()?;
            if self.skip(':').is_some() {
                seconds = self.number()?;
            }
        }
        // PostgreSQL allows less than sixteen hours.
        let is_valid = hours < 16 && minutes < 60 && seconds < 60;
        is_valid.then_some(Some(
            sign * (hours * HOUR + minutes * MINUTE + seconds * SECOND),
        ))
    }
}
