//! A server that lives in the test: it does what its statements say, and what it is told. Like MySQL's, its stop hits
//! whatever a session runs at that moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{Notify, oneshot};

use crate::db::feed::Feed;
use crate::db::query::{BeginOptions, Query};
use crate::db::rows::{Column, Kind, Rows, Value, Written};
use crate::db::server::driver::{Driver, Failure, Fate, Session, SessionKey};
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::Outcome;
use crate::sync::{Mutex, lock};

/// What the server does and has seen; shared by the test, the driver and its sessions.
#[derive(Debug, Default)]
pub(super) struct World {
    /// Statements of the form `log x`, in the order of their execution.
    pub(super) log: Mutex<Vec<String>>,
    pub(super) connects: AtomicUsize,
    pub(super) goodbyes: AtomicUsize,
    pub(super) stops: AtomicUsize,
    pub(super) pings: AtomicUsize,
    /// Why nobody gets in, if so.
    pub(super) refusal: Mutex<Option<DatabaseErrorKind>>,
    /// How long connecting takes, and stopping.
    pub(super) delay: Mutex<Duration>,
    pub(super) commit_fails: AtomicBool,
    /// Counts the deaths of the server: a session of an earlier life is dead.
    life: AtomicU64,
    /// What sessions were given at once.
    pub(super) batches: Mutex<Vec<Vec<String>>>,
    /// Whether somebody holds the lock that `lock` waits for; `unlock` gives it back.
    pub(super) is_locked: AtomicBool,
    sessions: Mutex<HashMap<u64, Arc<Running>>>,
}

/// What a stop needs of a session.
#[derive(Debug, Default)]
struct Running {
    is_running: AtomicBool,
    stop: Notify,
}

impl World {
    pub(super) fn die(&self) {
        self.life.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn refuse(&self, kind: Option<DatabaseErrorKind>) {
        *lock(&self.refusal) = kind;
    }

    pub(super) fn log(&self) -> Vec<String> {
        lock(&self.log).clone()
    }

    pub(super) fn sessions(&self) -> usize {
        lock(&self.sessions).len()
    }

    fn delay(&self) -> Duration {
        *lock(&self.delay)
    }
}

#[derive(Debug)]
pub(super) struct Fake(pub(super) Arc<World>);

pub(super) struct FakeSession {
    world: Arc<World>,
    key: u64,
    life: u64,
    running: Arc<Running>,
    in_transaction: bool,
    is_aborted: bool,
}

impl Driver for Fake {
    type Session = FakeSession;

    async fn connect(&self) -> Result<FakeSession, DatabaseError> {
        tokio::time::sleep(self.0.delay()).await;
        if let Some(kind) = *lock(&self.0.refusal) {
            return Err(DatabaseError::new(kind, "the fake refuses"));
        }
        let key = self.0.connects.fetch_add(1, Ordering::SeqCst) as u64;
        let running = Arc::new(Running::default());
        lock(&self.0.sessions).insert(key, Arc::clone(&running));
        Ok(FakeSession {
            world: Arc::clone(&self.0),
            key,
            life: self.0.life.load(Ordering::SeqCst),
            running,
            in_transaction: false,
            is_aborted: false,
        })
    }

    async fn stop(&self, key: SessionKey) -> Result<(), DatabaseError> {
        self.0.stops.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.0.delay()).await;
        let running = lock(&self.0.sessions).get(&key.0).cloned();
        if let Some(running) = running.filter(|running| running.is_running.load(Ordering::SeqCst)) {
            running.stop.notify_one();
        }
        Ok(())
    }

    fn begin(&self, options: &BeginOptions) -> Result<Vec<String>, Error> {
        if options.deferrable {
            return Err(Error::Invalid("the fake cannot defer".into()));
        }
        Ok(vec!["set something".into(), "BEGIN".into()])
    }

    async fn listen(
        self: Arc<Self>,
        channels: Vec<String>,
        feed: Arc<Feed<Notification>>,
        listening: oneshot::Sender<()>,
    ) -> Result<(), DatabaseError> {
        if channels.is_empty() {
            return Err(DatabaseError::new(DatabaseErrorKind::Query, "no channel"));
        }
        let _ = listening.send(());
        for channel in channels {
            let payload = "hello".into();
            let message = Notification::Message { channel, payload };
            if feed.push(message).await.is_err() {
                return Ok(());
            }
        }
        feed.closed().await;
        Ok(())
    }

    fn describe(&self) -> String {
        "a fake at nowhere".into()
    }
}

fn usable(kind: DatabaseErrorKind, message: &str) -> Failure {
    Failure::of_statement(DatabaseError::new(kind, message))
}

fn lost(repeatable: bool) -> Failure {
    Failure {
        error: DatabaseError::new(DatabaseErrorKind::ConnectionLost, "broken pipe"),
        fate: Fate::Lost { repeatable },
    }
}

impl FakeSession {
    fn is_dead(&self) -> bool {
        self.life != self.world.life.load(Ordering::SeqCst)
    }

    async fn sleep(&self, milliseconds: u64) -> Result<(), Failure> {
        let sleep = tokio::time::sleep(Duration::from_millis(milliseconds));
        tokio::select! {
            () = sleep => Ok(()),
            () = self.running.stop.notified() => Err(usable(DatabaseErrorKind::Cancelled, "stopped")),
        }
    }

    /// Waits for the lock, and does not take it.
    async fn lock(&self) -> Result<(), Failure> {
        while self.world.is_locked.load(Ordering::SeqCst) {
            self.sleep(1).await?;
        }
        Ok(())
    }

    /// `select VERB` and `update VERB` do the same as the verb.
    async fn execute(&mut self, sql: &str) -> Result<(), Failure> {
        if self.is_dead() {
            return Err(lost(true));
        }
        let dressed = sql
            .strip_prefix("select ")
            .or_else(|| sql.strip_prefix("update "));
        let sql = dressed.unwrap_or(sql);
        let (verb, rest) = sql.split_once(' ').unwrap_or((sql, ""));
        match verb {
            "sleep" => self.sleep(rest.parse().expect("milliseconds")).await,
            "log" => {
                self.sleep(1).await?;
                lock(&self.world.log).push(rest.into());
                Ok(())
            }
            "lock" => self.lock().await,
            "unlock" => {
                self.world.is_locked.store(false, Ordering::SeqCst);
                Ok(())
            }
            "stuck" => std::future::pending().await,
            "break" => Err(lost(false)),
            "panic" => panic!("the fake panics"),
            "violate" => {
                self.is_aborted = true;
                Err(usable(DatabaseErrorKind::Unique, "twice"))
            }
            "SELECT" if self.is_aborted => Err(usable(DatabaseErrorKind::Query, "aborted")),
            "rescue" => {
                self.is_aborted = false;
                Ok(())
            }
            "wrong" => Err(usable(DatabaseErrorKind::Query, "no such thing")),
            "open" | "BEGIN" | "set" => {
                self.in_transaction = true;
                Ok(())
            }
            "close" | "ROLLBACK" => {
                self.is_aborted = false;
                self.in_transaction = false;
                Ok(())
            }
            "COMMIT" if self.world.commit_fails.load(Ordering::SeqCst) => {
                Err(usable(DatabaseErrorKind::ForeignKey, "deferred"))
            }
            "COMMIT" => {
                self.is_aborted = false;
                self.in_transaction = false;
                Ok(())
            }
            _ => {
                tokio::task::yield_now().await;
                Ok(())
            }
        }
    }

    async fn running(&mut self, sql: &str) -> Result<(), Failure> {
        let running = Arc::clone(&self.running);
        running.is_running.store(true, Ordering::SeqCst);
        let result = self.execute(sql).await;
        running.is_running.store(false, Ordering::SeqCst);
        // A stop that came together with the end has hit nothing.
        running.stop.notified().now_or_never();
        result
    }
}

impl Session for FakeSession {
    const PIPELINE: usize = 8;

    async fn run_many(
        &mut self,
        queries: &[&Query],
        mut answered: impl FnMut(usize, Result<Outcome, Failure>) + Send,
    ) {
        let given = queries.iter().map(|query| query.sql.clone());
        lock(&self.world.batches).push(given.collect());
        let mut is_broken = false;
        for (index, query) in queries.iter().enumerate() {
            // What a broken connection left unread: a write may have taken effect.
            let result = match is_broken {
                true => Err(lost(!query.sql.starts_with("update"))),
                false => self.run(query).await,
            };
            let fate = result.as_ref().err().map(|failure| failure.fate);
            is_broken |= matches!(fate, Some(Fate::Lost { .. }));
            answered(index, result);
        }
    }

    fn key(&self) -> SessionKey {
        SessionKey(self.key)
    }

    async fn run(&mut self, query: &Query) -> Result<Outcome, Failure> {
        self.running(&query.sql).await?;
        if query.sql == "select key" {
            return Ok(Outcome::Rows(number(self.key)));
        }
        Ok(Outcome::Written(Written {
            rows_affected: 1,
            last_insert_id: None,
        }))
    }

    async fn stream(
        &mut self,
        query: &Query,
        batch: usize,
        feed: &Feed<Arc<Rows>>,
    ) -> Result<(), Failure> {
        for index in 0..batch {
            self.running(&query.sql).await?;
            if feed.push(number(index as u64)).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn script(&mut self, sql: &str) -> Result<(), Failure> {
        for statement in sql.split("; ") {
            self.running(statement).await?;
        }
        Ok(())
    }

    async fn ping(&mut self, _limit: Duration) -> bool {
        self.world.pings.fetch_add(1, Ordering::SeqCst);
        !self.is_dead()
    }

    fn is_in_transaction(&self) -> bool {
        self.in_transaction
    }

    async fn close(self) {
        self.world.goodbyes.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        lock(&self.world.sessions).remove(&self.key);
    }
}

fn number(number: u64) -> Arc<Rows> {
    let column = Column {
        name: "n".into(),
        kind: Kind::Integer,
    };
    Arc::new(Rows::new(Arc::from([column]), vec![Value::from(number)]))
}
