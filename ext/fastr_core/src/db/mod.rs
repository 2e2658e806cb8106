//! Databases: connections, queries, typed rows and their JSON.

mod rows;

pub use rows::{Column, Kind, Rows, TransactionId, Value, Written};
