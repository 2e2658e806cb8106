//! What is notified on the channels of a database.

/// One thing that a subscription delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// A notification.
    Message {
        /// Its channel.
        channel: String,
        /// Its text, often empty.
        payload: String,
    },
    /// The connection broke and is there again: what was notified in between is lost.
    Reconnected,
}
