//! PostgreSQL over sqlx's connections: the protocol is sqlx's, everything about types, statements and failures is ours.
//!
//! Follow a statement through [`session`] (prepare, send, collect), [`plan`] (what is known about it), [`encode`] and
//! [`decode`] (values), and [`error`]. [`location`] reads the URL, [`side`] stops what runs, [`stream`] uses a cursor,
//! [`listen`] subscribes. Behind a pooler that shares connections
//! [`simple`] takes the place of all that prepares. sqlx's pool and its conversions of values are not used: the first costs two round trips a
//! query, the second guess types by the class of a value, round decimals and panic at infinite times.

mod collect;
mod connect;
mod decode;
mod encode;
mod error;
mod listen;
mod location;
mod oid;
mod placeholders;
mod plan;
mod progress;
mod session;
mod side;
mod simple;
mod stream;
#[cfg(test)]
mod tests;
mod transaction;

use std::sync::Arc;

use tokio::sync::oneshot;

use self::location::Location;
use self::session::PostgresSession;
use self::side::Side;
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
    side: Arc<Side>,
}

impl Postgres {
    /// Understands the URL; does no I/O.
    pub(crate) fn new(url: &str, options: &DatabaseOptions) -> Result<Self, Error> {
        let location = Location::parse(url, options)?;
        let side = Arc::new(Side::new(location.options.clone()));
        Ok(Self { location, side })
    }

    async fn open(&self) -> Result<PostgresSession, sqlx::Error> {
        let (mut connection, _) = connect::open(&self.location.options).await?;
        let key = if self.location.is_pooled {
            connect::NOBODY
        } else {
            connect::backend(&mut connection).await?
        };
        Ok(PostgresSession::new(
            connection,
            key,
            self.location.statements,
            Arc::clone(&self.side),
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
        if key == connect::NOBODY {
            return Err(DatabaseError::new(
                DatabaseErrorKind::Connection,
                "behind a pooler a statement cannot be stopped; give it a limit by statement_timeout",
            ));
        }
        let stopped = self.side.stop(key).await;
        stopped.map_err(|error| error::of_connecting(error, &self.describe()))
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
