//! Ruby values as binds. What a value becomes depends on its class alone; what that means to a column is the driver's
//! business. Refuses what no database holds, naming what it takes.

use fastr_core::db::civil as calendar;
use fastr_core::db::{Interval, Range, Value as Stored};
use magnus::prelude::*;
use magnus::{Error, RArray, RClass, RString, Ruby, Time, Value};

use crate::constant::Constant;
use crate::error::refusable;
use crate::raw::env;

/// How deep arrays may nest: PostgreSQL's own limit is 6 dimensions.
const DEEPEST: usize = 6;

static BIG_DECIMAL: Constant<RClass> = Constant::new("BigDecimal");
static DATE: Constant<RClass> = Constant::new("Date");
static DATE_TIME: Constant<RClass> = Constant::new("DateTime");
static INTERVAL: Constant<RClass> = Constant::within("AsyncRecord", "Interval");

/// A Ruby value as a bind.
pub(crate) fn bind(ruby: &Ruby, value: Value) -> Result<Stored, Error> {
    nested(ruby, value, 0)
}

fn nested(ruby: &Ruby, value: Value, depth: usize) -> Result<Stored, Error> {
    if value.is_nil() {
        return Ok(Stored::Null);
    }
    if let Some(number) = magnus::Integer::from_value(value) {
        return integer(ruby, number);
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
    if let Some(time) = Time::from_value(value) {
        return moment(ruby, time);
    }
    if let Some(array) = RArray::from_value(value) {
        return elements(ruby, array, depth);
    }
    object(ruby, value)
}

fn object(ruby: &Ruby, value: Value) -> Result<Stored, Error> {
    if value.is_kind_of(BIG_DECIMAL.get(ruby)?) {
        return Ok(Stored::Decimal(value.funcall("to_s", ("F",))?));
    }
    if value.is_kind_of(DATE_TIME.get(ruby)?) {
        return moment(ruby, value.funcall("to_time", ())?);
    }
    if value.is_kind_of(DATE.get(ruby)?) {
        return day(ruby, value);
    }
    if value.is_kind_of(INTERVAL.get(ruby)?) {
        return Ok(Stored::Interval(Interval {
            months: value.funcall("months", ())?,
            days: value.funcall("days", ())?,
            microseconds: value.funcall("microseconds", ())?,
        }));
    }
    if value.respond_to("to_time", false)? {
        return moment(ruby, value.funcall("to_time", ())?);
    }
    if let Some(range) = magnus::Range::from_value(value) {
        return self::range(ruby, range);
    }
    let message = format!(
        "{} cannot be bound: give nil, true, false, a number, a String, Time, Date, AsyncRecord::Interval, or an Array \
         or Range of them",
        value.class()
    );
    Err(Error::new(ruby.exception_type_error(), message))
}

fn integer(ruby: &Ruby, number: magnus::Integer) -> Result<Stored, Error> {
    if let Ok(number) = number.to_i64() {
        return Ok(Stored::Integer(number));
    }
    if let Ok(number) = number.to_u64() {
        return Ok(Stored::from(number));
    }
    // Beyond 64 bits only exact decimals are left; the database says whether its column is one.
    let digits: String = number.funcall("to_s", ())?;
    if digits.len() > 1000 {
        let message = format!(
            "an Integer of {} digits is too large to be bound",
            digits.len()
        );
        return Err(Error::new(ruby.exception_range_error(), message));
    }
    Ok(Stored::Decimal(digits))
}

fn string(ruby: &Ruby, text: RString) -> Result<Stored, Error> {
    if text.enc_get() == ruby.ascii8bit_encindex() {
        return Ok(Stored::Blob(env::bytes(text).to_vec()));
    }
    text.to_string().map(Stored::Text)
}

/// What is finer than a microsecond is cut off: no database here keeps it.
fn moment(ruby: &Ruby, time: Time) -> Result<Stored, Error> {
    let too_far = || {
        let message = "a Time so far away does not fit 64 bits of microseconds";
        Error::new(ruby.exception_range_error(), message)
    };
    let seconds = refusable(ruby.exception_range_error(), time.funcall("to_i", ()))?;
    let seconds: i64 = seconds.ok_or_else(too_far)?;
    let microseconds: i64 = time.funcall("usec", ())?;
    seconds
        .checked_mul(1_000_000)
        .and_then(|moment| moment.checked_add(microseconds))
        .filter(|moment| ![i64::MAX, i64::MIN].contains(moment))
        .map(Stored::Timestamp)
        .ok_or_else(too_far)
}

fn day(ruby: &Ruby, date: Value) -> Result<Stored, Error> {
    let too_far = || {
        Error::new(
            ruby.exception_range_error(),
            "a Date so far away does not fit 32 bits of days",
        )
    };
    let year = refusable(ruby.exception_range_error(), date.funcall("year", ()))?;
    let year: i64 = year.ok_or_else(too_far)?;
    if year.abs() > 5_000_000 {
        return Err(too_far());
    }
    let days = calendar::days(year, date.funcall("month", ())?, date.funcall("mday", ())?);
    i32::try_from(days).map(Stored::Date).map_err(|_| too_far())
}

fn elements(ruby: &Ruby, array: RArray, depth: usize) -> Result<Stored, Error> {
    if depth >= DEEPEST {
        let message = format!("an Array may nest {DEEPEST} deep as a bind");
        return Err(Error::new(ruby.exception_arg_error(), message));
    }
    array
        .into_iter()
        .map(|element| nested(ruby, element, depth + 1))
        .collect::<Result<_, _>>()
        .map(Stored::Array)
}

fn range(ruby: &Ruby, range: magnus::Range) -> Result<Stored, Error> {
    let (begin, end, excludes_end): (Value, Value, bool) = (
        range.funcall::<_, _, Value>("begin", ())?,
        range.funcall::<_, _, Value>("end", ())?,
        range.funcall("exclude_end?", ())?,
    );
    let bound = |value: Value| match bind(ruby, value)? {
        Stored::Null => Ok(None),
        bound @ (Stored::Array(_) | Stored::Range(_)) => {
            let message = format!("{bound:?} cannot be the bound of a Range");
            Err(Error::new(ruby.exception_type_error(), message))
        }
        bound => Ok(Some(bound)),
    };
    let (lower, upper) = (bound(begin)?, bound(end)?);
    Ok(Stored::Range(Box::new(Range::Span {
        includes_lower: lower.is_some(),
        lower,
        includes_upper: upper.is_some() && !excludes_end,
        upper,
    })))
}
