//! Database values as Ruby values, by the kind of their column. Decoding never raises for what a database may hold: a
//! value that does not fit its column's kind comes back as it is stored.

use fastr_core::db::civil as calendar;
use fastr_core::db::{Interval, Kind, Range, Value as Stored, range_text};
use magnus::prelude::*;
use magnus::time::{Offset, Timespec};
use magnus::{Error, ExceptionClass, RClass, RModule, Ruby, Value};

use crate::civil;
use crate::constant::Constant;
use crate::error::refusable;
use crate::raw::env;

static DATE: Constant<RClass> = Constant::new("Date");
static TIME: Constant<RClass> = Constant::new("Time");
static JSON: Constant<RModule> = Constant::new("JSON");
static JSON_PARSER_ERROR: Constant<ExceptionClass> = Constant::within("JSON", "ParserError");
static INTERVAL: Constant<RClass> = Constant::within("AsyncRecord", "Interval");
static RAW: Constant<RClass> = Constant::within("AsyncRecord", "Raw");

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
            (_, Stored::Integer(number)) if kind == Kind::Integer => {
                return Ok(ruby.into_value(*number));
            }
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
                TIME.get(ruby)?
                    .funcall::<_, _, Value>("at", (*seconds,))?
                    .funcall("utc", ())?,
            ),
            (Kind::Json, Stored::Text(text)) => self.json(text)?,
            (_, Stored::Decimal(digits)) => self.decimal_or_special(digits)?,
            (_, Stored::Date(days)) => self.day(*days)?,
            (_, Stored::Timestamp(moment)) => self.moment(*moment)?,
            (_, Stored::Interval(span)) => Some(self.interval(*span)?),
            (_, Stored::Array(elements)) => Some(self.array(kind, elements)?),
            (_, Stored::Range(range)) => self.range(kind, range)?,
            (Kind::Raw(oid), Stored::Blob(bytes)) => {
                Some(RAW.get(ruby)?.new_instance((oid, env::binary(bytes)))?)
            }
            _ => None,
        };
        match decoded {
            Some(decoded) => Ok(decoded),
            None => self.stored(kind, value),
        }
    }

    /// A value that means nothing beyond its own class.
    fn stored(&self, kind: Kind, value: &Stored) -> Result<Value, Error> {
        let ruby = self.0;
        Ok(match value {
            Stored::Null => ruby.qnil().as_value(),
            Stored::Bool(value) => ruby.into_value(*value),
            Stored::Integer(number) => ruby.into_value(*number),
            Stored::Unsigned(number) => ruby.into_value(*number),
            Stored::Float(number) => ruby.float_from_f64(*number).as_value(),
            Stored::Text(text) | Stored::Decimal(text) => ruby.str_new(text).as_value(),
            Stored::Blob(bytes) => env::binary(bytes),
            Stored::Range(range) => ruby.str_new(&range_text(kind, range)).as_value(),
            Stored::Date(_) | Stored::Timestamp(_) | Stored::Interval(_) | Stored::Array(_) => {
                unreachable!("decode gives each of them a class")
            }
        })
    }

    fn decimal_or_special(&self, digits: &str) -> Result<Option<Value>, Error> {
        // BigDecimal knows the same three words as PostgreSQL.
        self.0
            .module_kernel()
            .funcall("BigDecimal", (digits,))
            .map(Some)
    }

    fn infinite(&self, sign: f64) -> Value {
        self.0.float_from_f64(sign * f64::INFINITY).as_value()
    }

    fn day(&self, days: i32) -> Result<Option<Value>, Error> {
        match days {
            i32::MAX => return Ok(Some(self.infinite(1.0))),
            i32::MIN => return Ok(Some(self.infinite(-1.0))),
            _ => {}
        }
        let class = DATE.get(self.0)?;
        let (year, month, day) = calendar::date(i64::from(days));
        // The days that Ruby's calendar leaves out in October 1582 exist in the Gregorian one alone.
        let usual = class.funcall("new", (year, month, day));
        match refusable(self.0.exception_arg_error(), usual)? {
            Some(date) => Ok(Some(date)),
            None => class
                .funcall("new", (year, month, day, f64::NEG_INFINITY))
                .map(Some),
        }
    }

    fn moment(&self, moment: i64) -> Result<Option<Value>, Error> {
        match moment {
            i64::MAX => return Ok(Some(self.infinite(1.0))),
            i64::MIN => return Ok(Some(self.infinite(-1.0))),
            _ => {}
        }
        let spec = Timespec {
            tv_sec: moment.div_euclid(1_000_000),
            tv_nsec: moment.rem_euclid(1_000_000) * 1000,
        };
        Ok(Some(
            self.0.time_timespec_new(spec, Offset::utc())?.as_value(),
        ))
    }

    fn interval(&self, span: Interval) -> Result<Value, Error> {
        let parts = (span.months, span.days, span.microseconds);
        INTERVAL.get(self.0)?.funcall("of", parts)
    }

    fn array(&self, kind: Kind, elements: &[Stored]) -> Result<Value, Error> {
        let element_kind = match kind {
            Kind::Array(element) => *element,
            other => other,
        };
        let array = self.0.ary_new_capa(elements.len());
        for element in elements {
            // The rows of a many-dimensional array are arrays of the same kind.
            let kind = match element {
                Stored::Array(_) => kind,
                _ => element_kind,
            };
            array.push(self.decode(kind, element)?)?;
        }
        Ok(array.as_value())
    }

    /// Ruby's ranges have no exclusive beginning and are never empty by themselves: such a one stays text.
    fn range(&self, kind: Kind, range: &Range) -> Result<Option<Value>, Error> {
        let Range::Span {
            lower,
            includes_lower,
            upper,
            includes_upper,
        } = range
        else {
            return Ok(None);
        };
        if lower.is_some() && !includes_lower {
            return Ok(None);
        }
        let element = match kind {
            Kind::Range(element) => *element,
            other => other,
        };
        let bound = |value: &Option<Stored>| match value {
            Some(value) => self.decode(element, value),
            None => Ok(self.0.qnil().as_value()),
        };
        let excludes_end = upper.is_some() && !includes_upper;
        let range = self.0.range_new(bound(lower)?, bound(upper)?, excludes_end);
        let range = range.map(|range| range.as_value());
        refusable(self.0.exception_arg_error(), range)
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
        DATE.get(self.0)?
            .funcall("new", (year, month, day))
            .map(Some)
    }

    fn time(&self, text: &str) -> Result<Option<Value>, Error> {
        let Some(moment) = civil::moment(text) else {
            return Ok(None);
        };
        let time: Value = TIME.get(self.0)?.funcall(
            "at",
            (moment.seconds, moment.nanoseconds, self.0.to_symbol("nsec")),
        )?;
        time.funcall("utc", ()).map(Some)
    }

    /// Invalid JSON in a JSON column stays text.
    fn json(&self, text: &str) -> Result<Option<Value>, Error> {
        let parsed = JSON.get(self.0)?.funcall("parse", (text,));
        refusable(JSON_PARSER_ERROR.get(self.0)?, parsed)
    }
}

fn boolean(ruby: &Ruby, text: &str) -> Option<Value> {
    match text {
        "t" | "true" | "TRUE" | "1" => Some(ruby.qtrue().as_value()),
        "f" | "false" | "FALSE" | "0" => Some(ruby.qfalse().as_value()),
        _ => None,
    }
}
