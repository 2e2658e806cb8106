//! The rows of an answer on their way into values or JSON.

use std::sync::Arc;

use sqlx::Row;
use sqlx::ValueRef;
use sqlx::postgres::{PgRow, PgValueRef};

use super::decode;
use super::error;
use super::plan::Shape;
use crate::db::json::{JsonArray, JsonOptions};
use crate::db::query;
use crate::db::rows::{Rows, Value, Written};
use crate::db::server::driver::Failure;
use crate::error::Error;
use crate::event::Outcome;

/// What was collected so far.
pub(super) struct Collected {
    shape: Shape,
    is_checked: bool,
    into: Into,
}

enum Into {
    /// The statement has no columns.
    Nothing,
    Values(Vec<Value>),
    Json(JsonArray, JsonOptions),
}

impl Collected {
    pub(super) fn new(shape: &Shape, wanted: &query::Shape, sql: &str) -> Result<Self, Failure> {
        let into = match wanted {
            _ if shape.columns.is_empty() => Into::Nothing,
            query::Shape::Rows => Into::Values(Vec::new()),
            query::Shape::Json(options) => {
                let array =
                    json_array(shape, options).map_err(|error| error::refused(error, sql))?;
                Into::Json(array, options.clone())
            }
        };
        Ok(Self {
            shape: shape.clone(),
            is_checked: false,
            into,
        })
    }

    /// Takes a row; on failure the sentence for the caller.
    pub(super) fn row(&mut self, row: &PgRow) -> Result<(), String> {
        if !self.is_checked {
            self.check(row)?;
        }
        let Self { shape, into, .. } = self;
        match into {
            Into::Nothing => Ok(()),
            Into::Values(values) => shape.read(row, values),
            Into::Json(array, _) => array.try_row(|out, kind, index| {
                let Some(bytes) = bytes(row, index)? else {
                    out.extend_from_slice(b"null");
                    return Ok(());
                };
                let of = &shape.types[index];
                decode::write_json(out, of, kind, bytes)
                    .map_err(|error| shape.sentence(index, error))
            }),
        }
    }

    /// The first row says what the columns really are.
    fn check(&mut self, row: &PgRow) -> Result<(), String> {
        self.is_checked = true;
        if self.shape.fits(row.columns()) {
            return Ok(());
        }
        self.shape = Shape::of(row.columns());
        if let Into::Json(array, options) = &mut self.into {
            *array = json_array(&self.shape, options)?;
        }
        Ok(())
    }

    pub(super) fn outcome(self, written: Written) -> Outcome {
        match self.into {
            Into::Nothing => Outcome::Written(written),
            Into::Values(values) => Outcome::Rows(Arc::new(Rows::new(self.shape.columns, values))),
            Into::Json(array, _) => Outcome::Json(array.finish()),
        }
    }
}

impl Shape {
    /// Appends the values of a row.
    pub(super) fn read(&self, row: &PgRow, values: &mut Vec<Value>) -> Result<(), String> {
        values.reserve(self.types.len());
        for (index, of) in self.types.iter().enumerate() {
            let value = match bytes(row, index)? {
                Some(bytes) => {
                    decode::value(of, bytes).map_err(|error| self.sentence(index, error))?
                }
                None => Value::Null,
            };
            values.push(value);
        }
        Ok(())
    }

    fn sentence(&self, index: usize, error: decode::Malformed) -> String {
        let (name, of) = (&self.columns[index].name, &self.types[index].name);
        format!("the column {name:?} of type {of} cannot be read: {error}")
    }
}

fn json_array(shape: &Shape, options: &JsonOptions) -> Result<JsonArray, String> {
    JsonArray::new(&shape.columns, options).map_err(|error: Error| error.to_string())
}

/// The bytes of a value, none if it is NULL.
fn bytes(row: &PgRow, index: usize) -> Result<Option<&[u8]>, String> {
    let value: PgValueRef<'_> = row.try_get_raw(index).map_err(|error| error.to_string())?;
    if value.is_null() {
        return Ok(None);
    }
    value
        .as_bytes()
        .map(Some)
        .map_err(|error| error.to_string())
}
