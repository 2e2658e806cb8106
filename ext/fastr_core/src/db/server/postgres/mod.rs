//! PostgreSQL, spoken by ourselves: a session that reads once and writes once per statement, knows what the server says
//! about transactions, and stops what runs by the server's own means.
//!
//! Follow a statement through [`session`] (prepare, send, collect), [`plan`] (what is known about it), [`types`] and
//! [`oid`] (what its values are), [`encode`] and [`decode`] (their bytes), [`answer`] (the server's messages) and
//! [`error`]. [`wire`] is the protocol itself. [`location`] and [`options`] say where the server is, [`keys`] remembers
//! how sessions are stopped, [`stream`] takes rows in batches, [`listen`] subscribes. Behind a pooler that shares
//! connections [`unprepared`] takes the place of all that prepares.

mod answer;
mod collect;
mod decode;
mod encode;
mod error;
mod keys;
mod listen;
mod location;
mod oid;
mod options;
mod pipeline;
mod plan;
mod progress;
mod session;
mod stream;
#[cfg(test)]
mod tests;
mod transaction;
mod types;
mod unprepared;
mod wire;

use std::sync::Arc;

use tokio::sync::oneshot;

use self::keys::{Key, Keys};
use self::location::Location;
use self::options::Options;
use self::session::PostgresSession;
use self::wire::{Fault, Interrupt};
use super::driver::{Driver, SessionKey};

use crate::db::feed::Feed;
use crate::db::pool::DatabaseOptions;
use crate::db::query::BeginOptions;
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// One PostgreSQL server.
#[derive(Debug)]
pub(crate) struct Postgres {
    location: Location,
    /// Those of the location, shared with every session.
    options: Arc<Options>,
    keys: Arc<Keys>,
}

impl Postgres {
    /// Understands the URL; does no I/O.
    pub(crate) fn new(url: &str, options: &DatabaseOptions) -> Result<Self, Error> {
        let location = Location::parse(url, options)?;
        let options = Arc::new(location.options.clone());
        let keys = Arc::default();
        Ok(Self {
            location,
            options,
            keys,
        })
    }

    async fn open(&self) -> Result<PostgresSession, Fault> {
        let (wire, secret) = wire::open(&self.options).await?;
        let key = Key::new(&self.keys, secret);
        let options = Arc::clone(&self.options);
        Ok(PostgresSession::new(
            wire,
            key,
            options,
            self.location.statements,
        ))
    }
}

impl Driver for Postgres {
    type Session = PostgresSession;

    async fn connect(&self) -> Result<PostgresSession, DatabaseError> {
        let limit = self.location.connect_timeout;
        match tokio::time::timeout(limit, self.open()).await {
            Ok(opened) => opened.map_err(|error| error::of_connecting(error, &self.describe())),
            Err(_) => Err(DatabaseError::new(
                DatabaseErrorKind::Connection,
                format!(
                    "{} did not answer within {} s; is a firewall in between?",
                    self.describe(),
                    limit.as_secs()
                ),
            )),
        }
    }

    async fn stop(&self, key: SessionKey) -> Result<(), DatabaseError> {
        // A session that is gone runs nothing.
        let Some(secret) = self.keys.find(key) else {
            return Ok(());
        };
        match wire::cancel(&self.options, secret).await {
            Interrupt::Delivered => Ok(()),
            Interrupt::Unsent(fault) => Err(error::of_connecting(fault, &self.describe())),
            // Until it is known the statement is not to be followed by another: whoever waits gives up first.
            Interrupt::Unknown => std::future::pending().await,
        }
    }

    fn begin(&self, options: &BeginOptions) -> Result<Vec<String>, Error> {
        transaction::begin(options).map(|sql| vec![sql])
    }

    async fn listen(
        self: Arc<Self>,
        channels: Vec<String>,
        feed: Arc<Feed<Notification>>,
        listening: oneshot::Sender<()>,
    ) -> Result<(), DatabaseError> {
        listen::run(&self.location, &channels, &feed, listening).await
    }

    fn describe(&self) -> String {
        self.location.describe()
    }
}
