//! Opens connections. It knows the order in which TLS is tried and what is asked of a connection before its first
//! statement; where the server lies is told by [`location`](super::location).

use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgSslMode};
use sqlx::{ConnectOptions, PgConnection, Row};

use crate::db::server::driver::SessionKey;

/// The key of a session whose backend is another one at every transaction.
pub(super) const NOBODY: SessionKey = SessionKey(0);

/// A connection, and the options by which it came about: `prefer` and `allow` try the other way once if the server's
/// rules reject the first one.
pub(super) async fn open(
    options: &PgConnectOptions,
) -> Result<(PgConnection, PgConnectOptions), sqlx::Error> {
    let first = match options.connect().await {
        Ok(connection) => return Ok((connection, options.clone())),
        Err(error) => error,
    };
    let other = match options.get_ssl_mode() {
        PgSslMode::Allow => PgSslMode::Require,
        PgSslMode::Prefer => PgSslMode::Disable,
        _ => return Err(first),
    };
    if options.get_host().starts_with('/') || !is_rejection(&first) {
        return Err(first);
    }
    let options = options.clone().ssl_mode(other);
    match options.connect().await {
        Ok(connection) => Ok((connection, options)),
        Err(_) => Err(first),
    }
}

fn is_rejection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => error.downcast_ref::<PgDatabaseError>().code() == "28000",
        _ => false,
    }
}

/// Asks a connection for the number of its backend.
pub(super) async fn backend(connection: &mut PgConnection) -> Result<SessionKey, sqlx::Error> {
    let answer = sqlx::raw_sql("select pg_backend_pid()::text")
        .fetch_one(connection)
        .await?;
    let process = answer.try_get_raw(0)?;
    let process = process.as_str().map_err(sqlx::Error::Decode)?;
    let process = process
        .parse()
        .map_err(|_| sqlx::Error::Protocol("a backend without a number".into()))?;
    Ok(SessionKey(process))
}
