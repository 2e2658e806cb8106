//! Rows and values in the core's own types: what a driver decodes into and what Ruby or JSON is made from. It owns no
//! conversion: a value keeps the storage class the database gave it, and its column's kind says what it means.

use std::sync::Arc;

use crate::error::Error;

/// Names one open transaction of one database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransactionId(pub u64);

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
    /// A floating-point number.
    Float(f64),
    /// Text, valid UTF-8.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl TryFrom<u64> for Value {
    type Error = Error;

    /// Databases count in signed 64 bits: a larger number is refused rather than wrapped or rounded.
    fn try_from(number: u64) -> Result<Self, Error> {
        i64::try_from(number).map(Value::Integer).map_err(|_| {
            Error::Invalid(format!(
                "{number} does not fit a signed 64-bit column; bind it as text or as a decimal"
            ))
        })
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
    fn a_number_beyond_63_bits_is_refused() {
        assert_eq!(Value::try_from(7_u64), Ok(Value::Integer(7)));
        assert!(matches!(
            Value::try_from(u64::MAX),
            Err(Error::Invalid(text)) if text.contains("18446744073709551615")
        ));
    }
}
