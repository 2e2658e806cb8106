//! Rows and values in the core's own types: what a driver decodes into and what Ruby or JSON is made from. It owns no
//! conversion: a value keeps the storage class the database gave it, and its column's kind says what it means.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names one transaction. None of the process has the name of another, whichever pool it is of: whoever still holds one
/// of a pool that was closed must not meet another one in the pool that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransactionId(pub u64);

impl TransactionId {
    /// A name that was not given before.
    pub(crate) fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What a statement without rows changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Rows inserted, updated or deleted.
    pub rows_affected: u64,
    /// The key of the last inserted row, where the database tells.
    pub last_insert_id: Option<i64>,
}

/// One value, as the database stores it. What it means to Ruby is the column's [`Kind`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A boolean (only from databases that have one, and from binds).
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number beyond [`i64::MAX`] (MySQL's `BIGINT UNSIGNED`); smaller ones are [`Value::Integer`].
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
    /// An exact decimal in plain digits (`-12.50`, never an exponent), or `NaN`, `Infinity`, `-Infinity`.
    Decimal(String),
    /// Text, valid UTF-8.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// A calendar date: days since 1970-01-01; [`i32::MAX`] and [`i32::MIN`] are the infinities.
    Date(i32),
    /// A point in time: microseconds since 1970-01-01 UTC; [`i64::MAX`] and [`i64::MIN`] are the infinities.
    Timestamp(i64),
    /// A span of time in its three parts, none of which is a multiple of another.
    Interval(Interval),
    /// The elements of an array; of a many-dimensional one, arrays.
    Array(Vec<Value>),
    /// A range.
    Range(Box<Range>),
}

/// A span of time as PostgreSQL keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub microseconds: i64,
}

/// A range as PostgreSQL keeps it.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// Holds nothing.
    Empty,
    /// From one bound to another; a bound without a value is infinite.
    Span {
        /// The lower bound.
        lower: Option<Value>,
        /// Whether the lower bound is part of it.
        includes_lower: bool,
        /// The upper bound.
        upper: Option<Value>,
        /// Whether the upper bound is part of it.
        includes_upper: bool,
    },
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Value::Unsigned(number), Value::Integer)
    }
}

/// What a column's values mean, from its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The value's own storage class says it all.
    Any,
    /// Whole numbers.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Exact decimals, kept as text: they become `BigDecimal`, and strings in JSON.
    Decimal,
    /// Booleans (stored as 0 and 1 by SQLite).
    Boolean,
    /// Text.
    Text,
    /// Bytes.
    Blob,
    /// A calendar date.
    Date,
    /// A point in time, UTC unless it says otherwise.
    DateTime,
    /// A time of day.
    Time,
    /// A JSON document, kept as text.
    Json,
    /// A span of time.
    Interval,
    /// An array of such values.
    Array(&'static Kind),
    /// A range of such values.
    Range(&'static Kind),
    /// A type that fastr does not read: its bytes as they came, with the type's number (PostgreSQL's OID).
    Raw(u32),
}

/// One column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in the result.
    pub name: String,
    /// What its values mean.
    pub kind: Kind,
}

/// A whole result: columns once, then the values row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    columns: Arc<[Column]>,
    values: Vec<Value>,
}

impl Rows {
    /// Builds a result. `values` holds whole rows: its length is a multiple of the number of columns.
    #[must_use]
    pub fn new(columns: Arc<[Column]>, values: Vec<Value>) -> Self {
        debug_assert!(
            columns.is_empty() && values.is_empty()
                || values.len().is_multiple_of(columns.len().max(1))
        );
        Self { columns, values }
    }

    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.columns.is_empty() {
            0
        } else {
            self.values.len() / self.columns.len()
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of one row, none beyond the end.
    #[must_use]
    pub fn row(&self, index: usize) -> Option<&[Value]> {
        let width = self.columns.len();
        let start = index.checked_mul(width)?;
        self.values
            .get(start..start.checked_add(width)?)
            .filter(|row| !row.is_empty())
    }

    /// The rows, one slice each.
    pub fn iter(&self) -> impl Iterator<Item = &[Value]> {
        self.values.chunks_exact(self.columns.len().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_63_bits_keeps_its_sign() {
        assert_eq!(Value::from(7_u64), Value::Integer(7));
        assert_eq!(Value::from(u64::MAX), Value::Unsigned(u64::MAX));
    }
}
