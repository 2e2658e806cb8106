//! The public handle on one database. It owns the choice of backend from the URL and nothing else: queues,
//! connections and limits belong to the backend.

use std::sync::Arc;
use std::time::Duration;

use super::backend::{Backend, CancelHandle, Stats};
use super::query::{BeginOptions, Query};
use super::rows::TransactionId;
use crate::error::Error;
use crate::event::Completer;
use crate::reactor::Reactor;

/// Where a database that is a server finds the reactor its connections live on. Asked when a connection is opened, so
/// that a database outlives a reactor that was stopped and started again.
pub type ReactorSource = Arc<dyn Fn() -> Result<Arc<Reactor>, Error> + Send + Sync>;

/// Limits of one database. The default suits a web application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Connections there may be (10); they are opened as the load asks for them. SQLite: connections that read beside
    /// the one that writes (4); a memory database has exactly one connection, whatever is said here.
    pub size: Option<usize>,
    /// Servers: connections that are kept although nothing runs on them (0).
    pub min_size: usize,
    /// How many operations may wait before the next one is refused (1000).
    pub max_waiting: usize,
    /// How long an operation may wait for a connection (5 s). A statement inside an open transaction has its
    /// connection already and waits for the ones before it without this limit.
    pub pool_timeout: Duration,
    /// How long a statement may run unless its query says otherwise (no limit).
    pub query_timeout: Option<Duration>,
    /// How long an open transaction may go without a statement before it is rolled back (30 s).
    pub idle_in_transaction: Duration,
    /// Servers: how long a commit or rollback may go without an answer before its connection is given up (60 s; none
    /// waits for ever).
    pub commit_timeout: Option<Duration>,
    /// Servers: how long opening a connection may take (5 s).
    pub connect_timeout: Duration,
    /// Servers: after how long without work a connection is closed (10 min; none keeps it).
    pub idle_timeout: Option<Duration>,
    /// Servers: after how long a connection is replaced by a fresh one (30 min and up to a tenth less, so that they do
    /// not all go at once; none keeps it).
    pub max_lifetime: Option<Duration>,
    /// SQLite: how long a statement waits for a lock held by another process (5 s).
    pub busy_timeout: Duration,
    /// Prepared statements kept per connection (128).
    pub statement_cache: usize,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            size: None,
            min_size: 0,
            max_waiting: 1000,
            pool_timeout: Duration::from_secs(5),
            query_timeout: None,
            idle_in_transaction: Duration::from_secs(30),
            commit_timeout: Some(Duration::from_secs(60)),
            connect_timeout: Duration::from_secs(5),
            idle_timeout: Some(Duration::from_secs(600)),
            max_lifetime: Some(Duration::from_secs(1800)),
            busy_timeout: Duration::from_secs(5),
            statement_cache: 128,
        }
    }
}

/// One database. Dropping it closes it without waiting.
///
/// SQLite writes on one connection, in the order of submission, and reads on others that always see what was committed
/// before they began: submit the read after the write has completed. While a transaction is open other writers wait
/// and readers go on. In a memory database there is one connection, so *everything* outside an open transaction waits
/// for it.
#[derive(Debug)]
pub struct Database {
    backend: Box<dyn Backend>,
}

impl Database {
    /// Prepares the database behind `url`. Neither connects nor starts a thread (the first operation does), so it is
    /// legal before `fork`.
    ///
    /// SQLite: `sqlite:db/app.db`, `sqlite://db/app.db`, `sqlite:///var/app.db`, `sqlite::memory:`, or a plain path;
    /// URLs take `?mode=ro` (read only), `?mode=rw` (must exist) or `?mode=rwc` (the default: created when missing).
    ///
    /// # Errors
    /// A `Connection` error if the URL cannot be understood. A file that cannot be opened is reported by the
    /// operations, because it may appear later.
    pub fn open(
        url: &str,
        options: DatabaseOptions,
        reactor: ReactorSource,
    ) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            backend: backend_for(url, options, reactor)?,
        }))
    }

    /// Runs one statement and completes with rows, JSON or what was written. Transaction control is refused here:
    /// use [`begin`](Self::begin) and [`finish`](Self::finish). Savepoints are plain SQL inside a transaction.
    ///
    /// What belongs to one connection is not shared by all of them: temporary tables and settings made by `PRAGMA`
    /// exist on the writing connection only, so use them inside a transaction. `last_insert_id` is what SQLite
    /// remembers; for a table `WITHOUT ROWID` use `RETURNING`. A cancelled write inside a transaction may roll the
    /// whole transaction back, which its next statement then reports.
    pub fn submit(&self, query: Query, completer: Completer) -> CancelHandle {
        self.backend.submit(query, completer)
    }

    /// Like [`submit`](Self::submit), but wakes nobody: for a caller that submits several statements in a row and
    /// calls [`rouse`](Self::rouse) after them, so that all of them cost one wake.
    pub fn submit_quietly(&self, query: Query, completer: Completer) -> CancelHandle {
        self.backend.submit_quietly(query, completer)
    }

    /// Sees to it that what was submitted quietly is taken.
    pub fn rouse(&self) {
        self.backend.rouse();
    }

    /// Runs a script of many statements, as migrations have them; completes with `Outcome::Done`. It stops at the
    /// first failure, is atomic only inside a transaction and has no time limit, but can be cancelled.
    pub fn execute_script(
        &self,
        sql: impl Into<String>,
        transaction: Option<TransactionId>,
        completer: Completer,
    ) -> CancelHandle {
        self.backend
            .execute_script(sql.into(), transaction, completer)
    }

    /// Opens a transaction and completes with its id. Whoever cancels it must still finish the id if the completion
    /// brings one; otherwise it is rolled back after `idle_in_transaction`.
    pub fn begin(&self, options: BeginOptions, completer: Completer) -> CancelHandle {
        self.backend.begin(options, completer)
    }

    /// Runs one statement that reads, and completes with a feed of its rows in batches. The statement goes on while the
    /// batches are taken and holds its connection meanwhile; close the feed to stop it.
    pub fn stream(&self, query: Query, batch: usize, completer: Completer) {
        self.backend.stream(query, batch.max(1), completer);
    }

    /// Completes with a feed of what is notified on these channels (PostgreSQL), over a connection of its own.
    pub fn listen(&self, channels: Vec<String>, completer: Completer) {
        self.backend.listen(channels, completer);
    }

    /// Commits or rolls back, after everything submitted to the transaction before, and completes with
    /// `Outcome::Done`. A commit that fails has rolled back. It waits without a limit and cannot be cancelled.
    pub fn finish(&self, transaction: TransactionId, commit: bool, completer: Completer) {
        self.backend.finish(transaction, commit, completer);
    }

    /// What the database is doing right now.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.backend.stats()
    }

    /// Closes the database: what waits fails, what runs is interrupted, an open transaction is rolled back. Waits up
    /// to `limit` for the connections to end and says whether they did.
    pub fn close(&self, limit: Duration) -> bool {
        self.backend.close(limit)
    }
}

fn backend_for(
    url: &str,
    options: DatabaseOptions,
    reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    match url.split_once("://").map(|(scheme, _)| scheme) {
        None | Some("sqlite" | "sqlite3") => sqlite(url, options),
        Some(scheme) => super::server::open(scheme, url, options, reactor),
    }
}

#[cfg(feature = "sqlite")]
fn sqlite(url: &str, options: DatabaseOptions) -> Result<Box<dyn Backend>, Error> {
    Ok(Box::new(super::sqlite::Sqlite::new(url, options)?))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(url: &str, _options: DatabaseOptions) -> Result<Box<dyn Backend>, Error> {
    Err(crate::error::DatabaseError::new(
        crate::error::DatabaseErrorKind::Connection,
        format!("{url} names a SQLite database and this build has no SQLite"),
    )
    .into())
}
