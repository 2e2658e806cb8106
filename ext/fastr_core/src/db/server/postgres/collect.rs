//! The rows of an answer on their way into values or JSON.

use std::sync::Arc;

use super::answer::Ending;
use super::plan::Shape;
use super::wire::{Cells, Row};
use super::{decode, error};
use crate::db::json::{JsonArray, JsonOptions};
use crate::db::query;
use crate::db::rows::{Rows, Value, Written};
use crate::db::server::driver::Failure;
use crate::error::{DatabaseErrorKind, Error};
use crate::event::Outcome;

/// What was collected so far.
pub(super) struct Collected {
    shape: Shape,
    cells: Cells,
    into: Into,
}

enum Into {
    /// The statement has no columns.
    Nothing,
    Values(Vec<Value>),
    Json(JsonArray),
}

impl Collected {
    pub(super) fn new(shape: &Shape, wanted: &query::Shape, sql: &str) -> Result<Self, Failure> {
        let into = match wanted {
            _ if shape.columns.is_empty() => Into::Nothing,
            query::Shape::Rows => Into::Values(Vec::new()),
            query::Shape::Json(options) => {
                let array =
                    json_array(shape, options).map_err(|error| error::refused(error, sql))?;
                Into::Json(array)
            }
        };
        Ok(Self {
            shape: shape.clone(),
            cells: Cells::default(),
            into,
        })
    }

    /// Takes a row.
    pub(super) fn row(&mut self, body: &[u8]) -> Result<(), Ending> {
        let Self { shape, cells, into } = self;
        let row = cells.find(body, shape.types.len())?;
        let taken = match into {
            Into::Nothing => Ok(()),
            Into::Values(values) => shape.read(row, values),
            Into::Json(array) => array.try_row(|out, kind, index| match row.get(index) {
                None => {
                    out.extend_from_slice(b"null");
                    Ok(())
                }
                Some(bytes) => decode::write_json(out, &shape.types[index], kind, bytes)
                    .map_err(|error| shape.sentence(index, error)),
            }),
        };
        taken.map_err(|sentence| Ending::Refused(DatabaseErrorKind::Decode, sentence))
    }

    /// The rows, if they were collected as values.
    pub(super) fn into_rows(self) -> Rows {
        let values = match self.into {
            Into::Values(values) => values,
            Into::Nothing | Into::Json(_) => Vec::new(),
        };
        Rows::new(self.shape.columns, values)
    }

    pub(super) fn outcome(self, written: Written) -> Outcome {
        match self.into {
            Into::Nothing => Outcome::Written(written),
            Into::Values(_) => Outcome::Rows(Arc::new(self.into_rows())),
            Into::Json(array) => Outcome::Json(array.finish()),
        }
    }
}

impl Shape {
    /// Appends the values of a row.
    pub(super) fn read(&self, row: Row<'_>, values: &mut Vec<Value>) -> Result<(), String> {
        values.reserve(self.types.len());
        for (index, (of, bytes)) in self.types.iter().zip(row.iter()).enumerate() {
            let value = match bytes {
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
