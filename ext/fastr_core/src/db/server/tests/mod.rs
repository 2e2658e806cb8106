//! The pool against a server that lives in the test: order, limits, cancels, healing, and that nothing is left behind.

mod batches;
mod cancelling;
mod closing;
mod fake;
mod healing;
mod queueing;
mod stress;
mod stuck_batches;
mod transactions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::fake::{Fake, World};
use super::Server;
use crate::db::backend::{Backend, CancelHandle};
use crate::db::pool::DatabaseOptions;
use crate::db::query::{BeginOptions, Query};
use crate::db::rows::TransactionId;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::{Completer, CompletionId, Outcome};
use crate::reactor::Reactor;
use crate::sync::{Mutex, lock};
use crate::waiter::{Waited, Waiter};

/// No test waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// A pool with its server and the reactor both live on.
struct Bench {
    server: Server<Fake>,
    world: Arc<World>,
    reactor: Arc<Mutex<Arc<Reactor>>>,
}

impl Bench {
    fn new(options: DatabaseOptions) -> Self {
        let world = Arc::new(World::default());
        let reactor = Arc::new(Mutex::new(Reactor::start().unwrap()));
        let current = Arc::clone(&reactor);
        let source = Arc::new(move || Ok(Arc::clone(&*lock(&current))));
        let server = Server::new(Fake(Arc::clone(&world)), options, source);
        Self {
            server,
            world,
            reactor,
        }
    }

    fn of_size(size: usize) -> Self {
        Self::new(sized(size))
    }

    fn start(&self, query: impl Into<Query>) -> Pending {
        Pending::new(|completer| Some(self.server.submit(query.into(), completer)))
    }

    /// Makes the pool believe that a statement is quick.
    fn trust(&self, sql: &str) {
        let took = Duration::from_micros(50);
        for _ in 0..100 {
            self.server.pool.lock().history.learn(sql, took);
        }
    }

    /// Has all connections busy, until what it returns is cancelled.
    fn occupy(&self) -> Vec<Pending> {
        let size = self.server.stats().limit;
        let busy: Vec<Pending> = (0..size).map(|_| self.start("sleep 60000")).collect();
        assert!(eventually(|| self.server.stats().busy == size));
        busy
    }

    /// Starts statements that are believed to be quick while no connection is free, and then lets them go.
    fn rush<T: AsRef<str>>(&self, statements: &[T]) -> Vec<Pending> {
        let busy = self.occupy();
        let pending = statements.iter().map(|sql| {
            self.trust(sql.as_ref());
            self.start(sql.as_ref())
        });
        let pending = pending.collect();
        for busy in busy {
            busy.cancel();
            assert_eq!(busy.kind(), DatabaseErrorKind::Cancelled);
        }
        pending
    }

    /// Stops the reactor and goes on with a fresh one.
    fn replace_reactor(&self) {
        let fresh = Reactor::start().unwrap();
        let stopped = std::mem::replace(&mut *lock(&self.reactor), fresh);
        stopped.stop();
    }

    fn batches(&self) -> Vec<Vec<String>> {
        lock(&self.world.batches).clone()
    }

    fn run(&self, sql: &str) {
        self.start(sql).result().unwrap();
    }

    fn beginning(&self) -> Pending {
        Pending::new(|completer| Some(self.server.begin(BeginOptions::default(), completer)))
    }

    fn begin(&self) -> TransactionId {
        self.beginning().transaction()
    }

    fn finishing(&self, id: TransactionId, commit: bool) -> Pending {
        Pending::new(|completer| {
            self.server.finish(id, commit, completer);
            None
        })
    }

    fn script(&self, sql: &str, transaction: Option<TransactionId>) -> Pending {
        Pending::new(|completer| {
            Some(
                self.server
                    .execute_script(sql.into(), transaction, completer),
            )
        })
    }

    /// Nothing runs, nothing waits, nothing is held.
    fn assert_at_rest(&self) {
        let at_rest = eventually(|| {
            let stats = self.server.stats();
            stats.busy == 0 && stats.waiting == 0 && stats.idle == stats.size
        });
        let stats = self.server.stats();
        assert!(at_rest, "{stats:?}");
        assert!(!stats.transaction_open, "{stats:?}");
        assert_eq!(self.world.sessions(), stats.size);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let closed = self.server.close(PATIENCE);
        assert!(closed || std::thread::panicking(), "it did not close");
        lock(&self.reactor).stop();
    }
}

impl From<&str> for Query {
    fn from(sql: &str) -> Self {
        Query::new(sql)
    }
}

fn sized(size: usize) -> DatabaseOptions {
    DatabaseOptions {
        size: Some(size),
        ..DatabaseOptions::default()
    }
}

/// An operation under way.
struct Pending {
    waiter: Arc<Waiter>,
    handle: Option<CancelHandle>,
}

impl Pending {
    fn new(operation: impl FnOnce(Completer) -> Option<CancelHandle>) -> Self {
        let waiter = Arc::new(Waiter::default());
        let handle = operation(Completer::waiter(Arc::clone(&waiter), CompletionId(1)));
        Self { waiter, handle }
    }

    fn cancel(&self) {
        self.handle.as_ref().expect("it can be cancelled").cancel();
    }

    fn within(&self, limit: Duration) -> Option<Result<Outcome, Error>> {
        match self.waiter.wait(Some(limit)) {
            Waited::Completed(result) => Some(result),
            Waited::TimedOut => None,
            Waited::Interrupted => panic!("nobody interrupts"),
        }
    }

    fn result(&self) -> Result<Outcome, Error> {
        self.within(PATIENCE).expect("the operation never ended")
    }

    fn error(&self) -> DatabaseError {
        match self.result() {
            Err(Error::Database(error)) => *error,
            other => panic!("expected a database error, got {other:?}"),
        }
    }

    fn kind(&self) -> DatabaseErrorKind {
        self.error().kind
    }

    fn transaction(&self) -> TransactionId {
        match self.result() {
            Ok(Outcome::Transaction(id)) => id,
            other => panic!("expected a transaction, got {other:?}"),
        }
    }
}

fn assert_kind(error: &DatabaseError, kind: DatabaseErrorKind, part: &str) {
    assert_eq!(error.kind, kind, "{}", error.message);
    assert!(error.message.contains(part), "{}", error.message);
}

/// Waits until something is true, and says whether it came true.
fn eventually(what: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    false
}
