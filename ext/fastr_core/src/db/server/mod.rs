//! Databases that are servers: a pool of connections, each owned by a task on the reactor.
//!
//! Follow an operation through [`pool`] (where it waits and who takes it), [`session_task`] (the task that owns a
//! connection), [`perform`] (one job on it; [`perform_many`] and [`batch`]: several at once) and [`stopping`] (how one
//! that runs is stopped); [`state`] with [`slot`], [`admission`], [`steps`], [`taking`], [`history`], [`transactions`],
//! [`leaving`] and [`gate`] is what the pool keeps behind its lock, [`keeper`] its one timer.
//! [`driver`] is the interface to one protocol, and [`schemes`] chooses it. This file only turns the calls of
//! [`Backend`] into jobs; it never touches a connection, and no caller's thread ever does.

mod admission;
mod batch;
pub(crate) mod driver;
mod gate;
mod history;
mod job;
mod keeper;
mod leaving;
mod listening;
#[cfg(feature = "mysql")]
pub(crate) mod mysql;
mod perform;
mod perform_many;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod report;
mod schemes;
mod seat;
mod session_task;
mod slot;
mod state;
mod steps;
mod stopping;
mod taking;
#[cfg(test)]
mod tests;
mod transactions;
mod verdict;
mod waits;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::driver::{Driver, Session};
use self::job::{Job, Task, Ticket};
use self::pool::Pool;
use super::backend::{Backend, CancelHandle, Stats};
use super::feed::Feed;
use super::pool::{DatabaseOptions, ReactorSource};
use super::query::{BeginOptions, Query};
use super::refusal;
use super::row_stream::{self, BATCHES_AHEAD, RowStream};
use super::rows::TransactionId;
use super::statement::classify;
use crate::error::Error;
use crate::event::{Completer, Outcome};

pub(super) use self::schemes::open;

/// A database server behind its pool.
#[derive(Debug)]
pub(super) struct Server<D: Driver> {
    driver: Arc<D>,
    pool: Arc<Pool>,
}

impl<D: Driver> Server<D> {
    /// Neither connects nor starts a task: the first operation does.
    pub(super) fn new(driver: D, options: DatabaseOptions, reactor: ReactorSource) -> Self {
        let driver = Arc::new(driver);
        let owned = Arc::clone(&driver);
        let launch = Box::new(move |handle: &tokio::runtime::Handle, seat| {
            handle.spawn(session_task::live(Arc::clone(&owned), seat));
        });
        let pipeline = <D::Session as Session>::PIPELINE;
        let pool = Arc::new(Pool::new(options, pipeline, reactor, launch));
        Self { driver, pool }
    }

    fn ticket(&self, query: Query, timeout: Option<Duration>) -> (Arc<Ticket>, CancelHandle) {
        let ticket = Arc::new(Ticket::new(query, timeout, &self.pool));
        let handle = CancelHandle::new(Arc::clone(&ticket) as _);
        (ticket, handle)
    }

    /// Runs one statement; `append` puts it into the queue.
    fn ask(
        &self,
        query: Query,
        completer: Completer,
        append: impl FnOnce(&Arc<Pool>, Job),
    ) -> CancelHandle {
        let check = check(&query);
        let timeout = query.timeout.or(self.pool.options.query_timeout);
        let (ticket, handle) = self.ticket(query, timeout);
        match check {
            Ok(()) => append(&self.pool, job(ticket, Task::Query, completer)),
            Err(error) => completer.complete(Err(error)),
        }
        handle
    }
}

impl<D: Driver> Backend for Server<D> {
    fn submit(&self, query: Query, completer: Completer) -> CancelHandle {
        self.ask(query, completer, Pool::enqueue)
    }

    fn submit_quietly(&self, query: Query, completer: Completer) -> CancelHandle {
        self.ask(query, completer, Pool::enqueue_quietly)
    }

    fn rouse(&self) {
        self.pool.rouse();
    }

    fn execute_script(
        &self,
        sql: String,
        transaction: Option<TransactionId>,
        completer: Completer,
    ) -> CancelHandle {
        let query = Query {
            transaction,
            ..Query::new(sql)
        };
        let (ticket, handle) = self.ticket(query, None);
        self.pool.enqueue(job(ticket, Task::Script, completer));
        handle
    }

    fn begin(&self, options: BeginOptions, completer: Completer) -> CancelHandle {
        let statements = self.driver.begin(&options);
        let timeout = options.timeout.or(self.pool.options.query_timeout);
        let (ticket, handle) = self.ticket(Query::new("BEGIN"), timeout);
        match statements {
            Ok(statements) => {
                let task = Task::Begin(statements);
                self.pool.enqueue(job(ticket, task, completer));
            }
            Err(error) => completer.complete(Err(error)),
        }
        handle
    }

    fn stream(&self, query: Query, batch: usize, completer: Completer) {
        let feed = Arc::new(Feed::new(BATCHES_AHEAD, row_stream::batch));
        let check = check(&query);
        let timeout = query.timeout.or(self.pool.options.query_timeout);
        let (ticket, handle) = self.ticket(query, timeout);
        completer.complete(Ok(Outcome::Stream(RowStream::new(
            Arc::clone(&feed),
            handle,
        ))));
        let end = Arc::clone(&feed);
        let end = Completer::call(move |result| end.end(result.map(|_| ())));
        match check {
            Ok(()) => self
                .pool
                .enqueue(job(ticket, Task::Stream { batch, feed }, end)),
            Err(error) => end.complete(Err(error)),
        }
    }

    fn listen(&self, channels: Vec<String>, completer: Completer) {
        listening::listen(Arc::clone(&self.driver), &self.pool, channels, completer);
    }

    fn finish(&self, transaction: TransactionId, commit: bool, completer: Completer) {
        let sql = if commit { "COMMIT" } else { "ROLLBACK" };
        let (ticket, _) = self.ticket(Query::new(sql).within(transaction), None);
        self.pool
            .enqueue(job(ticket, Task::Finish { commit }, completer));
    }

    fn stats(&self) -> Stats {
        self.pool.stats()
    }

    fn close(&self, limit: Duration) -> bool {
        self.pool.close(limit)
    }
}

impl<D: Driver> Drop for Server<D> {
    fn drop(&mut self) {
        self.pool.close(Duration::ZERO);
    }
}

fn check(query: &Query) -> Result<(), Error> {
    refusal::check(
        classify(&query.sql),
        &query.sql,
        query.transaction.is_some(),
    )
}

fn job(ticket: Arc<Ticket>, task: Task, completer: Completer) -> Job {
    Job {
        ticket,
        task,
        completer,
        since: Instant::now(),
        deadline: None,
        is_repeated: false,
    }
}
