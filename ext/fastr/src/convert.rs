//! Core values to Ruby values and back. The database's own are in `rows.rs`.

use std::time::Duration;

use fastr_core::http::multipart::{Content, Part};
use fastr_core::{Error as CoreError, Event, Outcome};
use magnus::prelude::*;
use magnus::{Error, RArray, RClass, Ruby, TryConvert, Value};

use crate::constant::Constant;
use crate::error::exception;
use crate::native::FOR_EVER;
use crate::raw::env;

static THREAD: Constant<RClass> = Constant::new("Thread");

/// An Array of Strings. What makes a String of an element may be Ruby code, which may change the Array; so a copy is
/// read, element by element. `Vec` would read on in memory that such a change has freed.
pub(crate) struct Strings(pub(crate) Vec<String>);

impl TryConvert for Strings {
    fn try_convert(value: Value) -> Result<Self, Error> {
        let strings = RArray::try_convert(value)?.into_iter();
        strings
            .map(String::try_convert)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// Seconds as Ruby gives them; negative and NaN count as none at all, the endless as very long.
pub(crate) fn seconds(seconds: f64) -> Duration {
    if seconds.is_nan() || seconds <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(seconds)
        .unwrap_or(FOR_EVER)
        .min(FOR_EVER)
}

pub(crate) fn limit(limit: Option<f64>) -> Option<Duration> {
    limit.map(seconds)
}

/// The exception objects of a batch's errors, in their order; none for a batch without errors. They are made by Ruby
/// code, which an interrupt waits for: what fails here is the interrupt alone.
pub(crate) fn exceptions(ruby: &Ruby, events: &[Event]) -> Result<Option<RArray>, Error> {
    let errors: Vec<CoreError> = events.iter().filter_map(error_of).cloned().collect();
    if errors.is_empty() {
        return Ok(None);
    }
    let convert = ruby.proc_from_fn(move |ruby, _, _| {
        let exceptions = ruby.ary_new_capa(errors.len());
        for error in &errors {
            // What cannot be converted fails its own operation, by what kept it.
            let made = exception(ruby, error).map(|exception| exception.as_value());
            exceptions.push(made.or_else(|error| error.value().ok_or(error))?)?;
        }
        Ok::<_, Error>(exceptions)
    });
    let later = ruby.hash_new();
    later.aset(ruby.class_object(), ruby.to_symbol("never"))?;
    THREAD
        .get(ruby)?
        .funcall_with_block("handle_interrupt", (later,), convert)
        .map(Some)
}

fn error_of(event: &Event) -> Option<&CoreError> {
    match event {
        Event::Completion(_, Err(error)) => Some(error),
        _ => None,
    }
}

/// The Ruby value of an outcome.
pub(crate) fn outcome(ruby: &Ruby, outcome: Outcome) -> Result<Value, Error> {
    Ok(match outcome {
        Outcome::Done => ruby.qnil().as_value(),
        Outcome::Bytes(bytes) => env::binary(&bytes),
        Outcome::Ready(bits) => ruby.into_value(bits),
        Outcome::Addresses(addresses) => ruby
            .ary_from_iter(addresses.iter().map(ToString::to_string))
            .as_value(),
        Outcome::Parts(parts) => self::parts(ruby, parts)?,
        Outcome::Json(bytes) => text(ruby, &bytes),
        other => return crate::rows::outcome(ruby, other),
    })
}

/// A String of UTF-8 bytes.
pub(crate) fn text(ruby: &Ruby, bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => ruby.str_new(text).as_value(),
        Err(_) => env::binary(bytes),
    }
}

fn parts(ruby: &Ruby, parts: Vec<Part>) -> Result<Value, Error> {
    let array = ruby.ary_new_capa(parts.len());
    for part in parts {
        let (content, path) = match part.content {
            Content::Memory(bytes) => (Some(env::binary(&bytes)), None),
            Content::File(file) => {
                let path = file.keep();
                (None, Some(path.to_string_lossy().into_owned()))
            }
        };
        let row = ruby.ary_new_capa(5);
        row.push(part.name)?;
        row.push(part.file_name)?;
        row.push(part.content_type)?;
        row.push(content)?;
        row.push(path)?;
        array.push(row)?;
    }
    Ok(array.as_value())
}
