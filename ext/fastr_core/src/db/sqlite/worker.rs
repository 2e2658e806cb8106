//! A thread that owns one connection and performs jobs on it. It keeps the connection clean for the next job: whatever
//! happened, afterwards SQLite is in a transaction exactly if the lanes say so. A panic costs the job and the
//! connection, not the thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::Connection;

use super::connection::{self, Stop, Watch};
use super::error::{from_sqlite, was_stopped};
use super::execute::{self, Execution};
use super::job::{Job, Task, Ticket};
use super::lanes::{Lanes, Next};
use super::planning::Planning;
use super::state::Lane;
use crate::db::query::Shape;
use crate::db::refusal;
use crate::db::standstill;
use crate::db::timings::Clock;
use crate::error::Error;
use crate::event::Outcome;

/// What came of a job.
enum Performed {
    /// It has its answer.
    Answer(Result<Outcome, Error>),
    /// It writes, and this connection only reads.
    Writes,
}

/// One worker.
pub(super) struct Worker {
    lanes: Arc<Lanes>,
    lane: Lane,
    index: usize,
    connection: Option<(Connection, Planning)>,
    /// Whether the connection refuses writes, for a transaction that only reads.
    is_read_only: bool,
    watch: Arc<Watch>,
}

impl Worker {
    pub(super) fn new(lanes: Arc<Lanes>, lane: Lane, index: usize) -> Self {
        Self {
            lanes,
            lane,
            index,
            connection: None,
            is_read_only: false,
            watch: Arc::default(),
        }
    }

    /// Works until the database is closed.
    pub(super) fn run(mut self) {
        loop {
            match self.lanes.next(self.index) {
                Next::Job(job) => self.perform(job),
                Next::Idled => self.idled(),
                Next::Closed => return self.disconnect(),
            }
        }
    }

    fn disconnect(&mut self) {
        let _inside = standstill::enter();
        self.connection = None;
    }

    fn perform(&mut self, job: Job) {
        let inside = standstill::enter();
        let attempt = AssertUnwindSafe(|| self.attempt(&job.ticket, &job.task));
        let performed = catch_unwind(attempt).unwrap_or_else(|_| self.abandon());
        drop(inside);
        // A worker is free before its result is known: what the result triggers finds it so.
        self.lanes.release(self.index);
        match performed {
            Performed::Answer(result) => job.completer.complete(result),
            Performed::Writes => self.lanes.enqueue(Lane::Write, job),
        }
    }

    fn attempt(&mut self, ticket: &Arc<Ticket>, task: &Task) -> Performed {
        let ends = matches!(task, Task::Finish { .. });
        if ticket.is_cancelled() && !ends {
            return Performed::Answer(Err(ticket.cancelled()));
        }
        if !ends {
            self.watch.begin(ticket);
        }
        let result = self.execute(ticket, task);
        let stop = self.watch.stop();
        self.watch.end();
        let result = result.map_err(|error| reason(error, stop, ticket));
        let settled = self.settle(result, ticket);
        self.allow_writes();
        match settled {
            Ok(Some(outcome)) => Performed::Answer(Ok(outcome)),
            Ok(None) => Performed::Writes,
            Err(error) => Performed::Answer(Err(error)),
        }
    }

    fn execute(&mut self, ticket: &Ticket, task: &Task) -> Result<Option<Outcome>, Error> {
        let lane = self.lane;
        let sql = ticket.sql.as_str();
        let (connection, planning) = self.connect()?;
        match task {
            Task::Query {
                inserts,
                binds,
                shape,
                row_limit,
                clock,
            } => Clock::measure(clock.as_ref(), || {
                Execution {
                    sql,
                    binds,
                    shape,
                    row_limit: *row_limit,
                    inserts: *inserts,
                }
                .run(connection, planning, lane)
            }),
            Task::Stream { binds, batch, feed } => Execution {
                sql,
                binds,
                shape: &Shape::Rows,
                row_limit: None,
                inserts: false,
            }
            .stream(connection, *batch, feed)
            .map(|()| Some(Outcome::Done)),
            Task::Script => execute::script(connection, sql).map(|()| Some(Outcome::Done)),
            Task::Begin(options) => {
                run(connection, sql)?;
                if options.read_only {
                    run(connection, "PRAGMA query_only = 1")?;
                    self.is_read_only = true;
                }
                Ok(Some(Outcome::Transaction(self.lanes.open_transaction())))
            }
            Task::Finish { commit } => {
                self.finish(*commit, sql)?;
                Ok(Some(Outcome::Done))
            }
        }
    }

    fn finish(&mut self, commit: bool, sql: &str) -> Result<(), Error> {
        let result = run(&self.connect()?.0, sql);
        self.lanes.end_transaction(match (commit, &result) {
            (true, Ok(())) => "it was committed",
            (true, Err(_)) => "its commit failed, so it was rolled back",
            (false, _) => "it was rolled back",
        });
        result
    }

    /// Brings SQLite's view of transactions and ours together again.
    fn settle(
        &mut self,
        result: Result<Option<Outcome>, Error>,
        ticket: &Ticket,
    ) -> Result<Option<Outcome>, Error> {
        let Some((connection, _)) = &self.connection else {
            return result;
        };
        if self.lane == Lane::Read && connection.is_autocommit() {
            return result;
        }
        match (self.lanes.transaction(), connection.is_autocommit()) {
            (Some(_), true) => {
                self.lanes.end_transaction(match &result {
                    Ok(_) => "a script in it ended it",
                    Err(_) => "the database rolled it back when a statement in it failed",
                });
                result.and_then(|_| Err(refusal::ended_inside(&ticket.sql)))
            }
            (None, false) => {
                self.roll_back();
                // A failed commit has its own error already.
                result.and_then(|_| Err(refusal::left_open(&ticket.sql)))
            }
            _ => result,
        }
    }

    fn roll_back(&mut self) {
        let rolled_back = self
            .connection
            .as_ref()
            .is_some_and(|(connection, _)| run(connection, "ROLLBACK").is_ok());
        if !rolled_back {
            // Closing the connection rolls back whatever it holds.
            self.connection = None;
        }
    }

    /// Once the transaction that only read is over, however it ended.
    fn allow_writes(&mut self) {
        if !self.is_read_only || self.lanes.transaction().is_some() {
            return;
        }
        self.is_read_only = false;
        let allowed = self
            .connection
            .as_ref()
            .is_some_and(|(connection, _)| run(connection, "PRAGMA query_only = 0").is_ok());
        if !allowed {
            self.connection = None;
        }
    }

    fn idled(&mut self) {
        let _inside = standstill::enter();
        self.roll_back();
        let limit = self.lanes.options.idle_in_transaction;
        self.lanes.end_transaction(&refusal::idled(limit));
        self.allow_writes();
    }

    fn connect(&mut self) -> Result<&mut (Connection, Planning), Error> {
        if self.connection.is_none() {
            let (location, options) = (&self.lanes.location, &self.lanes.options);
            let opened = connection::open(location, options, self.lane, &self.watch)?;
            self.connection = Some(opened);
        }
        Ok(self
            .connection
            .as_mut()
            .expect("it was opened a line above"))
    }

    /// After a panic the connection may be in any state.
    fn abandon(&mut self) -> Performed {
        self.watch.end();
        self.connection = None;
        if self.lane == Lane::Write {
            self.lanes
                .end_transaction("fastr panicked in it, so it was rolled back");
        }
        let message = "Rust code panicked while it ran this statement; the connection was replaced";
        Performed::Answer(Err(Error::Panicked(message.into())))
    }
}

fn run(connection: &Connection, sql: &str) -> Result<(), Error> {
    connection
        .execute_batch(sql)
        .map_err(|error| from_sqlite(&error, sql).into())
}

/// Says why a statement was stopped, if it was.
fn reason(error: Error, stop: Option<Stop>, ticket: &Ticket) -> Error {
    match (&error, stop) {
        (Error::Database(database), Some(stop)) if was_stopped(database) => match stop {
            Stop::Cancelled => ticket.cancelled(),
            Stop::TimedOut(limit) => refusal::timed_out(limit, &ticket.sql),
        },
        _ => error,
    }
}
