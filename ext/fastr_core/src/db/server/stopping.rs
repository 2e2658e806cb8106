//! Stops a statement that is no longer wanted: asks the server over a connection of its own, and then waits for the
//! statement's own end. The future of a statement is never dropped half way, unless its connection is thrown away.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::Notify;

use super::driver::{Driver, Failure, SessionKey};
use super::job::Ticket;
use crate::db::refusal;
use crate::error::Error;
use crate::event::Outcome;

/// How long a statement that was stopped may take to end; then its connection is thrown away.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// The pause before the server is asked again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Somebody cancelled it.
    Cancelled,
    /// Its time limit passed.
    TimedOut(Duration),
}

impl Stop {
    /// What the caller is told.
    pub(super) fn error(self, ticket: &Ticket) -> Error {
        match self {
            Stop::Cancelled => ticket.cancelled(),
            Stop::TimedOut(limit) => refusal::timed_out(limit, &ticket.query.sql),
        }
    }
}

/// How a statement ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// Its own result; none if it did not even end after it was stopped.
    pub(super) result: Option<Result<Outcome, Failure>>,
    /// Whether it was stopped.
    pub(super) stop: Option<Stop>,
}

/// Runs a statement to its end, which comes soon once the ticket is cancelled or its time limit passed. `grace` is how
/// long one that was stopped may take to end by itself before the server is asked.
pub(super) async fn run<D: Driver>(
    driver: &D,
    key: SessionKey,
    ticket: &Ticket,
    grace: Duration,
    statement: impl Future<Output = Result<Outcome, Failure>>,
) -> Ran {
    let mut statement = pin!(statement);
    let stop = tokio::select! {
        biased;
        result = &mut statement => return Ran { result: Some(result), stop: None },
        () = ticket.stopped() => Stop::Cancelled,
        limit = passed(ticket.timeout) => Stop::TimedOut(limit),
    };
    let stop = Some(stop);
    if !grace.is_zero()
        && let Ok(result) = tokio::time::timeout(grace, &mut statement).await
    {
        let result = Some(result);
        return Ran { result, stop };
    }
    let ended = Notify::new();
    let ending = async {
        let result = statement.await;
        ended.notify_one();
        result
    };
    // A stop may reach the server a moment before the statement does, and then there is nothing to stop yet.
    let asking = async {
        loop {
            let _ = driver.stop(key).await;
            if tokio::time::timeout(PAUSE, ended.notified()).await.is_ok() {
                return;
            }
        }
    };
    // Both: what the server was asked to do must not reach the next statement.
    let both = futures_util::future::join(asking, ending);
    let result = tokio::time::timeout(PATIENCE, both).await;
    let result = result.ok().map(|((), result)| result);
    Ran { result, stop }
}

async fn passed(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}
