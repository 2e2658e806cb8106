//! Results as JSON, from rows and straight from SQLite.
#![allow(clippy::unwrap_used)]

mod db_support;

use db_support::{assert_kind, error, file, integer, json, rows, written};
use fastr_core::Error;
use fastr_core::db::{Column, JsonColumns, JsonOptions, Kind, Query, Rows, Shape, Value, to_json};
use fastr_core::error::DatabaseErrorKind;
use proptest::prelude::*;

fn table(columns: &[(&str, Kind)], values: Vec<Value>) -> Rows {
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
    let bytes = to_json(&table(&[("x", kind)], vec![value]), &JsonOptions::default()).unwrap();
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
    assert_eq!(one(Kind::Decimal, text("1.250")), "\"1.25\"");
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
    let rows = table(
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
    let bytes = to_json(&table(&[("a", Kind::Any)], vec![]), &JsonOptions::default()).unwrap();
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
        let bytes = to_json(&table(&columns, values.collect()), &JsonOptions::default()).unwrap();
        let parsed: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let expected = cells.iter().map(|row| {
            let members = names.iter().cloned().zip(row.iter().map(|(_, json)| json.clone()));
            serde_json::Value::Object(members.collect())
        });
        prop_assert_eq!(parsed, serde_json::Value::Array(expected.collect()));
    }
}

#[test]
fn json_comes_without_rows_and_equals_json_made_from_rows() {
    let database = file();
    written(
        &database,
        "create table t (id integer, price decimal, at datetime, j json, ok bool)",
    );
    written(
        &database,
        "insert into t values (1, '1.50', '2024-01-02 03:04:05', '[1, 2]', 1), (2, 3, null, '{x', 0)",
    );
    let direct = json(&database, "select * from t", JsonOptions::default());
    let through_rows = to_json(&rows(&database, "select * from t"), &JsonOptions::default());
    assert_eq!(direct.as_bytes(), &through_rows.unwrap()[..]);
    assert_eq!(
        direct,
        r#"[{"id":1,"price":"1.5","at":"2024-01-02T03:04:05Z","j":[1, 2],"ok":true},"#.to_string()
            + r#"{"id":2,"price":"3","at":null,"j":"{x","ok":false}]"#
    );
    let only = JsonOptions {
        columns: JsonColumns::Only(vec!["ok".into(), "id".into()]),
    };
    assert_eq!(
        json(&database, "select * from t where id = 1", only),
        r#"[{"ok":true,"id":1}]"#
    );
}

#[test]
fn an_unknown_json_column_is_refused_before_anything_is_written() {
    let database = file();
    written(&database, "create table t (n)");
    let query = Query {
        shape: Shape::Json(JsonOptions {
            columns: JsonColumns::Only(vec!["nope".into()]),
        }),
        ..Query::new("insert into t values (1) returning n")
    };
    assert_kind(&error(&database, query), DatabaseErrorKind::Query, "nope");
    assert_eq!(integer(&database, "select count(*) from t"), 0);
}
