//! What the database tests share: a file that goes away with the test, and operations one can wait for. It hides no
//! behaviour of the database.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

pub mod servers;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fastr_core::db::{
    BeginOptions, CancelHandle, Database, DatabaseOptions, JsonOptions, Query, ReactorSource, Rows,
    Shape, TransactionId, Value, Written,
};
use fastr_core::error::{DatabaseError, DatabaseErrorKind};
use fastr_core::reactor::Reactor;
use fastr_core::waiter::{Waited, Waiter};
use fastr_core::{Completer, CompletionId, Error, Outcome};
use tempfile::TempDir;

/// No test waits longer than this for anything.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A statement that runs for seconds if nobody stops it.
pub const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000000) \
                           select max(i) from n";

/// A database file in a directory of its own.
pub struct TestDatabase {
    pub database: Arc<Database>,
    pub directory: TempDir,
}

impl std::ops::Deref for TestDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl TestDatabase {
    pub fn url(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("test.db")
    }

    /// A connection of somebody else.
    pub fn stranger(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

pub fn file_with(options: DatabaseOptions) -> TestDatabase {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("test.db").display());
    TestDatabase {
        database: Database::open(&url, options, reactor()).unwrap(),
        directory,
    }
}

/// The one reactor of a test binary, started when something needs it.
pub fn reactor() -> ReactorSource {
    static REACTOR: OnceLock<Arc<Reactor>> = OnceLock::new();
    Arc::new(|| {
        Ok(Arc::clone(
            REACTOR.get_or_init(|| Reactor::start().unwrap()),
        ))
    })
}

pub fn file() -> TestDatabase {
    file_with(DatabaseOptions::default())
}

pub fn memory() -> Arc<Database> {
    Database::open("sqlite::memory:", DatabaseOptions::default(), reactor()).unwrap()
}

/// An operation under way.
pub struct Pending {
    waiter: Arc<Waiter>,
    pub handle: Option<CancelHandle>,
}

impl Pending {
    pub fn new(operation: impl FnOnce(Completer) -> Option<CancelHandle>) -> Self {
        let waiter = Arc::new(Waiter::default());
        let handle = operation(Completer::waiter(Arc::clone(&waiter), CompletionId(1)));
        Self { waiter, handle }
    }

    pub fn cancel(&self) {
        self.handle.as_ref().expect("it can be cancelled").cancel();
    }

    pub fn within(&self, limit: Duration) -> Option<Result<Outcome, Error>> {
        match self.waiter.wait(Some(limit)) {
            Waited::Completed(result) => Some(result),
            Waited::TimedOut => None,
            Waited::Interrupted => panic!("nobody interrupts"),
        }
    }

    pub fn result(&self) -> Result<Outcome, Error> {
        self.within(PATIENCE).expect("the operation never ended")
    }

    pub fn error(&self) -> DatabaseError {
        match self.result() {
            Err(Error::Database(error)) => *error,
            other => panic!("expected a database error, got {other:?}"),
        }
    }
}

pub fn start(database: &Database, query: Query) -> Pending {
    Pending::new(|completer| Some(database.submit(query, completer)))
}

pub fn begin_with(database: &Database, options: BeginOptions) -> Pending {
    Pending::new(|completer| Some(database.begin(options, completer)))
}

pub fn transaction_of(pending: &Pending) -> TransactionId {
    match pending.result() {
        Ok(Outcome::Transaction(id)) => id,
        other => panic!("expected a transaction, got {other:?}"),
    }
}

pub fn begin(database: &Database) -> TransactionId {
    transaction_of(&begin_with(database, BeginOptions::default()))
}

/// A transaction with one write, of which each part may be cancelled, and which may be rolled back.
pub fn transact_at_random(database: &Database, write: Query, random: &mut impl FnMut(u64) -> u64) {
    let opening = begin_with(database, BeginOptions::default());
    if random(3) == 0 {
        opening.cancel();
    }
    let Ok(Outcome::Transaction(id)) = opening.result() else {
        return;
    };
    let writing = start(database, write.within(id));
    if random(3) == 0 {
        writing.cancel();
    }
    let end = finishing(database, id, random(2) == 0);
    writing.result().ok();
    end.result().ok();
}

pub fn finishing(database: &Database, id: TransactionId, commit: bool) -> Pending {
    Pending::new(|completer| {
        database.finish(id, commit, completer);
        None
    })
}

pub fn commit(database: &Database, id: TransactionId) {
    finishing(database, id, true).result().unwrap();
}

pub fn roll_back(database: &Database, id: TransactionId) {
    finishing(database, id, false).result().unwrap();
}

pub fn script(database: &Database, sql: &str) -> Pending {
    Pending::new(|completer| Some(database.execute_script(sql, None, completer)))
}

pub fn rows(database: &Database, query: impl Into<Query2>) -> Arc<Rows> {
    match start(database, query.into().0).result() {
        Ok(Outcome::Rows(rows)) => rows,
        other => panic!("expected rows, got {other:?}"),
    }
}

pub fn written(database: &Database, query: impl Into<Query2>) -> Written {
    match start(database, query.into().0).result() {
        Ok(Outcome::Written(written)) => written,
        other => panic!("expected a write, got {other:?}"),
    }
}

pub fn json(database: &Database, sql: &str, options: JsonOptions) -> String {
    let query = Query {
        shape: Shape::Json(options),
        ..Query::new(sql)
    };
    match start(database, query).result() {
        Ok(Outcome::Json(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("expected JSON, got {other:?}"),
    }
}

pub fn error(database: &Database, query: impl Into<Query2>) -> DatabaseError {
    start(database, query.into().0).error()
}

pub fn integer(database: &Database, query: impl Into<Query2>) -> i64 {
    match rows(database, query).row(0) {
        Some([Value::Integer(number)]) => *number,
        other => panic!("expected one number, got {other:?}"),
    }
}

/// A query, or only its text.
pub struct Query2(pub Query);

impl From<&str> for Query2 {
    fn from(sql: &str) -> Self {
        Self(Query::new(sql))
    }
}

impl From<Query> for Query2 {
    fn from(query: Query) -> Self {
        Self(query)
    }
}

/// Waits until something is true, and says whether it came true.
pub fn eventually(what: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if what() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

pub fn assert_kind(error: &DatabaseError, kind: DatabaseErrorKind, part: &str) {
    assert_eq!(error.kind, kind, "{}", error.message);
    assert!(error.message.contains(part), "{}", error.message);
}

pub fn text(text: &str) -> Value {
    Value::Text(text.into())
}
