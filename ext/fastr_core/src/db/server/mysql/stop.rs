//! Stopping a statement from outside: `KILL QUERY` over a kept side connection.
//!
//! A kill that comes a moment too late may stay behind on the server and strike the connection's next statement. So a
//! session that was told to stop runs a harmless statement first, which takes such a kill upon itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor, MySqlConnection};
use tokio::sync::Mutex;

use super::connect::Link;
use super::error;
use crate::db::server::driver::SessionKey;
use crate::error::{DatabaseError, DatabaseErrorKind};
use crate::sync::lock;

/// Whether a session was told to stop.
pub(super) type Flag = Arc<AtomicBool>;

/// The connection that stops others; opened when first needed.
pub(super) type Side = Mutex<Option<MySqlConnection>>;

/// The server has no such connection any more.
const NO_SUCH_THREAD: u16 = 1094;

/// So long a kill may take.
const LIMIT: Duration = Duration::from_secs(5);

impl Link {
    /// Makes the server stop what the session runs.
    pub(super) async fn stop(&self, key: SessionKey) -> Result<(), DatabaseError> {
        let Some(flag) = self.flag(key.0) else {
            return Ok(());
        };
        flag.store(true, Ordering::Release);
        match tokio::time::timeout(LIMIT, self.kill(key)).await {
            Ok(result) => result,
            Err(_) => Err(DatabaseError::new(
                DatabaseErrorKind::ConnectionLost,
                format!(
                    "{} did not answer to KILL QUERY within {LIMIT:?}",
                    self.describe()
                ),
            )),
        }
    }

    async fn kill(&self, key: SessionKey) -> Result<(), DatabaseError> {
        let mut side = self.side.lock().await;
        // Taken out, so that it is thrown away if this is dropped half way.
        if let Some(mut kept) = side.take() {
            match kill(&mut kept, key).await {
                Ok(()) => {
                    *side = Some(kept);
                    return Ok(());
                }
                // It was closed while it idled.
                Err(failure) if error::is_lost(&failure) => {}
                Err(failure) => return Err(error::of_statement(&failure, "")),
            }
        }
        let mut fresh = self.connect_aside().await?;
        kill(&mut fresh, key)
            .await
            .map_err(|failure| error::of_statement(&failure, ""))?;
        *side = Some(fresh);
        Ok(())
    }

    /// Makes a session's flag known.
    pub(super) fn register(&self, id: u64) -> Flag {
        let flag = Flag::default();
        lock(&self.flags).insert(id, Arc::clone(&flag));
        flag
    }

    /// Forgets a session; a later one may have its id.
    pub(super) fn unregister(&self, id: u64) {
        lock(&self.flags).remove(&id);
    }
}

async fn kill(side: &mut MySqlConnection, key: SessionKey) -> Result<(), sqlx::Error> {
    let statement = sqlx::raw_sql(AssertSqlSafe(format!("KILL QUERY {}", key.0)));
    match side.execute(statement).await {
        Err(failure) if error::number(&failure) != Some(NO_SUCH_THREAD) => Err(failure),
        _ => Ok(()),
    }
}

/// Takes a late kill away from a connection that was told to stop. A stop that arrives meanwhile is not meant for what
/// ran before, but for what is about to run.
pub(super) async fn settle(
    connection: &mut MySqlConnection,
    flag: &AtomicBool,
) -> Result<(), sqlx::Error> {
    if !flag.swap(false, Ordering::AcqRel) {
        return Ok(());
    }
    // There may be several, if it was told several times.
    loop {
        match connection.execute(sqlx::raw_sql("DO 0")).await {
            Err(failure) if error::number(&failure) == Some(error::INTERRUPTED) => {}
            other => return other.map(|_| ()),
        }
    }
}
