//! Databases: connections, queries, typed rows and their JSON.
//!
//! [`Database`] is the handle the rest of fastr holds. It speaks to a [`Backend`], SQLite's or a server's; a
//! backend owns its connections and answers every operation through the [`Completer`](crate::Completer) it was given.
//! Nothing in here renders SQL, casts values for Ruby or knows a table by name.

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres", feature = "mysql")),
    allow(dead_code, reason = "what only a driver that is left out needs")
)]

mod backend;
pub mod civil;
mod ended;
mod feed;
mod json;
mod json_nested;
mod json_text;
mod json_value;
mod parts;
mod pool;
mod process;
mod query;
mod refusal;
mod row_stream;
mod rows;
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod standstill;
mod statement;
mod subscription;
mod timings;

pub use backend::{Backend, Cancel, CancelHandle, Stats};
pub use feed::Feed;
pub use json::{JsonColumns, JsonOptions, to_json};
pub use json_nested::{Branch, Node, to_nested_json};
pub use json_value::range_text;
pub use parts::{concat, excerpt};
pub use pool::{Database, DatabaseOptions, ReactorSource};
pub use query::{BeginOptions, Isolation, Query, Shape, TransactionMode};
pub use row_stream::RowStream;
pub use rows::{Column, Interval, Kind, Range, Rows, TransactionId, Value, Written};
pub use statement::{Statement, classify};
pub use subscription::Notification;
pub use timings::Timings;
