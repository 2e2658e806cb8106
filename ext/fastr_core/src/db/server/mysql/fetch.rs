//! Collecting a result: rows, JSON bytes, or what was written. Of several results (a procedure's) the first with rows
//! counts; the rest is read and thrown away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::BoxStream;
use sqlx::mysql::{MySqlArguments, MySqlQueryResult, MySqlRow};
use sqlx::{Either, Executor, MySqlConnection, Row};

use super::columns::Layout;
use super::decode::{self, Format, Read};
use super::prepared::Prepared;
use crate::db::json::JsonArray;
use crate::db::query::Shape;
use crate::db::rows::{Rows, Value, Written};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::Outcome;

/// What sqlx hands over one by one.
pub(super) type Steps<'a> = BoxStream<'a, Result<Either<MySqlQueryResult, MySqlRow>, sqlx::Error>>;

/// Starts a statement.
pub(super) fn execute<'a>(
    connection: &'a mut MySqlConnection,
    statement: &Prepared,
    arguments: MySqlArguments,
) -> Steps<'a> {
    match statement.format {
        Format::Binary => connection.fetch_many(sqlx::query_with(statement.sql(), arguments)),
        Format::Text => connection.fetch_many(sqlx::raw_sql(statement.sql())),
    }
}

/// A result in the making.
#[derive(Debug)]
pub(super) struct Collector<'q> {
    shape: &'q Shape,
    format: Format,
    layout: Option<Arc<Layout>>,
    collected: Collected,
    rows: usize,
    limit: usize,
    results: usize,
    /// The result whose rows count.
    chosen: Option<usize>,
    written: MySqlQueryResult,
    /// Whether the columns were no longer those that were known.
    pub(super) is_changed: bool,
    /// Why the rest is of no interest.
    pub(super) refusal: Option<DatabaseError>,
    /// How long making values took, if somebody wants to know.
    pub(super) decode: Option<Duration>,
}

#[derive(Debug)]
enum Collected {
    Rows(Vec<Value>),
    /// The array, and the values of one row that have to be made first.
    Json(JsonArray, Vec<Value>),
}

impl<'q> Collector<'q> {
    /// # Errors
    /// If the shape asks for a column that the result lacks.
    pub(super) fn new(
        statement: &Prepared,
        shape: &'q Shape,
        limit: Option<usize>,
        is_timed: bool,
    ) -> Result<Self, DatabaseError> {
        let layout = statement.layout.clone();
        Ok(Self {
            shape,
            format: statement.format,
            collected: collected(shape, layout.as_deref())?,
            layout,
            rows: 0,
            limit: limit
                .filter(|_| !statement.traits.writes)
                .unwrap_or(usize::MAX),
            results: 0,
            chosen: None,
            written: MySqlQueryResult::default(),
            is_changed: false,
            refusal: None,
            decode: is_timed.then_some(Duration::ZERO),
        })
    }

    /// Takes the next step. False: what follows is of no interest.
    pub(super) fn step(&mut self, step: Either<MySqlQueryResult, MySqlRow>) -> bool {
        match step {
            Either::Left(result) => {
                self.results += 1;
                self.written = result;
            }
            Either::Right(_) if self.refusal.is_some() => {}
            Either::Right(row) => {
                let started = self.decode.map(|_| Instant::now());
                self.refusal = self.row(&row).err();
                if let (Some(decode), Some(started)) = (&mut self.decode, started) {
                    *decode += started.elapsed();
                }
            }
        }
        self.refusal.is_none()
    }

    fn row(&mut self, row: &MySqlRow) -> Result<(), DatabaseError> {
        if self.chosen.is_none() {
            self.chosen = Some(self.results);
            self.lay_out(row)?;
        }
        if self.chosen != Some(self.results) {
            return Ok(());
        }
        self.rows += 1;
        if self.rows > self.limit {
            return Err(DatabaseError::new(
                DatabaseErrorKind::Query,
                format!(
                    "the result has more than {} rows (row_limit); add a LIMIT or raise row_limit",
                    self.limit
                ),
            ));
        }
        if let Some(layout) = &self.layout {
            self.collected.push(layout, row, self.format);
        }
        Ok(())
    }

    /// Compares the columns with those that are known.
    fn lay_out(&mut self, row: &MySqlRow) -> Result<(), DatabaseError> {
        let columns = row.columns();
        if !self
            .layout
            .as_ref()
            .is_some_and(|layout| layout.fits(columns))
        {
            let layout = Arc::new(Layout::new(columns));
            self.collected = collected(self.shape, Some(&layout))?;
            self.layout = Some(layout);
            self.is_changed = true;
        }
        Ok(())
    }

    /// The columns as they were found.
    pub(super) fn layout(&self) -> Option<Arc<Layout>> {
        self.layout.clone()
    }

    /// The whole.
    pub(super) fn finish(self) -> Outcome {
        match (self.layout, self.collected) {
            (None, _) => Outcome::Written(Written {
                rows_affected: self.written.rows_affected(),
                last_insert_id: i64::try_from(self.written.last_insert_id())
                    .ok()
                    .filter(|&id| id != 0),
            }),
            (Some(layout), Collected::Rows(values)) => {
                Outcome::Rows(Arc::new(Rows::new(Arc::clone(&layout.columns), values)))
            }
            (Some(_), Collected::Json(array, _)) => Outcome::Json(array.finish()),
        }
    }
}

impl Collected {
    fn push(&mut self, layout: &Layout, row: &MySqlRow, format: Format) {
        match self {
            Self::Rows(values) => push(values, layout, row, format),
            Self::Json(array, made) => {
                let read = |index: usize| layout.readings[index].read(row, index, format);
                made.clear();
                made.extend(layout.readings.iter().enumerate().map(|(index, reading)| {
                    if reading.is_made() {
                        read(index).into()
                    } else {
                        Value::Null
                    }
                }));
                array.row(|index| match layout.readings[index].is_made() {
                    true => (&made[index]).into(),
                    false => decode::cell(read(index)),
                });
            }
        }
    }
}

/// Appends the values of a row.
pub(super) fn push(values: &mut Vec<Value>, layout: &Layout, row: &MySqlRow, format: Format) {
    let read = |(index, reading): (usize, &decode::Reading)| -> Read<'_> {
        reading.read(row, index, format)
    };
    values.extend(
        layout
            .readings
            .iter()
            .enumerate()
            .map(|column| Value::from(read(column))),
    );
}

fn collected(shape: &Shape, layout: Option<&Layout>) -> Result<Collected, DatabaseError> {
    match (shape, layout) {
        (Shape::Json(options), Some(layout)) => match JsonArray::new(&layout.columns, options) {
            Ok(array) => Ok(Collected::Json(array, Vec::new())),
            Err(Error::Database(error)) => Err(*error),
            Err(other) => Err(DatabaseError::new(
                DatabaseErrorKind::Query,
                other.to_string(),
            )),
        },
        _ => Ok(Collected::Rows(Vec::new())),
    }
}
