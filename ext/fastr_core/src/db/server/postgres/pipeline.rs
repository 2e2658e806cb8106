//! Several statements in one write: each ends with a `Sync` of its own, so that the server runs each in a transaction of
//! its own and the failure of one touches no other. It owns what becomes of the others when one is stale, wants no more
//! rows, or takes the connection with it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::answer::Protocol;
use super::collect::Collected;
use super::error::{self, Reached};
use super::plan::Plan;
use super::progress::Progress;
use super::session::PostgresSession;
use crate::db::query::Query;
use crate::db::server::driver::{Failure, Fate, Session};
use crate::db::statement::Statement;
use crate::error::{DatabaseError, DatabaseErrorKind};
use crate::event::Outcome;

/// A statement on its way.
struct Step {
    plan: Arc<Plan>,
    collected: Collected,
}

type Answer = Result<Outcome, Failure>;

/// Runs them all; `answered` is called for each, in order.
pub(super) async fn run(
    session: &mut PostgresSession,
    queries: &[&Query],
    mut answered: impl FnMut(usize, Answer) + Send,
) {
    // Preparing asks the server, so that all of it comes before the first one is appended.
    let mut plans = Vec::with_capacity(queries.len());
    for query in queries {
        plans.push(session.plan(&query.sql).await);
    }
    let mut steps: VecDeque<Result<Step, Failure>> = plans
        .into_iter()
        .zip(queries)
        .map(|(plan, query)| session.step(plan?, query))
        .collect();
    let unsent = session.send_many().await.err();
    // A stale one is told after its second attempt, which has to wait for the answers of those behind it.
    let mut held: VecDeque<(usize, Answer)> = VecDeque::new();
    let mut end = None;
    for (index, query) in queries.iter().enumerate() {
        let answer = match (steps.pop_front(), &unsent, &end) {
            (Some(Err(failure)), ..) => Err(failure),
            (_, Some(reason), _) => Err(lost(reason, query, true)),
            (Some(Ok(step)), None, Some(end)) => Err(behind(end, query, &step.plan)),
            (Some(Ok(step)), None, None) => session.take(query, step).await,
            (None, None, _) => break,
        };
        if let Err(failure) = &answer
            && failure.fate != Fate::Usable
        {
            end.get_or_insert_with(|| failure.error.clone());
        }
        if held.is_empty() && !is_stale(&answer) {
            answered(index, answer);
        } else {
            held.push_back((index, answer));
        }
    }
    for (index, answer) in held {
        let answer = match answer {
            Err(failure) if error::is_stale(&failure.error) && end.is_none() => {
                session.again(queries[index]).await
            }
            answer => answer,
        };
        answered(index, answer);
    }
}

impl PostgresSession {
    /// Appends a statement.
    fn step(
        &mut self,
        (plan, was_prepared): (Arc<Plan>, bool),
        query: &Query,
    ) -> Result<Step, Failure> {
        if let Some(timings) = &query.timings {
            timings.set_prepared(was_prepared);
        }
        let collected = Collected::new(&plan.result, &query.shape, &plan.sql)?;
        // Nobody may be asked to stop what runs: that might be another one by then.
        let limit = query
            .row_limit
            .filter(|_| plan.statement == Statement::Read);
        let rows = limit.map_or(0, |limit| {
            u32::try_from(limit)
                .unwrap_or(u32::MAX)
                .min(i32::MAX.unsigned_abs() - 1)
                + 1
        });
        self.bind(&plan, query, rows)?;
        Ok(Step { plan, collected })
    }

    /// Sends what was appended; the reason if not even a part of it was sent. Where sending ends in the middle, reading
    /// the answers tells how far the server came.
    async fn send_many(&mut self) -> Result<(), DatabaseError> {
        if let Err(fault) = self.wire.check().await {
            self.wire.output.clear();
            return Err(error::of_statement(fault.into(), "", Reached::Nothing).error);
        }
        self.wire.send_as_far_as_possible().await;
        Ok(())
    }

    /// Reads the answer of one.
    async fn take(&mut self, query: &Query, step: Step) -> Answer {
        let Step { plan, collected } = step;
        let progress = Progress::new(plan.statement, plan.is_atomic, query);
        self.outcome(Protocol::Pipelined, query, progress, collected)
            .await
    }

    /// Prepares anew what is stale, and runs it alone.
    async fn again(&mut self, query: &Query) -> Answer {
        self.forget();
        self.run(query).await
    }
}

fn is_stale(answer: &Answer) -> bool {
    matches!(answer, Err(failure) if failure.fate == Fate::Usable && error::is_stale(&failure.error))
}

/// The fate of a statement behind one that took the connection with it. A server that says why it ends has not begun
/// it; one that just goes may have run it without its answer.
fn behind(end: &DatabaseError, query: &Query, plan: &Plan) -> Failure {
    let has_not_begun = end.code.is_some();
    lost(
        end,
        query,
        has_not_begun || plan.statement == Statement::Read,
    )
}

fn lost(reason: &DatabaseError, query: &Query, repeatable: bool) -> Failure {
    let error = DatabaseError {
        kind: DatabaseErrorKind::ConnectionLost,
        sql: Some(query.sql.clone()),
        ..reason.clone()
    };
    let fate = Fate::Lost { repeatable };
    Failure { error, fate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::server::postgres::plan::Shape;

    #[test]
    fn behind_a_server_that_just_went_only_reads_are_repeated() {
        let plan = |sql: &str| {
            Plan::of(
                "a".into(),
                sql,
                Vec::new(),
                Shape::of(Vec::new(), Vec::new()),
            )
        };
        let went = DatabaseError::new(DatabaseErrorKind::ConnectionLost, "it was closed");
        let said = DatabaseError {
            code: Some(crate::error::ErrorCode::State("57P01".into())),
            ..went.clone()
        };
        for (sql, end, repeatable) in [
            ("select 1", &went, true),
            ("insert into t values (1)", &went, false),
            ("insert into t values (1)", &said, true),
        ] {
            let failure = behind(end, &Query::new(sql), &plan(sql));
            assert_eq!(failure.fate, Fate::Lost { repeatable }, "{sql}");
            assert_eq!(failure.error.sql.as_deref(), Some(sql));
        }
    }
}
