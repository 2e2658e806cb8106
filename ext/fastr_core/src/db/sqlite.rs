//! SQLite on threads of its own: one connection that writes, some that read.
//!
//! Follow an operation through [`lanes`] (where it waits and who takes it), [`worker`] (the thread that performs it),
//! [`connection`] (how a file is opened) and [`execute`] (one statement); [`state`] and [`transactions`] are what the
//! lanes keep behind their lock. This file only turns the calls of
//! [`Backend`] into jobs; it never touches a connection, and no caller's thread ever does.

mod connection;
mod decode;
mod error;
mod execute;
mod job;
mod lanes;
mod leaving;
mod location;
mod planning;
mod report;
mod state;
mod threads;
mod transactions;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use self::job::{Job, Task, Ticket};
use self::lanes::Lanes;
use self::location::Location;
use self::state::Lane;
use super::backend::{Backend, CancelHandle, Stats};
use super::feed::Feed;
use super::pool::DatabaseOptions;
use super::query::{BeginOptions, Query};
use super::refusal::{self, refused};
use super::row_stream::{self, BATCHES_AHEAD, RowStream};
use super::rows::TransactionId;
use super::statement::{Statement, classify};
use super::timings::Clock;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::{Completer, Outcome};

/// A SQLite database behind its lanes.
#[derive(Debug)]
pub(super) struct Sqlite {
    lanes: Arc<Lanes>,
    memory: bool,
}

impl Sqlite {
    /// Understands the URL; touches neither the file system nor a thread.
    pub(super) fn new(url: &str, options: DatabaseOptions) -> Result<Self, Error> {
        let location = Location::parse(url)?.absolute();
        let memory = location.is_memory();
        Ok(Self {
            lanes: Arc::new(Lanes::new(location, options)),
            memory,
        })
    }

    fn ticket(
        &self,
        sql: String,
        transaction: Option<TransactionId>,
        timeout: Option<Duration>,
    ) -> Arc<Ticket> {
        Arc::new(Ticket {
            sql,
            transaction,
            timeout,
            is_cancelled: AtomicBool::new(false),
            lanes: Arc::downgrade(&self.lanes),
        })
    }

    fn enqueue(&self, lane: Lane, ticket: Arc<Ticket>, task: Task, completer: Completer) {
        self.lanes.enqueue(lane, job(ticket, task, completer));
    }

    /// The lane for a statement, or why it may not run at all.
    fn lane(&self, statement: Statement, query: &Query) -> Result<Lane, Error> {
        refusal::check(statement, &query.sql, query.transaction.is_some())?;
        match statement {
            Statement::Attach if !self.memory => Err(refused(
                DatabaseErrorKind::Query,
                "ATTACH reaches only one of the connections; open the other file as a database of its own",
                &query.sql,
            )),
            _ if self.memory || query.transaction.is_some() => Ok(Lane::Write),
            Statement::Read => Ok(Lane::Read),
            _ => Ok(Lane::Write),
        }
    }

    /// Runs one statement; `append` puts it into its lane.
    fn ask(
        &self,
        query: Query,
        completer: Completer,
        append: impl FnOnce(&Arc<Lanes>, Lane, Job),
    ) -> CancelHandle {
        let statement = classify(&query.sql);
        let lane = self.lane(statement, &query);
        let timeout = query.timeout.or(self.lanes.options.query_timeout);
        let ticket = self.ticket(query.sql, query.transaction, timeout);
        let handle = CancelHandle::new(Arc::clone(&ticket) as _);
        let task = Task::Query {
            inserts: statement == Statement::Insert,
            binds: query.binds,
            shape: query.shape,
            row_limit: query.row_limit,
            clock: query.timings.map(Clock::start),
        };
        match lane {
            Ok(lane) => append(&self.lanes, lane, job(ticket, task, completer)),
            Err(error) => completer.complete(Err(error)),
        }
        handle
    }
}

impl Backend for Sqlite {
    fn submit(&self, query: Query, completer: Completer) -> CancelHandle {
        self.ask(query, completer, Lanes::enqueue)
    }

    fn submit_quietly(&self, query: Query, completer: Completer) -> CancelHandle {
        self.ask(query, completer, Lanes::enqueue_quietly)
    }

    fn rouse(&self) {
        self.lanes.rouse();
    }

    fn stream(&self, query: Query, batch: usize, completer: Completer) {
        let feed = Arc::new(Feed::new(BATCHES_AHEAD, row_stream::batch));
        let statement = classify(&query.sql);
        let lane = self.lane(statement, &query);
        let timeout = query.timeout.or(self.lanes.options.query_timeout);
        let ticket = self.ticket(query.sql, query.transaction, timeout);
        let handle = CancelHandle::new(Arc::clone(&ticket) as _);
        completer.complete(Ok(Outcome::Stream(RowStream::new(
            Arc::clone(&feed),
            handle,
        ))));
        let task = Task::Stream {
            binds: query.binds,
            batch,
            feed: Arc::clone(&feed),
        };
        let end = Completer::call(move |result| feed.end(result.map(|_| ())));
        match lane {
            Ok(lane) => self.enqueue(lane, ticket, task, end),
            Err(error) => end.complete(Err(error)),
        }
    }

    fn listen(&self, _channels: Vec<String>, completer: Completer) {
        completer.complete(Err(DatabaseError::new(
            DatabaseErrorKind::Query,
            "SQLite has no notifications: listen needs PostgreSQL; inside one process use Fastr::Channel",
        )
        .into()));
    }

    fn execute_script(
        &self,
        sql: String,
        transaction: Option<TransactionId>,
        completer: Completer,
    ) -> CancelHandle {
        let ticket = self.ticket(sql, transaction, None);
        let handle = CancelHandle::new(Arc::clone(&ticket) as _);
        self.enqueue(Lane::Write, ticket, Task::Script, completer);
        handle
    }

    fn begin(&self, options: BeginOptions, completer: Completer) -> CancelHandle {
        let task = Task::Begin(options);
        let timeout = options.timeout.or(self.lanes.options.query_timeout);
        let ticket = self.ticket(task.begin_sql().into(), None, timeout);
        let handle = CancelHandle::new(Arc::clone(&ticket) as _);
        self.enqueue(Lane::Write, ticket, task, completer);
        handle
    }

    fn finish(&self, transaction: TransactionId, commit: bool, completer: Completer) {
        let sql = if commit { "COMMIT" } else { "ROLLBACK" };
        let ticket = self.ticket(sql.into(), Some(transaction), None);
        self.enqueue(Lane::Write, ticket, Task::Finish { commit }, completer);
    }

    fn stats(&self) -> Stats {
        self.lanes.stats()
    }

    fn close(&self, limit: Duration) -> bool {
        self.lanes.close(limit)
    }
}

fn job(ticket: Arc<Ticket>, task: Task, completer: Completer) -> Job {
    Job {
        ticket,
        task,
        completer,
        deadline: None,
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.lanes.close(Duration::ZERO);
    }
}
