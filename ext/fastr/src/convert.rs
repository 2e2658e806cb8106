//! Core values to Ruby values and back. The database's own are in `rows.rs`.

use std::time::Duration;

use fastr_core::http::multipart::{Content, Part};
use fastr_core::{Error as CoreError, Outcome};
use magnus::prelude::*;
use magnus::{Error, Ruby, Value};

use crate::error::exception;
use crate::native::FOR_EVER;
use crate::raw::env;

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

/// A result for the dispatcher's batch: an error is an exception object there.
pub(crate) fn result(ruby: &Ruby, result: Result<Outcome, CoreError>) -> Result<Value, Error> {
    match result {
        Ok(value) => outcome(ruby, value),
        Err(error) => Ok(exception(ruby, &error)?.as_value()),
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
