//! The one small connection over which statements on other connections are stopped. sqlx does not tell the secret that
//! PostgreSQL's own request to cancel needs, so it is asked for in SQL.

use sqlx::PgConnection;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Mutex;

use super::connect;
use crate::db::server::driver::SessionKey;

/// The connection, opened when it is first needed and again when it broke. Whoever finds it in use waits, so that there
/// is never more than one.
#[derive(Debug)]
pub(super) struct Side {
    options: PgConnectOptions,
    connection: Mutex<Option<PgConnection>>,
}

impl Side {
    pub(super) fn new(options: PgConnectOptions) -> Self {
        Self {
            options,
            connection: Mutex::new(None),
        }
    }

    /// Stops what a backend runs. When this returns, the signal was delivered: PostgreSQL forgets it as soon as the
    /// backend waits for its next statement, so it cannot strike that one.
    pub(super) async fn stop(&self, key: SessionKey) -> Result<(), sqlx::Error> {
        // Zero is nobody, and PostgreSQL's numbers are positive.
        let Some(process) = i32::try_from(key.0).ok().filter(|&process| process > 0) else {
            return Ok(());
        };
        let mut kept = self.connection.lock().await;
        // It comes back only after a clean answer: a future that is dropped half way leaves none behind.
        if let Some(mut connection) = kept.take()
            && cancel(&mut connection, process).await.is_ok()
        {
            *kept = Some(connection);
            return Ok(());
        }
        let (mut connection, _) = connect::open(&self.options).await?;
        cancel(&mut connection, process).await?;
        *kept = Some(connection);
        Ok(())
    }
}

async fn cancel(connection: &mut PgConnection, process: i32) -> Result<(), sqlx::Error> {
    sqlx::query("select pg_cancel_backend($1)")
        .bind(process)
        .execute(connection)
        .await
        .map(drop)
}
