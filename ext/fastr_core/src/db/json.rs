//! Results as one JSON document: an array with an object per row, written straight into the bytes of a response.
//!
//! What becomes what: NULL, NaN and the infinities `null`; 0 and 1 in a boolean column `false` and `true`; decimals
//! strings, so that no reader rounds them; points in time ISO 8601 (UTC unless they say otherwise); JSON columns are
//! embedded as they are if they are valid JSON and are strings otherwise; bytes base64 (RFC 4648, padded); spans of
//! time and ranges as PostgreSQL writes them; arrays arrays; everything else as it is stored. Of columns with the same name the last one counts, as in a Ruby Hash. It refuses nothing but
//! a chosen column that does not exist.

use std::convert::Infallible;

use bytes::Bytes;

use super::rows::{Column, Kind, Rows, Value};
use super::{json_text, json_value};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// Which columns become members of the objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum JsonColumns {
    /// All of them.
    #[default]
    All,
    /// These, in this order; one that the result lacks is an error.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

/// How rows become JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonOptions {
    /// Which columns become members.
    pub columns: JsonColumns,
}

/// Renders a result that was fetched as rows.
///
/// # Errors
/// A `Query` error if a chosen column is not part of the result.
pub fn to_json(rows: &Rows, options: &JsonOptions) -> Result<Bytes, Error> {
    let mut array = JsonArray::new(rows.columns(), options)?;
    for row in rows.iter() {
        array.row(|index| Cell::from(&row[index]));
    }
    Ok(array.finish())
}

/// A value on its way to JSON, borrowed from wherever it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'a str),
    Blob(&'a [u8]),
    /// Any other value.
    Other(&'a Value),
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Cell::Null,
            Value::Bool(bool) => Cell::Bool(*bool),
            Value::Integer(number) => Cell::Integer(*number),
            Value::Float(number) => Cell::Float(*number),
            Value::Text(text) => Cell::Text(text),
            Value::Blob(bytes) => Cell::Blob(bytes),
            other => Cell::Other(other),
        }
    }
}

/// One column that was chosen, with its member name already rendered (`,"name":`).
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) index: usize,
    pub(crate) kind: Kind,
    pub(crate) key: Vec<u8>,
}

/// An array of objects in the making.
#[derive(Debug)]
pub(crate) struct JsonArray {
    out: Vec<u8>,
    members: Vec<Member>,
}

impl JsonArray {
    /// An empty array for these columns.
    pub(crate) fn new(columns: &[Column], options: &JsonOptions) -> Result<Self, Error> {
        Ok(Self {
            out: vec![b'['],
            members: members(columns, &options.columns)?,
        })
    }

    /// Appends one row; `cell` gives the value of a column.
    pub(crate) fn row<'a>(&mut self, cell: impl Fn(usize) -> Cell<'a>) {
        let written: Result<(), Infallible> = self.try_row(|out, kind, index| {
            write_cell(out, kind, cell(index));
            Ok(())
        });
        match written {
            Ok(()) => {}
        }
    }

    /// Appends one row; `write` appends the value of a column as JSON. After an error the array is worthless.
    pub(crate) fn try_row<E>(
        &mut self,
        mut write: impl FnMut(&mut Vec<u8>, Kind, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.out.push(b'{');
        for member in &self.members {
            self.out.extend_from_slice(&member.key);
            write(&mut self.out, member.kind, member.index)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Closes the array.
    pub(crate) fn finish(mut self) -> Bytes {
        self.out.push(b']');
        Bytes::from(self.out)
    }
}

/// What of each row is shown.
pub(crate) fn members(columns: &[Column], chosen: &JsonColumns) -> Result<Vec<Member>, Error> {
    Ok(choose(columns, chosen)?
        .into_iter()
        .enumerate()
        .map(|(position, index)| Member {
            index,
            kind: columns[index].kind,
            key: key(position, &columns[index].name),
        })
        .collect())
}

/// A member's name as it stands in the object, with the comma before it.
pub(crate) fn key(position: usize, name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 4);
    if position > 0 {
        key.push(b',');
    }
    json_text::string(&mut key, name);
    key.push(b':');
    key
}

/// The indexes of the chosen columns. Of columns with one name only the last stays.
fn choose(columns: &[Column], chosen: &JsonColumns) -> Result<Vec<usize>, Error> {
    let last = |name: &str| columns.iter().rposition(|column| column.name == name);
    match chosen {
        JsonColumns::Only(names) => names
            .iter()
            .map(|name| last(name).ok_or_else(|| unknown(name, columns)))
            .collect(),
        JsonColumns::All | JsonColumns::Except(_) => Ok((0..columns.len())
            .filter(|&index| {
                let name = &columns[index].name;
                let excluded = matches!(chosen, JsonColumns::Except(names) if names.contains(name));
                !excluded && last(name) == Some(index)
            })
            .collect()),
    }
}

/// The last column of that name.
pub(crate) fn find_column(columns: &[Column], name: &str) -> Result<usize, Error> {
    columns
        .iter()
        .rposition(|column| column.name == name)
        .ok_or_else(|| unknown(name, columns))
}

fn unknown(name: &str, columns: &[Column]) -> Error {
    let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    DatabaseError::new(
        DatabaseErrorKind::Query,
        format!(
            "the result has no column {name:?} to render as JSON; it has {}",
            known.join(", ")
        ),
    )
    .into()
}

pub(crate) fn write_cell(out: &mut Vec<u8>, kind: Kind, cell: Cell<'_>) {
    match (cell, kind) {
        (Cell::Null, _) => out.extend_from_slice(b"null"),
        (Cell::Bool(bool), _) => boolean(out, bool),
        (Cell::Integer(number @ (0 | 1)), Kind::Boolean) => boolean(out, number == 1),
        (Cell::Integer(number), Kind::Decimal) => {
            quoted(out, |out| json_text::integer(out, number))
        }
        (Cell::Integer(number), _) => json_text::integer(out, number),
        (Cell::Float(number), _) if !number.is_finite() => out.extend_from_slice(b"null"),
        (Cell::Float(number), Kind::Decimal) => quoted(out, |out| json_text::float(out, number)),
        (Cell::Float(number), _) => json_text::float(out, number),
        (Cell::Text(text), Kind::DateTime) => json_text::date_time(out, text),
        (Cell::Text(text), Kind::Json) if json_text::is_valid(text) => {
            out.extend_from_slice(text.as_bytes());
        }
        (Cell::Text(text), Kind::Decimal) => json_text::string(out, json_value::shortest(text)),
        (Cell::Text(text), _) => json_text::string(out, text),
        (Cell::Blob(bytes), _) => quoted(out, |out| json_text::base64(out, bytes)),
        (Cell::Other(value), kind) => json_value::write(out, kind, value),
    }
}

fn boolean(out: &mut Vec<u8>, bool: bool) {
    out.extend_from_slice(if bool { b"true" } else { b"false" });
}

pub(crate) fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}
