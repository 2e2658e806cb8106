//! Several statements on one connection at once: hand them over, look after those that take their time, and bring the
//! pool's books and the answers together.
//!
//! The server cannot give back what it was sent. So a statement that keeps others waiting is stopped after a while and
//! runs again, alone; and where the connection itself is given up, the effect of what was not answered is unknown.

use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;

use super::batch::{Batch, End, Step};
use super::driver::{Driver, Session};
use super::job::{Job, Ticket};
use super::perform::{LOST, panicked};
use super::pool::Pool;
use super::session_task::Connection;
use super::steps::Next;
use super::stopping::PATIENCE;
use super::verdict::{Then, Verdict};
use crate::db::query::Query;
use crate::db::refusal::refused;
use crate::error::{DatabaseError, DatabaseErrorKind};

/// How often somebody looks after a batch that has not ended: seldom enough to cost a quick one one timer.
const TICK: Duration = Duration::from_millis(5);

/// How the session's side of a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// By itself.
    Well,
    /// It did, but a stop may still be on its way and would hit the next statement.
    Haunted,
    /// By a panic.
    Panicked,
    /// What was stopped did not end.
    GivenUp,
}

impl<D: Driver> Connection<D> {
    /// Performs jobs that stand alone, all at once. What is to be done next, unless the connection's place was left.
    pub(super) async fn perform_many(&mut self, jobs: Vec<Job>) -> Option<Next> {
        let tickets: Vec<Arc<Ticket>> = jobs.iter().map(|job| Arc::clone(&job.ticket)).collect();
        self.seat.batch.start(jobs);
        let ended = self.run_many(&tickets).await;
        let End { then, late, again } = self.seat.batch.end(|ticket| unanswered(ended, ticket));
        let is_clean = then == Then::GoOn && ended == Ended::Well && self.is_clean().await;
        let next = match then {
            Then::GoOn if is_clean => {
                // They go to the front: this connection is free for them in a moment.
                self.seat.requeue_all(again);
                Some(self.release_many())
            }
            Then::Lost => {
                self.seat.lose(LOST);
                self.seat.requeue_all(again);
                None
            }
            _ => {
                self.seat.leave(LOST);
                self.seat.requeue_all(again);
                None
            }
        };
        for (completer, result) in late {
            completer.complete(result);
        }
        next
    }

    async fn run_many(&mut self, tickets: &[Arc<Ticket>]) -> Ended {
        let queries: Vec<&Query> = tickets.iter().map(|ticket| &ticket.query).collect();
        let key = self.session.key();
        let (driver, batch, pool) = (&*self.driver, &self.seat.batch, &self.seat.pool);
        let many = self
            .session
            .run_many(&queries, |index, result| batch.answered(index, result));
        let mut many = pin!(AssertUnwindSafe(many).catch_unwind());
        let mut tick = pin!(tokio::time::sleep(TICK));
        let mut is_haunted = false;
        loop {
            tokio::select! {
                biased;
                ended = &mut many => return Ended::of(&ended, is_haunted),
                () = &mut tick => {}
            }
            match look(batch, pool) {
                Step::Wait => {}
                Step::Stop => {
                    let (ended, has_stopped) = stop(driver.stop(key), many.as_mut()).await;
                    is_haunted |= !has_stopped;
                    if let Some(ended) = ended {
                        return Ended::of(&ended, is_haunted);
                    }
                }
                Step::GiveUp => return Ended::GivenUp,
            }
            tick.as_mut().reset(tokio::time::Instant::now() + TICK);
        }
    }

    fn release_many(&self) -> Next {
        self.seat.release_after(|state, _| {
            let history = &mut state.history;
            self.seat
                .batch
                .learned(|sql, took| history.learn(sql, took));
        })
    }

    /// Whether the connection is in no transaction, as it must be; a function may have surprised us.
    async fn is_clean(&mut self) -> bool {
        !self.session.is_in_transaction() || self.roll_back().await
    }
}

impl Ended {
    fn of<P>(ended: &Result<(), P>, is_haunted: bool) -> Self {
        match ended {
            Ok(()) if is_haunted => Self::Haunted,
            Ok(()) => Self::Well,
            Err(_) => Self::Panicked,
        }
    }
}

/// Looks after a batch, and remembers who was found to be slow.
fn look(batch: &Batch, pool: &Pool) -> Step {
    let look = batch.look(Instant::now());
    if let Some(slow) = look.slow {
        pool.lock().history.distrust(&slow.query.sql);
    }
    look.then
}

/// Asks the server to stop what runs, while the batch goes on. How the batch ended, if it did meanwhile, and whether the
/// stop has ended: it must not reach the next statement of this connection.
async fn stop<P>(
    stop: impl Future<Output = Result<(), DatabaseError>>,
    mut many: Pin<&mut impl Future<Output = Result<(), P>>>,
) -> (Option<Result<(), P>>, bool) {
    let mut stop = pin!(tokio::time::timeout(PATIENCE, stop));
    tokio::select! {
        biased;
        ended = &mut many => (Some(ended), stop.await.is_ok()),
        stopped = &mut stop => (None, stopped.is_ok()),
    }
}

/// What is said about a statement that got no answer.
fn unanswered(ended: Ended, ticket: &Ticket) -> Verdict {
    if ended == Ended::Panicked {
        return panicked();
    }
    let message = "a statement before this one on the same connection did not end when it was stopped, and the connection \
                   was given up; whether this statement took effect is unknown";
    let sql = &ticket.query.sql;
    let error = refused(DatabaseErrorKind::ConnectionLost, message, sql);
    Verdict::new(Err(error), Then::ThrowAway)
}
