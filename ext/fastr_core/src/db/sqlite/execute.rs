//! One statement on one connection: prepare, bind, step, collect. It decides nothing about lanes and transactions, it
//! only finds out that a statement writes.

use std::sync::Arc;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Batch, Connection, Row, Statement, ToSql};

use super::decode;
use super::error::from_sqlite;
use super::planning::Planning;
use super::state::Lane;
use crate::db::civil;
use crate::db::feed::Feed;
use crate::db::json::{JsonArray, JsonOptions};
use crate::db::query::Shape;
use crate::db::refusal::refused;
use crate::db::rows::{Column, Rows, Value, Written};
use crate::db::standstill;
use crate::error::{DatabaseErrorKind, Error};
use crate::event::Outcome;

/// No value of this many bytes or more is bound.
const LARGEST_VALUE: usize = 1 << 30;

/// A statement with what surrounds it.
pub(super) struct Execution<'a> {
    pub(super) sql: &'a str,
    pub(super) binds: &'a [Value],
    pub(super) shape: &'a Shape,
    pub(super) row_limit: Option<usize>,
    pub(super) inserts: bool,
}

impl Execution<'_> {
    /// Runs it. None: it writes, and this connection only reads; nothing has happened.
    pub(super) fn run(
        &self,
        connection: &Connection,
        planning: &mut Planning,
        lane: Lane,
    ) -> Result<Option<Outcome>, Error> {
        refuse_nul(self.sql)?;
        let mut statement = connection
            .prepare_cached(self.sql)
            .map_err(|error| self.failed(&error))?;
        if lane == Lane::Read && !statement.readonly() {
            return Ok(None);
        }
        planning.prepared(connection, &statement, self.sql);
        self.bind(&mut statement)?;
        if !statement.readonly()
            && let Shape::Json(options) = self.shape
        {
            // An unknown column must be refused before anything is written.
            JsonArray::new(&decode::columns(&statement), options)?;
        }
        let changes = connection.total_changes();
        let collected = self.collect(&mut statement)?;
        planning.ran(connection, &statement);
        match collected {
            Some(outcome) => Ok(Some(outcome)),
            None => Ok(Some(self.written(connection, changes))),
        }
    }

    /// Hands the rows over in batches until the end, or until nobody wants them any more.
    pub(super) fn stream(
        &self,
        connection: &Connection,
        batch: usize,
        feed: &Feed<Arc<Rows>>,
    ) -> Result<(), Error> {
        refuse_nul(self.sql)?;
        let mut statement = connection
            .prepare_cached(self.sql)
            .map_err(|error| self.failed(&error))?;
        if !statement.readonly() {
            return Err(self.refused("a statement that writes cannot be streamed; use `query`"));
        }
        self.bind(&mut statement)?;
        let mut rows = statement.raw_query();
        let mut collector: Option<Collector> = None;
        while let Some(row) = rows.next().map_err(|error| self.failed(&error))? {
            let open = match &mut collector {
                Some(open) => open,
                None => {
                    collector.insert(Collector::new(decode::columns(row.as_ref()), self.shape)?)
                }
            };
            open.push(row);
            if open.rows >= batch
                && let Some(Outcome::Rows(full)) = collector.take().map(Collector::finish)
                && standstill::outside(|| feed.push_blocking(full)).is_err()
            {
                return Ok(());
            }
        }
        if let Some(Outcome::Rows(rest)) = collector.map(Collector::finish) {
            let _ = standstill::outside(|| feed.push_blocking(rest));
        }
        Ok(())
    }

    fn bind(&self, statement: &mut Statement<'_>) -> Result<(), Error> {
        let expected = statement.parameter_count();
        if expected != self.binds.len() {
            return Err(self.refused(format!(
                "the statement has {expected} placeholder(s), but {} value(s) were given",
                self.binds.len()
            )));
        }
        for (index, value) in self.binds.iter().enumerate() {
            self.check(index, value)?;
            statement
                .raw_bind_parameter(index + 1, Bind(value))
                .map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    fn check(&self, index: usize, value: &Value) -> Result<(), Error> {
        let size = match value {
            Value::Text(text) => text.len(),
            Value::Unsigned(_) => {
                return Err(self.refused(format!(
                    "value {} does not fit SQLite's signed 64 bits; bind it as text",
                    index + 1
                )));
            }
            Value::Interval(_) | Value::Array(_) | Value::Range(_) => {
                return Err(self.refused(format!(
                    "value {} is an array, a range or a span of time, which SQLite does not have; bind it as text",
                    index + 1
                )));
            }
            Value::Blob(bytes) => bytes.len(),
            Value::Float(number) if number.is_nan() => {
                return Err(self.refused(format!(
                    "value {} is NaN, which SQLite would store as NULL",
                    index + 1
                )));
            }
            _ => 0,
        };
        if size >= LARGEST_VALUE {
            return Err(self.refused(format!(
                "value {} has {size} bytes; 1 GiB is too much for one value",
                index + 1
            )));
        }
        Ok(())
    }

    /// Steps through the result. None: the statement has no columns.
    fn collect(&self, statement: &mut Statement<'_>) -> Result<Option<Outcome>, Error> {
        let limit = self.row_limit.filter(|_| statement.readonly());
        let mut rows = statement.raw_query();
        let first = rows.next().map_err(|error| self.failed(&error))?;
        let Some(first) = first else {
            drop(rows);
            let columns = decode::columns(statement);
            let empty = !columns.is_empty();
            return empty
                .then(|| Collector::new(columns, self.shape).map(Collector::finish))
                .transpose();
        };
        let mut collector = Collector::new(decode::columns(first.as_ref()), self.shape)?;
        let mut next = Some(first);
        while let Some(row) = next {
            if limit.is_some_and(|limit| collector.rows >= limit) {
                return Err(self.too_many(limit.unwrap_or_default()));
            }
            if row.as_ref().column_count() != collector.width {
                return Err(self.refused("the table changed under the statement; run it again"));
            }
            collector.push(row);
            next = rows.next().map_err(|error| self.failed(&error))?;
        }
        Ok(Some(collector.finish()))
    }

    fn written(&self, connection: &Connection, changes_before: u64) -> Outcome {
        // What SQLite calls the number of changes survives statements that change nothing.
        let changed = connection.total_changes() != changes_before;
        let rows_affected = if changed { connection.changes() } else { 0 };
        let inserted = self.inserts && rows_affected > 0;
        Outcome::Written(Written {
            rows_affected,
            last_insert_id: inserted.then(|| connection.last_insert_rowid()),
        })
    }

    fn too_many(&self, limit: usize) -> Error {
        self.refused(format!(
            "the result has more than {limit} rows (row_limit); add a LIMIT or raise row_limit"
        ))
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        from_sqlite(error, self.sql).into()
    }

    fn refused(&self, message: impl Into<String>) -> Error {
        refused(DatabaseErrorKind::Query, message, self.sql)
    }
}

/// Runs every statement of a script and throws their rows away.
pub(super) fn script(connection: &Connection, sql: &str) -> Result<(), Error> {
    refuse_nul(sql)?;
    let mut batch = Batch::new(connection, sql);
    while let Some(mut statement) = batch.next().map_err(|error| from_sqlite(&error, sql))? {
        let mut rows = statement.raw_query();
        let outcome = loop {
            match rows.next() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        drop(rows);
        if let Some(error) = outcome {
            let sql = statement.expanded_sql().unwrap_or_default();
            return Err(from_sqlite(&error, sql.trim()).into());
        }
    }
    Ok(())
}

/// SQLite would silently end the statement at a NUL.
fn refuse_nul(sql: &str) -> Result<(), Error> {
    if sql.contains('\0') {
        let message = "the statement contains a NUL byte; bind text that contains one";
        return Err(refused(DatabaseErrorKind::Query, message, sql));
    }
    Ok(())
}

/// The rows of a result in the shape that was asked for.
struct Collector {
    width: usize,
    rows: usize,
    shape: Collected,
}

enum Collected {
    Rows(Vec<Column>, Vec<Value>),
    Json(JsonArray),
}

impl Collector {
    fn new(columns: Vec<Column>, shape: &Shape) -> Result<Self, Error> {
        let json = |options: &JsonOptions| JsonArray::new(&columns, options);
        let (width, rows) = (columns.len(), 0);
        let shape = match shape {
            Shape::Json(options) => Collected::Json(json(options)?),
            Shape::Rows => Collected::Rows(columns, Vec::new()),
        };
        Ok(Self { width, rows, shape })
    }

    fn push(&mut self, row: &Row<'_>) {
        self.rows += 1;
        match &mut self.shape {
            Collected::Rows(_, values) => {
                values.extend((0..self.width).map(|index| decode::value(row, index)));
            }
            Collected::Json(array) => array.row(|index| decode::cell(row, index)),
        }
    }

    fn finish(self) -> Outcome {
        match self.shape {
            Collected::Rows(columns, values) => {
                Outcome::Rows(Arc::new(Rows::new(columns.into(), values)))
            }
            Collected::Json(array) => Outcome::Json(array.finish()),
        }
    }
}

/// A value as SQLite takes it, without a copy on our side.
struct Bind<'a>(&'a Value);

impl ToSql for Bind<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Date(days) => return Ok(civil::stored_date(*days).into()),
            Value::Timestamp(moment) => return Ok(civil::stored_timestamp(*moment).into()),
            Value::Decimal(digits) => ValueRef::Text(digits.as_bytes()),
            Value::Null => ValueRef::Null,
            Value::Bool(bool) => ValueRef::Integer(i64::from(*bool)),
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Float(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
            Value::Unsigned(_) | Value::Interval(_) | Value::Array(_) | Value::Range(_) => {
                unreachable!("`check` refused it")
            }
        }))
    }
}
