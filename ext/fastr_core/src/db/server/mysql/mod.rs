//! MySQL and MariaDB: the driver. It owns the address and how transactions open there; a [`session`] is one connection,
//! [`connect`] makes one, [`stop`] reaches a running statement from outside.
//!
//! sqlx gives the connection and the protocol. What it gives no more than bytes for is read and written here: values by
//! their column's type ([`decode`]), binds by their own type ([`encode`]), which travels with each execution.

mod columns;
mod connect;
mod decode;
mod encode;
mod error;
mod fetch;
mod location;
mod prepared;
mod session;
mod stop;
mod stream;
mod text;
mod transaction;
mod url;

use std::sync::Arc;

use tokio::sync::oneshot;

use self::connect::Link;
use self::location::Location;
use self::session::MySqlSession;
use super::driver::{Driver, SessionKey};
use crate::db::feed::Feed;
use crate::db::pool::DatabaseOptions;
use crate::db::query::BeginOptions;
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// Why there is nothing to listen to.
const NO_NOTIFICATIONS: &str = "MySQL and MariaDB have no notifications to listen to; use a PostgreSQL database for \
    this, or ask a table from time to time";

/// The driver for one address.
#[derive(Debug)]
pub(crate) struct MySql {
    link: Arc<Link>,
}

impl MySql {
    /// Understands the URL; connects nowhere yet.
    pub(crate) fn new(url: &str, options: &DatabaseOptions) -> Result<Self, Error> {
        let location = Location::parse(url)?;
        let link = Arc::new(Link::new(
            location,
            prepared::capacity(options.statement_cache),
        ));
        Ok(Self { link })
    }
}

impl Driver for MySql {
    type Session = MySqlSession;

    async fn connect(&self) -> Result<MySqlSession, DatabaseError> {
        MySqlSession::open(Arc::clone(&self.link)).await
    }

    async fn stop(&self, key: SessionKey) -> Result<(), DatabaseError> {
        self.link.stop(key).await
    }

    /// A transaction of MySQL takes its locks as it writes, whatever the mode says.
    fn begin(&self, options: &BeginOptions) -> Result<Vec<String>, Error> {
        if options.deferrable {
            return Err(Error::Invalid(
                "MySQL has no deferrable transactions; a read-only one (read_only) never waits for others".into(),
            ));
        }
        let mut statements = Vec::with_capacity(2);
        if let Some(isolation) = options.isolation {
            statements.push(format!(
                "SET TRANSACTION ISOLATION LEVEL {}",
                isolation.sql()
            ));
        }
        let read_only = if options.read_only { " READ ONLY" } else { "" };
        statements.push(format!("START TRANSACTION{read_only}"));
        Ok(statements)
    }

    async fn listen(
        self: Arc<Self>,
        _channels: Vec<String>,
        _feed: Arc<Feed<Notification>>,
        _listening: oneshot::Sender<()>,
    ) -> Result<(), DatabaseError> {
        Err(DatabaseError::new(
            DatabaseErrorKind::Query,
            NO_NOTIFICATIONS,
        ))
    }

    fn cannot_listen(&self) -> Option<Error> {
        Some(Error::Invalid(NO_NOTIFICATIONS.into()))
    }

    fn describe(&self) -> String {
        self.link.describe()
    }
}

#[cfg(test)]
mod tests;
