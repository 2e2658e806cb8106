//! One job on one connection: run it, judge it, bring the server's view of transactions and the pool's together again,
//! and answer.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use super::driver::{Driver, Failure, Fate, Session};
use super::job::{Job, Task, Ticket};
use super::session_task::Connection;
use super::steps::Next;
use super::stopping::{self, Ran};
use super::verdict::{Then, Verdict, judge};
use crate::db::query::Query;
use crate::db::refusal;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::Outcome;

/// How long a stream that nobody reads any more may take to notice that by itself. Stopping it from outside would
/// abort the transaction it may be in.
const STREAM_GRACE: Duration = Duration::from_millis(20);

/// Why a transaction ended with its connection.
pub(super) const LOST: &str = "its connection was lost, so it was rolled back";

impl<D: Driver> Connection<D> {
    /// Performs a job. What is to be done next, unless the connection's place was left.
    pub(super) async fn perform(&mut self, job: Job) -> Option<Next> {
        let Job {
            ticket,
            task,
            completer,
            since,
            deadline,
            is_repeated,
        } = job;
        self.seat.hold(&ticket, completer);
        let attempt = self.attempt(&ticket, &task, !is_repeated);
        let attempt = AssertUnwindSafe(attempt).catch_unwind().await;
        let Verdict { result, then } = attempt.unwrap_or_else(|_| panicked());
        let mut next = None;
        match then {
            Then::GoOn => next = Some(self.release(&ticket, &task, result.is_ok())),
            Then::ThrowAway => self.seat.leave(LOST),
            Then::Lost => self.seat.lose(end_of(&task)),
            Then::Repeat => {
                self.seat.lose(LOST);
                if let Some(completer) = self.seat.let_go() {
                    self.seat.requeue(Job {
                        ticket,
                        task,
                        completer,
                        since,
                        deadline,
                        is_repeated: true,
                    });
                }
                return None;
            }
        }
        self.seat.answer(result);
        next
    }

    /// The connection is free again. How long a statement took is of interest only while others wait.
    fn release(&self, ticket: &Ticket, task: &Task, has_succeeded: bool) -> Next {
        let is_query = matches!(task, Task::Query);
        if D::Session::PIPELINE == 1 || !is_query || !has_succeeded {
            return self.seat.release();
        }
        let index = self.seat.index();
        self.seat.release_after(|state, now| {
            let since = state.slot(index).since;
            if !state.waiting.is_empty()
                && let Some(since) = since
            {
                let took = now.saturating_duration_since(since);
                state.history.learn(&ticket.query.sql, took);
            }
        })
    }

    async fn attempt(&mut self, ticket: &Ticket, task: &Task, is_first: bool) -> Verdict {
        if ticket.is_cancelled() && !task.ends() {
            return Verdict::new(Err(ticket.cancelled()), Then::GoOn);
        }
        let ran = self.run(ticket, task).await;
        let may_repeat = is_first && ticket.query.transaction.is_none();
        let verdict = judge(ticket, task, ran, may_repeat);
        if verdict.then != Then::GoOn {
            return verdict;
        }
        let verdict = self.keep_books(task, verdict);
        // No transaction on either side, which is so after most statements: it needs no look into the books.
        let stands_alone = ticket.query.transaction.is_none() && !matches!(task, Task::Begin(_));
        if stands_alone && !self.session.is_in_transaction() {
            return verdict;
        }
        self.settle(ticket, verdict).await
    }

    async fn run(&mut self, ticket: &Ticket, task: &Task) -> Ran {
        let (driver, key) = (&*self.driver, self.session.key());
        let query = &ticket.query;
        let none = Duration::ZERO;
        match task {
            Task::Query => {
                let statement = self.session.run(query);
                stopping::run(driver, key, ticket, none, statement).await
            }
            Task::Stream { batch, feed } => {
                let statement = self.session.stream(query, *batch, feed).map(done);
                stopping::run(driver, key, ticket, STREAM_GRACE, statement).await
            }
            Task::Begin(statements) => {
                let statement = run_all(&mut self.session, statements);
                stopping::run(driver, key, ticket, none, statement).await
            }
            Task::Script => {
                let statement = self.session.script(&query.sql).map(done);
                stopping::run(driver, key, ticket, none, statement).await
            }
            Task::Finish { commit } => {
                let limit = self.seat.pool.options.commit_timeout;
                let is_careful = *commit && self.has_failed;
                let finished = within(limit, finish(&mut self.session, query, is_careful)).await;
                Ran {
                    result: Some(finished.map(|_| Outcome::Done)),
                    stop: None,
                }
            }
        }
    }

    /// Enters what was opened and what ended.
    fn keep_books(&mut self, task: &Task, verdict: Verdict) -> Verdict {
        match (task, &verdict.result) {
            (Task::Begin(_), Ok(_)) => {
                let id = self.seat.open_transaction();
                self.has_failed = false;
                return Verdict::new(Ok(Outcome::Transaction(id)), verdict.then);
            }
            (Task::Finish { commit: true }, Ok(_)) => self.seat.end_transaction("it was committed"),
            (Task::Finish { commit: true }, Err(_)) => self
                .seat
                .end_transaction("its commit failed, so it was rolled back"),
            (Task::Finish { commit: false }, _) => self.seat.end_transaction("it was rolled back"),
            (_, Err(_)) => self.has_failed = true,
            _ => {}
        }
        verdict
    }

    /// Brings the server's view of transactions and ours together again.
    async fn settle(&mut self, ticket: &Ticket, verdict: Verdict) -> Verdict {
        let sql = &ticket.query.sql;
        let is_open = self.seat.transaction().is_some();
        let Verdict { result, then } = verdict;
        match (is_open, self.session.is_in_transaction()) {
            (true, false) => {
                self.seat.end_transaction(match &result {
                    Ok(_) => "a script in it ended it",
                    Err(_) => "the database rolled it back when a statement in it failed",
                });
                let result = result.and_then(|_| Err(refusal::ended_inside(sql)));
                Verdict::new(result, then)
            }
            (false, true) => {
                let is_clean = self.roll_back().await;
                let result = match ticket.query.transaction {
                    // A failed commit has its own error already.
                    Some(_) => result,
                    None => result.and_then(|_| Err(refusal::left_open(sql))),
                };
                Verdict::new(result, if is_clean { then } else { Then::ThrowAway })
            }
            _ => Verdict::new(result, then),
        }
    }
}

async fn run_all<S: Session>(session: &mut S, statements: &[String]) -> Result<Outcome, Failure> {
    for sql in statements {
        session.run(&Query::new(sql.as_str())).await?;
    }
    Ok(Outcome::Done)
}

async fn finish<S: Session>(
    session: &mut S,
    statement: &Query,
    is_careful: bool,
) -> Result<Outcome, Failure> {
    if is_careful {
        commit_carefully(session, statement).await
    } else {
        session.run(statement).await
    }
}

/// Nobody stops a commit or a rollback; but a server that does not answer it is not waited for without end.
async fn within(
    limit: Option<Duration>,
    finishing: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<Outcome, Failure> {
    let Some(limit) = limit else {
        return finishing.await;
    };
    tokio::time::timeout(limit, finishing)
        .await
        .unwrap_or_else(|_| {
            let message = format!(
                "no answer within {} (commit_timeout)",
                refusal::seconds(limit)
            );
            Err(Failure {
                error: DatabaseError::new(DatabaseErrorKind::ConnectionLost, message),
                fate: Fate::Lost { repeatable: false },
            })
        })
}

/// After a failed statement PostgreSQL does not commit any more, and answers COMMIT as if it had: so it is asked first.
async fn commit_carefully<S: Session>(session: &mut S, commit: &Query) -> Result<Outcome, Failure> {
    match session.run(&Query::new("SELECT 1")).await {
        Ok(_) => session.run(commit).await,
        Err(failure) if failure.fate == Fate::Usable => {
            session.run(&Query::new("ROLLBACK")).await?;
            let message = "a statement in this transaction had failed, after which the database rolls it back whatever \
                           comes; put a statement that may fail into a nested transaction";
            Err(Failure::of_statement(DatabaseError::new(
                DatabaseErrorKind::TransactionClosed,
                message,
            )))
        }
        Err(failure) => Err(failure),
    }
}

fn done(result: Result<(), Failure>) -> Result<Outcome, Failure> {
    result.map(|()| Outcome::Done)
}

/// After a panic the connection may be in any state.
pub(super) fn panicked() -> Verdict {
    let message = "Rust code panicked while it ran this statement; the connection was replaced";
    Verdict::new(Err(Error::Panicked(message.into())), Then::ThrowAway)
}

/// What is said about a transaction that ended with its connection.
fn end_of(task: &Task) -> &'static str {
    match task {
        Task::Finish { commit: true } => {
            "its connection was lost while it committed, so whether it was committed is unknown"
        }
        _ => LOST,
    }
}
