//! The task that owns one connection: it connects, performs one job after the other, and says good-bye. It keeps the
//! connection clean for the next job: whatever happened, afterwards the server is in a transaction exactly if the pool
//! says so. A panic costs the job and the connection, not the pool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::driver::{Driver, Session};
use super::seat::Seat;
use super::steps::Next;
use crate::db::query::Query;
use crate::db::refusal::{self, CLOSED, seconds};
use crate::error::{DatabaseError, DatabaseErrorKind};

/// How long saying good-bye may take.
const GOODBYE: Duration = Duration::from_millis(250);

/// How long a connection that idled may take to show that it is alive.
const PING: Duration = Duration::from_secs(1);

/// How long a rollback that nobody asked for may take.
const ROLLBACK: Duration = Duration::from_secs(2);

/// Owns one connection from its opening to its end.
pub(super) async fn live<D: Driver>(driver: Arc<D>, mut seat: Seat) {
    seat.arrive();
    let opened = tokio::select! {
        biased;
        opened = connect(&*driver, seat.pool.options.connect_timeout) => opened,
        () = seat.closed() => return seat.leave(CLOSED),
    };
    match opened {
        Err(cause) => seat.fail(cause),
        Ok(session) => {
            seat.connected();
            let connection = Connection {
                driver,
                session,
                seat,
                has_failed: false,
            };
            connection.serve().await;
        }
    }
}

async fn connect<D: Driver>(driver: &D, limit: Duration) -> Result<D::Session, DatabaseError> {
    let attempt = AssertUnwindSafe(driver.connect()).catch_unwind();
    let failure = match tokio::time::timeout(limit, attempt).await {
        Ok(Ok(result)) => return result,
        Ok(Err(_)) => "Rust code panicked".into(),
        Err(_) => format!("no answer within {} (connect_timeout)", seconds(limit)),
    };
    let message = format!("cannot connect to {}: {failure}", driver.describe());
    Err(DatabaseError::new(DatabaseErrorKind::Connection, message))
}

/// One connection, its driver and its place in the pool.
pub(super) struct Connection<D: Driver> {
    pub(super) driver: Arc<D>,
    pub(super) session: D::Session,
    pub(super) seat: Seat,
    /// Whether a statement failed in the transaction that is open.
    pub(super) has_failed: bool,
}

impl<D: Driver> Connection<D> {
    async fn serve(mut self) {
        let mut next = self.seat.next();
        loop {
            let after = match next {
                Next::Job(job) => self.perform(job).await,
                Next::Batch(jobs) => self.perform_many(jobs).await,
                Next::Check => self.check().await,
                Next::Idled => self.idled().await,
                Next::Park(wake) => {
                    wake.notified().await;
                    Some(self.seat.next())
                }
                Next::Leave => break,
            };
            match after {
                Some(then) => next = then,
                None => return,
            }
        }
        let goodbye = AssertUnwindSafe(self.session.close()).catch_unwind();
        tokio::time::timeout(GOODBYE, goodbye).await.ok();
        self.seat.leave(CLOSED);
    }

    async fn check(&mut self) -> Option<Next> {
        let ping = AssertUnwindSafe(self.session.ping(PING)).catch_unwind();
        let is_alive = matches!(tokio::time::timeout(PING * 2, ping).await, Ok(Ok(true)));
        if is_alive {
            return Some(self.seat.checked());
        }
        self.seat.lose("its connection was lost");
        None
    }

    async fn idled(&mut self) -> Option<Next> {
        let is_clean = self.roll_back().await;
        let limit = self.seat.pool.options.idle_in_transaction;
        self.seat.end_transaction(&refusal::idled(limit));
        if is_clean {
            return Some(self.seat.release());
        }
        self.seat.leave("its connection was lost");
        None
    }

    /// Rolls back what is open. Whether that worked; if not, the connection is of no use any more.
    pub(super) async fn roll_back(&mut self) -> bool {
        let sql = Query::new("ROLLBACK");
        let rollback = AssertUnwindSafe(self.session.run(&sql)).catch_unwind();
        let rolled_back = tokio::time::timeout(ROLLBACK, rollback).await;
        matches!(rolled_back, Ok(Ok(Ok(_)))) && !self.session.is_in_transaction()
    }
}
