//! Results as one JSON document: an array with an object per row, written straight into the bytes of a response.
//!
//! What becomes what: NULL, NaN and the infinities `null`; 0 and 1 in a boolean column `false` and `true`; decimals
//! strings, so that no reader rounds them; points in time ISO 8601 (UTC unless they say otherwise); JSON columns are
//! embedded as they are if they are valid JSON and are strings otherwise; bytes base64 (RFC 4648, padded); everything
//! else as it is stored. Of columns with the same name the last one counts, as in a Ruby Hash. It refuses nothing but
//! a chosen column that does not exist.

use bytes::Bytes;

use super::json_text;
use super::rows::{Column, Kind, Rows, Value};
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
        }
    }
}

/// One column that was chosen, with its member name already rendered (`,"name":`).
#[derive(Debug)]
struct Member {
    index: usize,
    kind: Kind,
    key: Vec<u8>,
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
        let members = choose(columns, &options.columns)?
            .into_iter()
            .enumerate()
            .map(|(position, index)| Member {
                index,
                kind: columns[index].kind,
                key: key(position, &columns[index].name),
            })
            .collect();
        Ok(Self {
            out: vec![b'['],
            members,
        })
    }

    /// Appends one row; `cell` gives the value of a column.
    pub(crate) fn row<'a>(&mut self, cell: impl Fn(usize) -> Cell<'a>) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.out.push(b'{');
        for member in &self.members {
            self.out.extend_from_slice(&member.key);
            write_cell(&mut self.out, member.kind, cell(member.index));
        }
        self.out.push(b'}');
    }

    /// Closes the array.
    pub(crate) fn finish(mut self) -> Bytes {
        self.out.push(b']');
        Bytes::from(self.out)
    }
}

fn key(position: usize, name: &str) -> Vec<u8> {
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

fn write_cell(out: &mut Vec<u8>, kind: Kind, cell: Cell<'_>) {
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
        (Cell::Text(text), _) => json_text::string(out, text),
        (Cell::Blob(bytes), _) => quoted(out, |out| json_text::base64(out, bytes)),
    }
}

fn boolean(out: &mut Vec<u8>, bool: bool) {
    out.extend_from_slice(if bool { b"true" } else { b"false" });
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(columns: &[(&str, Kind)], values: Vec<Value>) -> Rows {
        let columns: Vec<Column> = columns
            .iter()
            .map(|(name, kind)| Column {
                name: (*name).to_string(),
                kind: *kind,
            })
            .collect();
        Rows::new(columns.into(), values)
    }

    fn one(kind: Kind, value: Value) -> String {
        let bytes = to_json(&rows(&[("x", kind)], vec![value]), &JsonOptions::default()).unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.strip_prefix("[{\"x\":")
            .and_then(|text| text.strip_suffix("}]"))
            .unwrap()
            .to_string()
    }

    #[test]
    fn every_kind_has_its_form() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(one(Kind::Any, Value::Null), "null");
        assert_eq!(one(Kind::Boolean, Value::Integer(1)), "true");
        assert_eq!(one(Kind::Boolean, Value::Integer(0)), "false");
        assert_eq!(one(Kind::Boolean, Value::Integer(2)), "2");
        assert_eq!(one(Kind::Any, Value::Bool(true)), "true");
        assert_eq!(one(Kind::Decimal, Value::Integer(12)), "\"12\"");
        assert_eq!(one(Kind::Decimal, Value::Float(1.25)), "\"1.25\"");
        assert_eq!(one(Kind::Decimal, text("1.250")), "\"1.250\"");
        assert_eq!(one(Kind::Float, Value::Float(f64::NAN)), "null");
        assert_eq!(one(Kind::Float, Value::Float(f64::INFINITY)), "null");
        assert_eq!(one(Kind::Json, text("{\"a\": [1]}")), "{\"a\": [1]}");
        assert_eq!(one(Kind::Json, text("{oops")), "\"{oops\"");
        assert_eq!(one(Kind::Blob, Value::Blob(vec![0, 1, 255])), "\"AAH/\"");
        assert_eq!(
            one(Kind::DateTime, text("2024-02-29 12:30:00")),
            "\"2024-02-29T12:30:00Z\""
        );
        assert_eq!(one(Kind::Date, text("2024-02-29")), "\"2024-02-29\"");
    }

    #[test]
    fn columns_are_chosen_ordered_and_left_out() {
        let rows = rows(
            &[("a", Kind::Any), ("b", Kind::Any), ("a", Kind::Any)],
            vec![Value::Integer(1), Value::Integer(2), Value::Integer(3)],
        );
        let render = |columns| {
            let bytes = to_json(&rows, &JsonOptions { columns })?;
            Ok::<_, Error>(String::from_utf8(bytes.to_vec()).unwrap())
        };
        assert_eq!(render(JsonColumns::All).unwrap(), r#"[{"b":2,"a":3}]"#);
        let only = JsonColumns::Only(vec!["a".into(), "b".into()]);
        assert_eq!(render(only).unwrap(), r#"[{"a":3,"b":2}]"#);
        let except = JsonColumns::Except(vec!["a".into()]);
        assert_eq!(render(except).unwrap(), r#"[{"b":2}]"#);
        let error = render(JsonColumns::Only(vec!["c".into()])).unwrap_err();
        assert!(error.to_string().contains("no column \"c\""), "{error}");
    }

    #[test]
    fn an_empty_result_is_an_empty_array() {
        let bytes = to_json(&rows(&[("a", Kind::Any)], vec![]), &JsonOptions::default()).unwrap();
        assert_eq!(&bytes[..], b"[]");
    }

    fn value() -> impl Strategy<Value = (Value, serde_json::Value)> {
        use serde_json::Value as Json;
        prop_oneof![
            Just((Value::Null, Json::Null)),
            any::<i64>().prop_map(|n| (Value::Integer(n), n.into())),
            // serde_json rounds floats of more than 15 digits; json_text tests those.
            any::<i32>()
                .prop_map(|n| f64::from(n) / 64.0)
                .prop_map(|n| (Value::Float(n), n.into())),
            any::<String>().prop_map(|t| (Value::Text(t.clone()), t.into())),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_serde_json_parses_is_what_was_stored(
            names in proptest::collection::vec(any::<String>(), 1..4),
            cells in proptest::collection::vec((value(), value(), value()), 0..5),
        ) {
            let width = names.len();
            let columns: Vec<_> = names.iter().map(|name| (name.as_str(), Kind::Any)).collect();
            let cells: Vec<_> = cells.into_iter().map(|(a, b, c)| [a, b, c]).collect();
            let values = cells.iter().flat_map(|row| row[..width].iter().map(|(v, _)| v.clone()));
            let bytes = to_json(&rows(&columns, values.collect()), &JsonOptions::default()).unwrap();
            let parsed: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let expected = cells.iter().map(|row| {
                let members = names.iter().cloned().zip(row.iter().map(|(_, json)| json.clone()));
                serde_json::Value::Object(members.collect())
            });
            prop_assert_eq!(parsed, serde_json::Value::Array(expected.collect()));
        }
    }
}
