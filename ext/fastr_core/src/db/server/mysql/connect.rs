//! Opening a connection: one round trip sets it up and asks what must be known of it. It owns the settings of a
//! session and what sessions of one address share.
//!
//! Settings: text is utf8mb4, points in time are UTC, a value that does not fit is an error, and what the server's own
//! `sql_mode` says is kept (so `||` means what it means on that server). A slow reader of a stream may pause for ten
//! minutes before the server gives up on it.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

use sqlx::mysql::{MySqlConnectOptions, MySqlRow, MySqlTypeInfo};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Executor, MySqlConnection, Row};

use super::error;
use super::location::Location;
use super::stop::{Flag, Side};
use crate::error::DatabaseError;
use crate::sync::lock;

/// What is asked of every new connection. The last four columns only lend their types to binds.
const QUESTION: &str = "SELECT CONNECTION_ID(), VERSION(), @@max_allowed_packet, \
    CAST(0 AS DECIMAL), CAST('2000-01-01' AS DATE), CAST('2000-01-01' AS DATETIME(6)), CAST('00:00:00' AS TIME(6))";

/// What all sessions of one address share.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) location: Location,
    pub(super) statement_cache: usize,
    pub(super) server: OnceLock<Server>,
    /// Counts changes of the schema made through this link: what was prepared before one is prepared again after it.
    pub(super) schema_changes: AtomicU64,
    /// Who was told to stop, by connection id.
    pub(super) flags: Mutex<HashMap<u64, Flag>>,
    /// The connection that stops statements of the others.
    pub(super) side: Side,
}

/// Which server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) is_mariadb: bool,
    pub(super) version: String,
}

/// What is known of a connection from its first moment on.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) id: u64,
    pub(super) server: Server,
    pub(super) max_packet: u64,
    pub(super) types: Types,
}

/// The types of binds that sqlx has no Rust type for.
#[derive(Debug, Clone)]
pub(super) struct Types {
    pub(super) decimal: MySqlTypeInfo,
    pub(super) date: MySqlTypeInfo,
    pub(super) timestamp: MySqlTypeInfo,
    pub(super) time: MySqlTypeInfo,
}

impl Link {
    pub(super) fn new(location: Location, statement_cache: usize) -> Self {
        Self {
            location,
            statement_cache,
            server: OnceLock::new(),
            schema_changes: AtomicU64::new(0),
            flags: Mutex::default(),
            side: Side::default(),
        }
    }

    /// Opens a connection that runs statements.
    pub(super) async fn connect(&self) -> Result<(MySqlConnection, Greeting), DatabaseError> {
        let mut connection = self
            .open(self.location.options(self.statement_cache))
            .await?;
        let greeting = self
            .greet(&mut connection)
            .await
            .map_err(|error| self.refused(&error))?;
        let _ = self.server.set(greeting.server.clone());
        Ok((connection, greeting))
    }

    /// Opens a connection that is good for `KILL QUERY` only.
    pub(super) async fn connect_aside(&self) -> Result<MySqlConnection, DatabaseError> {
        self.open(self.location.options(0)).await
    }

    /// What error messages call the server.
    pub(super) fn describe(&self) -> String {
        let address = self.location.address();
        match self.server.get() {
            Some(server) if server.is_mariadb => format!("MariaDB at {address}"),
            _ => format!("MySQL at {address}"),
        }
    }

    async fn open(&self, options: MySqlConnectOptions) -> Result<MySqlConnection, DatabaseError> {
        options
            .connect()
            .await
            .map_err(|error| self.refused(&error))
    }

    async fn greet(&self, connection: &mut MySqlConnection) -> Result<Greeting, sqlx::Error> {
        let sql = format!("{}; {QUESTION}", self.settings());
        let row = connection
            .fetch_one(sqlx::raw_sql(AssertSqlSafe(sql)))
            .await?;
        Ok(Greeting {
            id: number(&row, 0),
            server: Server::from(row.try_get_unchecked::<&str, _>(1)?),
            max_packet: number(&row, 2),
            types: Types {
                decimal: type_of(&row, 3),
                date: type_of(&row, 4),
                timestamp: type_of(&row, 5),
                time: type_of(&row, 6),
            },
        })
    }

    fn settings(&self) -> String {
        let collation = self.location.collation.as_deref();
        let collation = collation.map_or(String::new(), |name| format!(" COLLATE {name}"));
        let strict = if self.location.is_strict {
            "STRICT_TRANS_TABLES"
        } else {
            ""
        };
        let asked = self.location.sql_mode.as_deref().unwrap_or_default();
        format!(
            "SET NAMES utf8mb4{collation}, time_zone = '+00:00', \
             sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), NULLIF('{strict}', ''), NULLIF('{asked}', '')), \
             net_write_timeout = CAST(GREATEST(@@net_write_timeout, 600) AS SIGNED)"
        )
    }

    fn refused(&self, error: &sqlx::Error) -> DatabaseError {
        error::of_connecting(error, &self.describe())
    }

    pub(super) fn flag(&self, id: u64) -> Option<Flag> {
        lock(&self.flags).get(&id).map(Arc::clone)
    }
}

impl From<&str> for Server {
    fn from(version: &str) -> Self {
        Self {
            is_mariadb: version.to_ascii_lowercase().contains("mariadb"),
            version: version.into(),
        }
    }
}

/// A whole number of a text row.
fn number(row: &MySqlRow, index: usize) -> u64 {
    let text = row.try_get_unchecked::<&str, _>(index).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn type_of(row: &MySqlRow, index: usize) -> MySqlTypeInfo {
    row.column(index).type_info().clone()
}
