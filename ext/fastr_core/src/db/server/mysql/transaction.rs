//! Whether a transaction is open on the server. sqlx keeps to itself what the server says about that with each answer,
//! so the statements' text tells, and the server is asked after those that may have done anything.

use std::sync::atomic::Ordering;

use sqlx::Executor;

use super::error;
use super::session::MySqlSession;
use super::text::Effect;
use crate::db::server::driver::Failure;

/// Fails with [`NO_SAVEPOINT`] unless a transaction is open, and does nothing if one is.
const PROBE: &str =
    "SAVEPOINT fastr_probe; ROLLBACK TO SAVEPOINT fastr_probe; RELEASE SAVEPOINT fastr_probe";

/// There is no such savepoint.
const NO_SAVEPOINT: u16 = 1305;

impl MySqlSession {
    /// A failure, after which it is known whether a transaction is still open.
    pub(super) async fn failed(
        &mut self,
        error: &sqlx::Error,
        sql: &str,
        repeatable: bool,
    ) -> Failure {
        if self.is_in_transaction && !error::is_lost(error) {
            // A deadlock ends it, and others may.
            self.probe().await;
        }
        error::failure(error, sql, repeatable)
    }

    /// Follows what a statement that succeeded did to the transaction.
    pub(super) async fn follow(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Begins => self.is_in_transaction = true,
            Effect::Ends => self.is_in_transaction = false,
            Effect::Unknown => self.probe().await,
            Effect::Schema => {
                let changes = &self.registration.link.schema_changes;
                changes.fetch_add(1, Ordering::AcqRel);
                self.committed().await;
            }
            Effect::Commits => self.committed().await,
        }
    }

    /// A statement that commits by itself, as far as is known, has run.
    pub(super) async fn committed(&mut self) {
        if self.is_in_transaction {
            self.probe().await;
        }
    }

    /// Asks the server whether a transaction is open. A connection that breaks here shows it at its next statement.
    pub(super) async fn probe(&mut self) {
        let mut asked = self.ask().await;
        while asked
            .as_ref()
            .is_err_and(|error| error::number(error) == Some(error::INTERRUPTED))
        {
            // A stop that was meant for the statement before.
            asked = self.ask().await;
        }
        self.is_in_transaction = match asked {
            Ok(_) => true,
            Err(error) => error::number(&error) != Some(NO_SAVEPOINT) && self.is_in_transaction,
        };
    }

    async fn ask(&mut self) -> Result<(), sqlx::Error> {
        let asked = self.connection.execute(sqlx::raw_sql(PROBE)).await;
        asked.map(|_| ())
    }
}
