//! A long result in batches: a cursor inside a transaction, so that the server makes no more rows than are taken.

use std::sync::Arc;

use futures_util::TryStreamExt;
use sqlx::postgres::PgArguments;
use sqlx::{Either, Executor, Row};

use super::error::{self, Reached};
use super::plan::Shape;
use super::session::{PostgresSession, refuse, trusted};
use super::{encode, simple};
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::rows::Rows;
use crate::db::server::driver::{Failure, Fate};
use crate::error::DatabaseErrorKind;

/// The name of the cursor; a connection streams one result at a time.
const CURSOR: &str = "fastr_stream";

/// Runs it to the end, or until nobody wants more.
pub(super) async fn run(
    session: &mut PostgresSession,
    query: &Query,
    batch: usize,
    feed: &Feed<Arc<Rows>>,
) -> Result<(), Failure> {
    refuse(&query.sql)?;
    let is_ours = query.transaction.is_none() && !session.was_in_transaction();
    if is_ours {
        session.command("BEGIN").await?;
    }
    let ended = through_cursor(session, query, batch, feed).await;
    match (&ended, is_ours) {
        (Ok(()), true) => session.command("COMMIT").await?,
        (Err(failure), true) if failure.fate == Fate::Usable => session.command("ROLLBACK").await?,
        _ => {}
    }
    ended
}

async fn through_cursor(
    session: &mut PostgresSession,
    query: &Query,
    batch: usize,
    feed: &Feed<Arc<Rows>>,
) -> Result<(), Failure> {
    declare(session, query).await?;
    let fetch: Arc<str> = format!("FETCH FORWARD {batch} FROM {CURSOR}").into();
    let mut shape = None;
    while !feed.is_closed() {
        let (rows, count) = next(session, &fetch, &mut shape, query).await?;
        if let Some(rows) = rows
            && feed.push(Arc::new(rows)).await.is_err()
        {
            break;
        }
        if count < batch {
            break;
        }
    }
    session.command("CLOSE fastr_stream").await
}

/// Opens the cursor, with the values of the statement.
async fn declare(session: &mut PostgresSession, query: &Query) -> Result<(), Failure> {
    let sql = format!("DECLARE {CURSOR} NO SCROLL CURSOR FOR {}", query.sql);
    let declared = if session.prepares() {
        let sql: Arc<str> = sql.into();
        let types = session.parameters(&sql).await?;
        let arguments = encode::arguments(&query.binds, &types)
            .map_err(|sentence| error::refused(sentence, &query.sql))?;
        let statement = sqlx::query_with(trusted(&sql), arguments);
        session.connection.execute(statement).await
    } else {
        let (sql, _) = simple::with_values(&sql, &query.binds)?;
        let statement = sqlx::raw_sql(trusted(&sql.into()));
        session.connection.execute(statement).await
    };
    match declared {
        Ok(_) => Ok(()),
        Err(error) => Err(session.failed(error, &query.sql).await),
    }
}

/// One batch, and how many rows it has. The statement is not kept: the next cursor has other columns.
async fn next(
    session: &mut PostgresSession,
    fetch: &Arc<str>,
    shape: &mut Option<Shape>,
    query: &Query,
) -> Result<(Option<Rows>, usize), Failure> {
    let statement = sqlx::query_with(trusted(fetch), PgArguments::default()).persistent(false);
    let mut answers = session.connection.fetch_many(statement);
    let mut values = Vec::new();
    let mut count = 0;
    let ended = loop {
        match answers.try_next().await {
            Ok(Some(Either::Right(row))) => {
                count += 1;
                let shape = shape.get_or_insert_with(|| Shape::of(row.columns()));
                if let Err(sentence) = shape.read(&row, &mut values) {
                    break Err(error::about(
                        DatabaseErrorKind::Decode,
                        sentence,
                        &query.sql,
                    ));
                }
            }
            Ok(Some(Either::Left(_))) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error::of_statement(error, &query.sql, Reached::Answer)),
        }
    };
    drop(answers);
    match ended {
        Ok(()) => {
            let rows = shape
                .as_ref()
                .filter(|_| count > 0)
                .map(|shape| Rows::new(Arc::clone(&shape.columns), values));
            Ok((rows, count))
        }
        Err(failure) => Err(session.settled(failure).await),
    }
}
