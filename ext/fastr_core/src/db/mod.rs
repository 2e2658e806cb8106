//! Databases: connections, queries, typed rows and their JSON.
//!
//! [`Database`] is the handle the rest of fastr holds. It speaks to a [`Backend`], of which SQLite is the first; a
//! backend owns its connections and answers every operation through the [`Completer`](crate::Completer) it was given.
//! Nothing in here renders SQL, casts values for Ruby or knows a table by name.

mod backend;
mod json;
mod json_nested;
mod json_text;
mod parts;
mod pool;
mod query;
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statement;

pub use backend::{Backend, Cancel, CancelHandle, Stats};
pub use json::{JsonColumns, JsonOptions, to_json};
pub use json_nested::{Branch, Node, to_nested_json};
pub use parts::{concat, excerpt};
pub use pool::{Database, DatabaseOptions};
pub use query::{BeginOptions, Query, Shape, TransactionMode};
pub use rows::{Column, Kind, Rows, TransactionId, Value, Written};
pub use statement::{Statement, classify};
