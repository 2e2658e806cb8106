//! The interface between the pool of a server database and one protocol. A driver knows how to connect, to stop a
//! statement from outside and to open a transaction; a session is one connection, owned by one task of the pool, which
//! never drops a future of it half way: a statement that is no longer wanted is stopped by [`Driver::stop`] and then
//! drained. A session that can pipeline says so by [`Session::PIPELINE`] and is given several statements at once.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::db::feed::Feed;
use crate::db::query::{BeginOptions, Query};
use crate::db::rows::Rows;
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, Error};
use crate::event::Outcome;

/// One protocol, for one address.
pub(crate) trait Driver: fmt::Debug + Send + Sync + 'static {
    /// One connection.
    type Session: Session;

    /// Opens a connection, ready for statements.
    fn connect(&self) -> impl Future<Output = Result<Self::Session, DatabaseError>> + Send;

    /// Makes the server stop what a session runs, over a connection of its own. Once this returned, nothing of it can
    /// reach a later statement of that session.
    fn stop(&self, key: SessionKey) -> impl Future<Output = Result<(), DatabaseError>> + Send;

    /// The statements that open a transaction.
    ///
    /// # Errors
    /// If the database has no such transactions.
    fn begin(&self, options: &BeginOptions) -> Result<Vec<String>, Error>;

    /// Delivers what is notified on these channels, over a connection of its own, until the feed is closed. Tells
    /// `listening` once it listens; until then a failure ends it, afterwards it connects again when the connection
    /// breaks.
    fn listen(
        self: Arc<Self>,
        channels: Vec<String>,
        feed: Arc<Feed<Notification>>,
        listening: oneshot::Sender<()>,
    ) -> impl Future<Output = Result<(), DatabaseError>> + Send;

    /// Why [`listen`](Self::listen) is impossible, if it is.
    fn cannot_listen(&self) -> Option<Error> {
        None
    }

    /// What an error message calls it: `PostgreSQL at 127.0.0.1:5432`; never with a password.
    fn describe(&self) -> String;
}

/// Names a session to [`Driver::stop`]: PostgreSQL's backend process, MySQL's connection id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionKey(pub(crate) u64);

/// One connection. Its futures are always awaited to their end, unless the connection itself is thrown away.
pub(crate) trait Session: Send + 'static {
    /// How many statements may be in flight on it at once; with one, [`run_many`](Self::run_many) is never called.
    const PIPELINE: usize = 1;

    /// How [`Driver::stop`] finds it.
    fn key(&self) -> SessionKey;

    /// Runs one statement: rows, JSON or what was written, by the query's shape. Outside of a transaction a statement
    /// whose prepared form a change of the schema made invalid is prepared again and repeated by itself.
    fn run(&mut self, query: &Query) -> impl Future<Output = Result<Outcome, Failure>> + Send;

    /// Runs several statements that stand alone, each in a transaction of its own: the failure of one touches no other.
    /// Calls `answered` exactly once for each, in order, as soon as the statement has ended and before the next one's
    /// answer is awaited, with the fate of that very statement. Where the connection breaks, all that follow are lost,
    /// too; `repeatable` are those that certainly did not take effect. [`Driver::stop`] hits the first that was not
    /// answered, or the one that came after it. A query's timings count from its predecessor's answer.
    fn run_many(
        &mut self,
        queries: &[&Query],
        mut answered: impl FnMut(usize, Result<Outcome, Failure>) + Send,
    ) -> impl Future<Output = ()> + Send {
        async move {
            for (index, query) in queries.iter().enumerate() {
                let result = self.run(query).await;
                answered(index, result);
            }
        }
    }

    /// Runs one statement that reads, and hands its rows over in batches; ends early without an error when the feed is
    /// closed. A session that cannot stop half way without harm says so by [`Fate::Lost`].
    fn stream(
        &mut self,
        query: &Query,
        batch: usize,
        feed: &Feed<Arc<Rows>>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Runs any number of statements without binds, in order, until one fails.
    fn script(&mut self, sql: &str) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Whether it is alive; asked after it idled.
    fn ping(&mut self, limit: Duration) -> impl Future<Output = bool> + Send;

    /// Whether the server thinks a transaction is open (that nobody opened through the pool).
    fn is_in_transaction(&self) -> bool;

    /// Says good-bye, within a moment.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Why a statement failed, and what became of the connection.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the caller is told.
    pub(crate) error: DatabaseError,
    /// What became of the connection.
    pub(crate) fate: Fate,
}

/// What became of a connection on which a statement failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Usable,
    /// It is over. Nothing of the statement's result was seen; outside of a transaction the pool may repeat it once on
    /// a fresh connection if `repeatable`: the connection was dead before the statement reached the server, or the
    /// server said that it did not run it.
    Lost {
        /// Whether the statement certainly did not take effect.
        repeatable: bool,
    },
}

impl Failure {
    /// A failure after which the connection goes on.
    pub(crate) fn of_statement(error: DatabaseError) -> Self {
        let fate = Fate::Usable;
        Self { error, fate }
    }
}
