//! Statements that leave nothing behind, for connections that a pooler shares among sessions: each is prepared without a
//! name and run in the same round trip. Its values go as text, whose types PostgreSQL infers as it infers those of
//! placeholders, and its rows come as text.
//!
//! What is lost by it: bytes are always a text of bytea; columns of types of one's own are text.

use std::sync::Arc;

use super::answer::{Ending, Protocol};
use super::error::{self, Reached};
use super::plan::{Description, Shape};
use super::session::PostgresSession;
use super::types::Types;
use super::wire::{Cells, Frame, affected, messages};
use super::{decode, encode, transaction};
use crate::db::json::to_json;
use crate::db::query::{self, Query};
use crate::db::rows::{Rows, Value, Written};
use crate::db::server::driver::Failure;
use crate::db::statement::{Statement, classify};
use crate::error::{DatabaseErrorKind, Error};
use crate::event::Outcome;

/// Runs one statement.
pub(super) async fn run(session: &mut PostgresSession, query: &Query) -> Result<Outcome, Failure> {
    let statement = classify(&query.sql);
    let is_read = statement == Statement::Read;
    let reached = Reached::Execution {
        is_read,
        is_atomic: transaction::is_atomic(statement, &query.sql),
    };
    append(session, query, "", 0)?;
    let mut answer = Answer {
        limit: query.row_limit.filter(|_| is_read),
        ..Answer::default()
    };
    let started = query.timings.as_ref().map(|_| std::time::Instant::now());
    session.ask(&query.sql, reached).await?;
    let ended = session
        .answer(Protocol::Extended, |frame| answer.take(frame))
        .await;
    ended.map_err(|ending| answer.failure(ending, query, reached))?;
    if let (Some(timings), Some(started)) = (&query.timings, started) {
        timings.set_database(started.elapsed());
    }
    answer.outcome(query)
}

/// Appends a statement that is prepared without a name and opened as this portal, for at most so many rows.
pub(super) fn append(
    session: &mut PostgresSession,
    query: &Query,
    portal: &str,
    rows: u32,
) -> Result<(), Failure> {
    let out = &mut session.wire.output;
    let start = out.len();
    let is_small = messages::parse(out, "", &query.sql);
    messages::describe(out, "");
    let bound = if is_small {
        encode::bind_text(out, portal, "", &query.binds)
    } else {
        Err("the statement is too large".into())
    };
    if let Err(sentence) = bound {
        out.truncate(start);
        return Err(error::refused(sentence, &query.sql));
    }
    messages::execute(out, portal, rows);
    messages::sync(out);
    Ok(())
}

/// What came so far.
#[derive(Default)]
pub(super) struct Answer {
    description: Description,
    shape: Option<Shape>,
    cells: Cells,
    values: Vec<Value>,
    rows: usize,
    limit: Option<usize>,
    written: Option<u64>,
    /// Whether there are columns at all.
    has_columns: bool,
    /// Whether the server said how many placeholders there are.
    is_described: bool,
}

impl Answer {
    /// Takes a message of the answer.
    pub(super) fn take(&mut self, Frame { tag, body }: Frame<'_>) -> Result<(), Ending> {
        match tag {
            b'D' => return self.row(body),
            b'C' => self.written = Some(self.written.unwrap_or(0) + affected(body)),
            b't' => self.is_described = true,
            b'T' => self.has_columns = true,
            _ => {}
        }
        Ok(self.description.take(tag, body)?)
    }

    /// Whether all rows have come.
    pub(super) fn is_complete(&self) -> bool {
        self.written.is_some()
    }

    /// The rows that came since they were taken last.
    pub(super) fn take_rows(&mut self) -> Rows {
        let values = std::mem::take(&mut self.values);
        Rows::new(Arc::clone(&self.shape().columns), values)
    }

    /// The columns, and how they are read.
    fn shape(&mut self) -> &Shape {
        let Description { names, columns, .. } = &mut self.description;
        self.shape.get_or_insert_with(|| {
            let types = columns.iter().map(|&oid| Types::of_text(oid)).collect();
            Shape::of(std::mem::take(names), types)
        })
    }

    /// What became of it. A wrong number of values is found by the server, which tells it less well.
    pub(super) fn failure(&self, ending: Ending, query: &Query, reached: Reached) -> Failure {
        let (needed, given) = (self.description.parameters.len(), query.binds.len());
        if matches!(&ending, Ending::Fault(fault) if !fault.is_final())
            && self.is_described
            && needed != given
        {
            return error::refused(encode::wrong_count(needed, given), &query.sql);
        }
        let has_begun = self.rows > 0 || self.written.is_some();
        let reached = if has_begun { Reached::Answer } else { reached };
        error::of_statement(ending, &query.sql, reached)
    }

    fn row(&mut self, body: &[u8]) -> Result<(), Ending> {
        self.rows += 1;
        if let Some(limit) = self.limit.filter(|&limit| self.rows > limit) {
            let sentence = error::too_many_rows(limit);
            return Err(Ending::Refused(DatabaseErrorKind::Query, sentence));
        }
        let Shape { columns, types } = self.shape().clone();
        let row = self.cells.find(body, types.len())?;
        for ((of, column), bytes) in types.iter().zip(columns.iter()).zip(row.iter()) {
            let value = read(bytes, of).map_err(|reason| {
                let (name, of) = (&column.name, &of.name);
                let sentence = format!("the column {name:?} of type {of} cannot be read: {reason}");
                Ending::Refused(DatabaseErrorKind::Decode, sentence)
            })?;
            self.values.push(value);
        }
        Ok(())
    }

    fn outcome(mut self, query: &Query) -> Result<Outcome, Failure> {
        let Some(rows_affected) = self.written else {
            return Err(error::refused("there is no statement in it", &query.sql));
        };
        if !self.has_columns {
            let last_insert_id = None;
            return Ok(Outcome::Written(Written {
                rows_affected,
                last_insert_id,
            }));
        }
        let rows = self.take_rows();
        match &query.shape {
            query::Shape::Rows => Ok(Outcome::Rows(Arc::new(rows))),
            query::Shape::Json(options) => to_json(&rows, options)
                .map(Outcome::Json)
                .map_err(|error: Error| error::refused(error.to_string(), &query.sql)),
        }
    }
}

/// A value from its text: the text is read as that of a placeholder, and its bytes as those of a column.
fn read(bytes: Option<&[u8]>, of: &super::oid::Type) -> Result<Value, String> {
    let Some(bytes) = bytes else {
        return Ok(Value::Null);
    };
    let text = std::str::from_utf8(bytes).map_err(|_| decode::Malformed::Encoding.to_string())?;
    let bytes = encode::bytes_of(text, of)?;
    decode::value(of, &bytes).map_err(|error| error.to_string())
}
