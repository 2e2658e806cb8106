//! A long result in batches: a portal inside a transaction, of which the server makes no more rows than are taken.

use std::sync::Arc;

use super::answer::Protocol;
use super::collect::Collected;
use super::error::{self, Reached};
use super::plan::Plan;
use super::session::{PostgresSession, refuse};
use super::wire::{Frame, messages};
use super::{encode, unprepared};
use crate::db::feed::Feed;
use crate::db::query::{Query, Shape};
use crate::db::rows::Rows;
use crate::db::server::driver::{Failure, Fate, Session};

/// The name of the portal; a connection streams one result at a time.
const PORTAL: &str = "fastr_stream";

/// Runs it to the end, or until nobody wants more.
pub(super) async fn run(
    session: &mut PostgresSession,
    query: &Query,
    batch: usize,
    feed: &Feed<Arc<Rows>>,
) -> Result<(), Failure> {
    let is_ours = query.transaction.is_none() && !session.is_in_transaction();
    if is_ours {
        session.command("BEGIN", Reached::Preparation).await?;
    }
    let ended = through_portal(session, query, batch, feed).await;
    if matches!(&ended, Err(failure) if failure.fate != Fate::Usable) {
        return ended;
    }
    match (&ended, is_ours) {
        (Ok(()), true) => session.command("COMMIT", Reached::Answer).await?,
        (Err(_), true) => session.command("ROLLBACK", Reached::Answer).await?,
        _ => {}
    }
    ended
}

async fn through_portal(
    session: &mut PostgresSession,
    query: &Query,
    batch: usize,
    feed: &Feed<Arc<Rows>>,
) -> Result<(), Failure> {
    let count = u32::try_from(batch).unwrap_or(u32::MAX >> 1);
    let mut source = Source::open(session, query, count).await?;
    let ended = loop {
        let (rows, is_last) = match source.next(session, query).await {
            Ok(next) => next,
            Err(failure) => break Err(failure),
        };
        if !rows.is_empty() && feed.push(Arc::new(rows)).await.is_err() || is_last {
            break Ok(());
        }
        if feed.is_closed() {
            break Ok(());
        }
        messages::execute(&mut session.wire.output, PORTAL, count);
        messages::sync(&mut session.wire.output);
    };
    // It goes with the next statement.
    messages::close_portal(&mut session.wire.output, PORTAL);
    ended
}

/// How the rows of the portal are read.
enum Source {
    Prepared(Arc<Plan>),
    Unprepared(Box<unprepared::Answer>),
}

impl Source {
    /// Appends the statement, opened as the portal, and its first batch.
    async fn open(
        session: &mut PostgresSession,
        query: &Query,
        count: u32,
    ) -> Result<Self, Failure> {
        if !session.prepares() {
            refuse(&query.sql)?;
            unprepared::append(session, query, PORTAL, count)?;
            return Ok(Source::Unprepared(Box::default()));
        }
        let (plan, _) = session.plan(&query.sql).await?;
        if plan.result.columns.is_empty() {
            return Err(error::refused(
                "a stream is for statements with rows, and this one has none; run it without `stream`",
                &query.sql,
            ));
        }
        let out = &mut session.wire.output;
        encode::bind(out, PORTAL, &plan.name, &query.binds, &plan.parameters)
            .map_err(|sentence| error::refused(sentence, &query.sql))?;
        messages::execute(out, PORTAL, count);
        messages::sync(out);
        Ok(Source::Prepared(plan))
    }

    /// Sends what was appended; the next batch, and whether it is the last one.
    async fn next(
        &mut self,
        session: &mut PostgresSession,
        query: &Query,
    ) -> Result<(Rows, bool), Failure> {
        session.ask(&query.sql, Reached::Answer).await?;
        match self {
            Source::Prepared(plan) => {
                let mut batch = Collected::new(&plan.result, &Shape::Rows, &query.sql)?;
                let mut is_last = false;
                let take = |Frame { tag, body }: Frame<'_>| match tag {
                    b'D' => batch.row(body),
                    _ => {
                        is_last |= tag == b'C';
                        Ok(())
                    }
                };
                let ended = session.answer(Protocol::Extended, take).await;
                ended.map_err(|ending| error::of_statement(ending, &query.sql, Reached::Answer))?;
                Ok((batch.into_rows(), is_last))
            }
            Source::Unprepared(answer) => {
                let take = |frame: Frame<'_>| answer.take(frame);
                let ended = session.answer(Protocol::Extended, take).await;
                ended.map_err(|ending| answer.failure(ending, query, Reached::Answer))?;
                Ok((answer.take_rows(), answer.is_complete()))
            }
        }
    }
}
