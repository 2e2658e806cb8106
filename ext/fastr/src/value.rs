//! Database values as Ruby values, by the kind of their column. Decoding never raises for what a database may hold: a
//! value that does not fit its column's kind comes back as it is stored.

use fastr_core::db::{Kind, Value as Stored};
use magnus::prelude::*;
use magnus::value::Lazy;
use magnus::{Error, RClass, RModule, RString, Ruby, Value};

use crate::raw::env;

static DATE: Lazy<RClass> = Lazy::new(|ruby| class(ruby, "Date"));
static TIME: Lazy<RClass> = Lazy::new(|ruby| class(ruby, "Time"));
static JSON: Lazy<RModule> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get("JSON")
        .expect("async_record requires json before it loads this library")
});

fn class(ruby: &Ruby, name: &str) -> RClass {
    ruby.class_object()
        .const_get(name)
        .expect("async_record requires the class before it loads this library")
}

/// Turns stored values into Ruby's.
pub(crate) struct Decoder<'a>(&'a Ruby);

impl<'a> Decoder<'a> {
    pub(crate) fn new(ruby: &'a Ruby) -> Self {
        Self(ruby)
    }

    pub(crate) fn decode(&self, kind: Kind, value: &Stored) -> Result<Value, Error> {
        let ruby = self.0;
        let decoded = match (kind, value) {
            (_, Stored::Null) => return Ok(ruby.qnil().as_value()),
            (Kind::Boolean, Stored::Integer(0)) => return Ok(ruby.qfalse().as_value()),
            (Kind::Boolean, Stored::Integer(1)) => return Ok(ruby.qtrue().as_value()),
            (Kind::Boolean, Stored::Text(text)) => boolean(ruby, text),
            (Kind::Decimal, Stored::Integer(number)) => self.decimal(&number.to_string())?,
            (Kind::Decimal, Stored::Float(number)) => self.decimal(&number.to_string())?,
            (Kind::Decimal, Stored::Text(text)) => self.decimal(text)?,
            (Kind::Float, Stored::Integer(number)) => {
                Some(ruby.float_from_f64(*number as f64).as_value())
            }
            (Kind::Date, Stored::Text(text)) => self.date(text)?,
            (Kind::DateTime, Stored::Text(text)) => self.time(text)?,
            (Kind::DateTime, Stored::Integer(seconds)) => Some(
                ruby.get_inner(&TIME)
                    .funcall::<_, _, Value>("at", (*seconds,))?
                    .funcall("utc", ())?,
            ),
            (Kind::Json, Stored::Text(text)) => self.json(text)?,
            _ => None,
        };
        Ok(decoded.unwrap_or_else(|| stored(ruby, value)))
    }

    fn decimal(&self, text: &str) -> Result<Option<Value>, Error> {
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        if text.is_empty() || !plain {
            return Ok(None);
        }
        self.0
            .module_kernel()
            .funcall("BigDecimal", (text,))
            .map(Some)
    }

    fn date(&self, text: &str) -> Result<Option<Value>, Error> {
        let Some((year, month, day)) = civil::date(text) else {
            return Ok(None);
        };
        self.0
            .get_inner(&DATE)
            .funcall("new", (year, month, day))
            .map(Some)
    }

    fn time(&self, text: &str) -> Result<Option<Value>, Error> {
        let Some(moment) = civil::moment(text) else {
            return Ok(None);
        };
        let time: Value = self.0.get_inner(&TIME).funcall(
            "at",
            (moment.seconds, moment.nanoseconds, self.0.to_symbol("nsec")),
        )?;
        time.funcall("utc", ()).map(Some)
    }

    /// Invalid JSON in a JSON column stays text.
    fn json(&self, text: &str) -> Result<Option<Value>, Error> {
        Ok(self.0.get_inner(&JSON).funcall("parse", (text,)).ok())
    }
}

fn boolean(ruby: &Ruby, text: &str) -> Option<Value> {
    match text {
        "t" | "true" | "TRUE" | "1" => Some(ruby.qtrue().as_value()),
        "f" | "false" | "FALSE" | "0" => Some(ruby.qfalse().as_value()),
        _ => None,
    }
}

fn stored(ruby: &Ruby, value: &Stored) -> Value {
    match value {
        Stored::Null => ruby.qnil().as_value(),
        Stored::Bool(value) => ruby.into_value(*value),
        Stored::Integer(number) => ruby.into_value(*number),
        Stored::Float(number) => ruby.float_from_f64(*number).as_value(),
        Stored::Text(text) => ruby.str_new(text).as_value(),
        Stored::Blob(bytes) => env::binary(bytes),
    }
}

/// A Ruby value as a bind.
pub(crate) fn bind(ruby: &Ruby, value: Value) -> Result<Stored, Error> {
    if value.is_nil() {
        return Ok(Stored::Null);
    }
    if let Some(number) = magnus::Integer::from_value(value) {
        return number.to_i64().map(Stored::Integer);
    }
    if let Some(number) = magnus::Float::from_value(value) {
        return Ok(Stored::Float(number.to_f64()));
    }
    if let Some(text) = RString::from_value(value) {
        return string(ruby, text);
    }
    if value.is_kind_of(ruby.class_true_class()) || value.is_kind_of(ruby.class_false_class()) {
        return Ok(Stored::Bool(value.to_bool()));
    }
    if let Some(symbol) = magnus::Symbol::from_value(value) {
        return Ok(Stored::Text(symbol.name()?.into_owned()));
    }
    let message = format!(
        "{} cannot be bound: give nil, true, false, a number or a String",
        value.class()
    );
    Err(Error::new(ruby.exception_type_error(), message))
}

fn string(ruby: &Ruby, text: RString) -> Result<Stored, Error> {
    if text.enc_get() == ruby.ascii8bit_encindex() {
        return Ok(Stored::Blob(env::bytes(text).to_vec()));
    }
    text.to_string().map(Stored::Text)
}

/// Calendar arithmetic on the text forms that databases use.
mod civil {
    pub(super) struct Moment {
        pub(super) seconds: i64,
        pub(super) nanoseconds: u32,
    }

    /// `2026-01-31`
    pub(super) fn date(text: &str) -> Option<(i64, u8, u8)> {
        let mut parts = text.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if year.len() != 4 || month.len() != 2 || day.len() != 2 {
            return None;
        }
        let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
        let valid = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        valid.then_some((year, month as u8, day as u8))
    }

    /// `2026-01-31 23:59:59`, with `T` for the blank, a fraction, and `Z` or an offset; UTC without one.
    pub(super) fn moment(text: &str) -> Option<Moment> {
        let day = text.get(..10)?;
        let (year, month, day) = date(day)?;
        let rest = match text.as_bytes().get(10) {
            None => "00:00:00",
            Some(b' ' | b'T') => text.get(11..)?,
            Some(_) => return None,
        };
        let (clock, offset) = split_offset(rest)?;
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let mut parts = clock.split(':').map(digits);
        let (hour, minute) = (parts.next()??, parts.next()??);
        let second = parts.next().unwrap_or(Some(0))?;
        if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = days(year, i64::from(month), i64::from(day)) * 86_400
            + hour * 3600
            + minute * 60
            + second
            - offset;
        Some(Moment {
            seconds,
            nanoseconds: nanoseconds(fraction)?,
        })
    }

    fn split_offset(text: &str) -> Option<(&str, i64)> {
        if let Some(clock) = text.strip_suffix('Z').or_else(|| text.strip_suffix(" UTC")) {
            return Some((clock, 0));
        }
        let Some(at) = text.rfind(['+', '-']) else {
            return Some((text, 0));
        };
        let (clock, offset) = text.split_at(at);
        let sign = if offset.starts_with('-') { -1 } else { 1 };
        let compact: String = offset[1..]
            .chars()
            .filter(|character| *character != ':')
            .collect();
        let (hours, minutes) = compact.split_at_checked(2)?;
        let minutes = if minutes.is_empty() {
            0
        } else {
            digits(minutes)?
        };
        Some((
            clock.trim_end(),
            sign * (digits(hours)? * 3600 + minutes * 60),
        ))
    }

    fn nanoseconds(fraction: &str) -> Option<u32> {
        let kept = fraction.get(..fraction.len().min(9))?;
        let number = u32::try_from(digits(kept)?).ok()?;
        Some(number * 10u32.pow(9 - kept.len() as u32))
    }

    fn digits(text: &str) -> Option<i64> {
        let all =
            !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| text.parse().ok()).flatten()
    }

    fn days_of(year: i64, month: i64) -> i64 {
        match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
    fn days(year: i64, month: i64, day: i64) -> i64 {
        // The year begins in March here, so that the leap day is its last.
        let (year, month) = if month <= 2 {
            (year - 1, month + 9)
        } else {
            (year, month - 3)
        };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * month + 2) / 5 + day - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
            - 719_468
    }
}
