//! Statements behind a pooler that gives every transaction another connection: nothing can be prepared there, so values
//! are written into the text as literals, whose types PostgreSQL infers as it infers those of placeholders, and the
//! answer comes as text. One round trip each.
//!
//! What is lost by it: bytes are always a literal of bytea; a result without rows has no columns; columns of types of
//! one's own are text.

use std::sync::Arc;

use futures_util::TryStreamExt;
use sqlx::postgres::{PgColumn, PgRow};
use sqlx::{Column as _, Either, Executor, Row, ValueRef};

use super::encode;
use super::error::{self, Reached};
use super::oid::Type;
use super::placeholders::Text;
use super::session::{PostgresSession, trusted};
use super::{decode, transaction};
use crate::db::json::to_json;
use crate::db::query::{Query, Shape};
use crate::db::rows::{Column, Rows, Value, Written};
use crate::db::server::driver::{Failure, Fate};
use crate::db::statement::{Statement, classify};
use crate::error::{DatabaseErrorKind, Error};
use crate::event::Outcome;

/// The text of a statement with its values in it.
pub(super) fn with_values(sql: &str, binds: &[Value]) -> Result<(String, bool), Failure> {
    let refused = |sentence: String| error::refused(sentence, sql);
    let text = Text::scan(sql).map_err(|sentence| refused(sentence.into()))?;
    let whole = text
        .replaced(binds.len(), |out, index| {
            encode::literal(&binds[index], out).map_err(|reason| format!("${} {reason}", index + 1))
        })
        .map_err(refused)?;
    Ok((whole, text.has_returning()))
}

/// Runs one statement.
pub(super) async fn run(session: &mut PostgresSession, query: &Query) -> Result<Outcome, Failure> {
    let (text, has_returning) = with_values(&query.sql, &query.binds)?;
    let statement = classify(&query.sql);
    let is_read = statement == Statement::Read;
    let mut answer = Answer {
        limit: query.row_limit.filter(|_| is_read),
        ..Answer::default()
    };
    let started = query.timings.as_ref().map(|_| std::time::Instant::now());
    let text: Arc<str> = text.into();
    let mut answers = session.connection.fetch_many(sqlx::raw_sql(trusted(&text)));
    let ended = loop {
        match answers.try_next().await {
            Ok(Some(Either::Right(row))) => {
                if let Err((kind, sentence)) = answer.row(&row) {
                    break Err(error::about(kind, sentence, &query.sql));
                }
            }
            Ok(Some(Either::Left(result))) => {
                answer.written = Some(answer.written.unwrap_or(0) + result.rows_affected());
            }
            Ok(None) => break Ok(()),
            Err(error) => {
                let reached = match answer.written {
                    None if answer.values.is_empty() => Reached::Execution {
                        is_read,
                        is_atomic: transaction::is_atomic(statement, &query.sql),
                    },
                    _ => Reached::Answer,
                };
                break Err(error::of_statement(error, &query.sql, reached));
            }
        }
    };
    drop(answers);
    if let Err(failure) = ended {
        if failure.fate == Fate::Usable && answer.written.is_none() {
            session.interrupt().await;
        }
        return Err(session.settled(failure).await);
    }
    if let (Some(timings), Some(started)) = (&query.timings, started) {
        timings.set_database(started.elapsed());
    }
    session.note(statement, &query.sql);
    answer.outcome(query, is_read || has_returning)
}

/// What came so far.
#[derive(Default)]
struct Answer {
    columns: Option<(Arc<[Column]>, Vec<Type>)>,
    values: Vec<Value>,
    rows: usize,
    limit: Option<usize>,
    written: Option<u64>,
}

impl Answer {
    fn row(&mut self, row: &PgRow) -> Result<(), (DatabaseErrorKind, String)> {
        self.rows += 1;
        if let Some(limit) = self.limit.filter(|&limit| self.rows > limit) {
            return Err((DatabaseErrorKind::Query, error::too_many_rows(limit)));
        }
        let (columns, types) = self.columns.get_or_insert_with(|| described(row.columns()));
        for (index, of) in types.iter().enumerate() {
            let value = read(row, index, of).map_err(|reason| {
                let name = &columns[index].name;
                let sentence = format!(
                    "the column {name:?} of type {} cannot be read: {reason}",
                    of.name
                );
                (DatabaseErrorKind::Decode, sentence)
            })?;
            self.values.push(value);
        }
        Ok(())
    }

    fn outcome(self, query: &Query, has_columns: bool) -> Result<Outcome, Failure> {
        let Some(rows_affected) = self.written else {
            return Err(error::refused("there is no statement in it", &query.sql));
        };
        let columns = match self.columns {
            Some((columns, _)) => columns,
            None if has_columns => Arc::default(),
            None => {
                let last_insert_id = None;
                return Ok(Outcome::Written(Written {
                    rows_affected,
                    last_insert_id,
                }));
            }
        };
        let rows = Rows::new(columns, self.values);
        match &query.shape {
            Shape::Rows => Ok(Outcome::Rows(Arc::new(rows))),
            Shape::Json(_) if rows.is_empty() => Ok(Outcome::Json("[]".into())),
            Shape::Json(options) => to_json(&rows, options)
                .map(Outcome::Json)
                .map_err(|error: Error| error::refused(error.to_string(), &query.sql)),
        }
    }
}

fn described(columns: &[PgColumn]) -> (Arc<[Column]>, Vec<Type>) {
    let types: Vec<Type> = columns
        .iter()
        .map(|column| Type::resolve_for_text(column.type_info()))
        .collect();
    let columns = columns
        .iter()
        .zip(&types)
        .map(|(column, of)| Column {
            name: column.name().to_owned(),
            kind: of.kind(),
        })
        .collect();
    (columns, types)
}

/// A value from its text: the text is read as that of a placeholder, and its bytes as those of a column.
fn read(row: &PgRow, index: usize, of: &Type) -> Result<Value, String> {
    let raw = row.try_get_raw(index).map_err(|error| error.to_string())?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let text = raw
        .as_str()
        .map_err(|_| decode::Malformed::Encoding.to_string())?;
    let bytes = encode::bytes_of(text, of)?;
    decode::value(of, &bytes).map_err(|error| error.to_string())
}
