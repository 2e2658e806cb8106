//! Why the transactions of a database ended: remembered for a while, to tell it to a statement that comes too late.

use std::collections::VecDeque;

use super::refusal::refused;
use super::rows::TransactionId;
use crate::error::{DatabaseErrorKind, Error};

/// How many ended transactions are remembered.
const REMEMBERED: usize = 64;

/// What is said of one that is not known here.
const UNKNOWN: &str = "it is not open; its database was closed, or it ended long ago";

/// The last transactions that ended, with their reasons.
#[derive(Debug, Default)]
pub(super) struct Ended(VecDeque<(TransactionId, String)>);

impl Ended {
    /// Remembers why one ended.
    pub(super) fn remember(&mut self, id: TransactionId, reason: String) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((id, reason));
    }

    /// The error for a statement in one that is not open.
    pub(super) fn closed(&self, id: TransactionId, sql: &str) -> Error {
        let known = self.0.iter().rev().find(|(ended, _)| *ended == id);
        let reason = known.map_or(UNKNOWN, |(_, reason)| reason);
        let message = format!("transaction {} is over: {reason}", id.0);
        refused(DatabaseErrorKind::TransactionClosed, message, sql)
    }
}
