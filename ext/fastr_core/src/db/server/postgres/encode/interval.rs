//! Spans of time. Text is read in PostgreSQL's own form (`1 year 2 mons -3 days 04:05:06.5`, `1 day ago`) and in the
//! one of ISO 8601 (`P1Y2M3DT4H5M6.5S`).

use super::calendar::Scanner;
use super::put;
use super::refusal::Refusal;
use crate::db::rows::{Interval, Value};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

pub(super) fn interval(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let span = match value {
        Value::Interval(span) => *span,
        // A plain number counts seconds, as in text.
        Value::Integer(seconds) => Interval {
            microseconds: seconds.checked_mul(SECOND).ok_or(Refusal::Range)?,
            ..Interval::default()
        },
        Value::Float(seconds) => {
            let mut sum = Sum::default();
            sum.add(*seconds, "s")?;
            sum.span()?
        }
        Value::Text(text) => parse(text.trim())?,
        _ => return Err(Refusal::Class),
    };
    put(out, span.microseconds.to_be_bytes());
    put(out, span.days.to_be_bytes());
    put(out, span.months.to_be_bytes());
    Ok(())
}

fn parse(text: &str) -> Result<Interval, Refusal> {
    match text.strip_prefix(['P', 'p']) {
        Some(rest) => iso(rest),
        None => verbose(text),
    }
}

/// The parts as they add up; months, days and microseconds stay apart.
#[derive(Default)]
struct Sum {
    months: f64,
    days: f64,
    microseconds: i128,
}

impl Sum {
    /// Adds so many of a unit; a fraction spills into the next smaller part, with months of 30 days.
    fn add(&mut self, number: f64, unit: &str) -> Result<(), Refusal> {
        if !number.is_finite() || number.abs() > 1e15 {
            return Err(Refusal::Range);
        }
        match unit {
            "y" | "yr" | "yrs" | "year" | "years" => self.add_months(number * 12.0),
            "mon" | "mons" | "month" | "months" => self.add_months(number),
            "dec" | "decs" | "decade" | "decades" => self.add_months(number * 120.0),
            "c" | "cent" | "century" | "centuries" => self.add_months(number * 1_200.0),
            "mil" | "mils" | "millennium" | "millennia" | "millenniums" => {
                self.add_months(number * 12_000.0);
            }
            "w" | "week" | "weeks" => self.add_days(number * 7.0),
            "d" | "day" | "days" => self.add_days(number),
            "h" | "hr" | "hrs" | "hour" | "hours" => self.add_seconds(number * 3_600.0),
            "m" | "min" | "mins" | "minute" | "minutes" => self.add_seconds(number * 60.0),
            "s" | "sec" | "secs" | "second" | "seconds" => self.add_seconds(number),
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => {
                self.add_seconds(number / 1e3);
            }
            "us" | "usec" | "usecs" | "microsecond" | "microseconds" => {
                self.add_seconds(number / 1e6);
            }
            _ => return Err(Refusal::Text),
        }
        Ok(())
    }

    fn add_months(&mut self, months: f64) {
        self.months += months.trunc();
        self.add_days(months.fract() * 30.0);
    }

    fn add_days(&mut self, days: f64) {
        self.days += days.trunc();
        self.add_seconds(days.fract() * 86_400.0);
    }

    fn add_seconds(&mut self, seconds: f64) {
        // Whole seconds apart, so that no digit of a microsecond is lost in large spans.
        self.microseconds +=
            seconds.trunc() as i128 * i128::from(SECOND) + (seconds.fract() * 1e6).round() as i128;
    }

    fn span(&self) -> Result<Interval, Refusal> {
        let whole = |number: f64| -> Result<i32, Refusal> {
            if number.abs() <= f64::from(i32::MAX) {
                Ok(number as i32)
            } else {
                Err(Refusal::Range)
            }
        };
        Ok(Interval {
            months: whole(self.months)?,
            days: whole(self.days)?,
            microseconds: i64::try_from(self.microseconds).map_err(|_| Refusal::Range)?,
        })
    }
}

/// `1Y2M3DT4H5M6.5S` and `2W`.
fn iso(text: &str) -> Result<Interval, Refusal> {
    let mut sum = Sum::default();
    let mut rest = text;
    let mut is_clock = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(['T', 't']) {
            is_clock = true;
            rest = after;
            continue;
        }
        let (number, after) = decimal(rest).ok_or(Refusal::Text)?;
        let mut characters = after.chars();
        let unit = match (
            characters.next().map(|unit| unit.to_ascii_uppercase()),
            is_clock,
        ) {
            (Some('Y'), false) => "y",
            (Some('M'), false) => "mon",
            (Some('W'), false) => "w",
            (Some('D'), false) => "d",
            (Some('H'), true) => "h",
            (Some('M'), true) => "m",
            (Some('S'), true) => "s",
            _ => return Err(Refusal::Text),
        };
        sum.add(number, unit)?;
        rest = characters.as_str();
    }
    if text.is_empty() {
        Err(Refusal::Text)
    } else {
        sum.span()
    }
}

/// `1 year 2 mons -3 days +04:05:06.5`, `90`, `2 days ago`.
fn verbose(text: &str) -> Result<Interval, Refusal> {
    let (text, is_ago) = match text.strip_suffix("ago") {
        Some(rest) if rest.ends_with(char::is_whitespace) => (rest, true),
        _ => (text, false),
    };
    let mut sum = Sum::default();
    let mut rest = text.strip_prefix('@').unwrap_or(text).trim();
    if rest.is_empty() {
        return Err(Refusal::Text);
    }
    while !rest.is_empty() {
        if let Some((microseconds, after)) = clock(rest) {
            sum.microseconds += i128::from(microseconds);
            rest = after.trim_start();
            continue;
        }
        let (number, after) = decimal(rest).ok_or(Refusal::Text)?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit = if unit.is_empty() { "s" } else { unit };
        sum.add(number, &unit.to_ascii_lowercase())?;
        rest = after.trim_start();
    }
    if is_ago {
        sum.months = -sum.months;
        sum.days = -sum.days;
        sum.microseconds = -sum.microseconds;
    }
    sum.span()
}

/// `-04:05:06.5`, with as many hours as one likes.
fn clock(text: &str) -> Option<(i64, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut scanner = Scanner(unsigned);
    let hours = scanner.number()?;
    scanner.skip(':')?;
    let minutes = scanner.number()?;
    let mut sum = hours
        .checked_mul(3_600)?
        .checked_add(minutes * 60)?
        .checked_mul(SECOND)?;
    if scanner.skip(':').is_some() {
        let seconds = scanner.number()?;
        if seconds > 60 {
            return None;
        }
        sum = sum.checked_add(seconds * SECOND + scanner.fraction()?)?;
    }
    let is_end = scanner.0.is_empty() || scanner.0.starts_with(char::is_whitespace);
    let sum = if text.starts_with('-') { -sum } else { sum };
    (minutes < 60 && is_end && sum.abs() < i64::MAX / DAY * DAY).then_some((sum, scanner.0))
}

/// A number with a sign and a fraction, and what follows it.
fn decimal(text: &str) -> Option<(f64, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = unsigned
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let end = text.len() - unsigned.len() + length;
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}
