//! Ten thousand random values of each family of types: the server reads our bytes as it reads the text of the value,
//! and gives back what it was given.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{PostgresSession, driver};
use crate::db::query::Query;
use crate::db::rows::{Interval, Value};
use crate::db::server::driver::{Driver, Session};
use crate::event::Outcome;

const CASES: u32 = 20;
const VALUES: usize = 500;

/// Checks a family of types.
fn check(of: &str, strategy: impl Strategy<Value = Value>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let session = RefCell::new(runtime.block_on(driver().connect()).unwrap());
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let many = prop::collection::vec(strategy, VALUES);
    let checked = runner.run(&many, |values| {
        let found = runtime.block_on(wrong(&mut session.borrow_mut(), of, values));
        prop_assert_eq!(found, None);
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{of}: {error}"));
}

/// The first values with which something is wrong.
async fn wrong(session: &mut PostgresSession, of: &str, values: Vec<Value>) -> Option<String> {
    let sql = format!(
        "select a, b from unnest($1::{of}[], $2::text[]) u (a, b) where a is distinct from b::{of} limit 1"
    );
    let binds = vec![Value::Array(values.clone()), Value::Array(texts(&values))];
    match session.run(&Query::new(sql).binds(binds)).await {
        Ok(Outcome::Rows(rows)) if rows.is_empty() => {}
        other => return Some(format!("{other:?}")),
    }
    let sql = format!("select $1::{of}[]");
    let binds = vec![Value::Array(values.clone())];
    let Ok(Outcome::Rows(rows)) = session.run(&Query::new(sql).binds(binds)).await else {
        return Some("it was not given back".into());
    };
    let Some([Value::Array(back)]) = rows.row(0) else {
        return Some(format!("{rows:?}"));
    };
    // By their words, because no NaN equals another.
    let different = |(given, back): &(&Value, &Value)| format!("{given:?}") != format!("{back:?}");
    values
        .iter()
        .zip(back)
        .find(different)
        .map(|(given, back)| format!("{given:?} came back as {back:?}"))
}

/// The texts of values as PostgreSQL reads them, made by another way than the one under test.
fn texts(values: &[Value]) -> Vec<Value> {
    let shown = |value: &Value| match value {
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number}").replace("inf", "Infinity"),
        Value::Bool(bool) => bool.to_string(),
        Value::Interval(span) => {
            let Interval {
                months,
                days,
                microseconds,
            } = span;
            format!("{months} mons {days} days {microseconds} us")
        }
        Value::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("\\x{digits}")
        }
        Value::Date(days) => format!("epoch {days}"),
        Value::Text(text) | Value::Decimal(text) => text.clone(),
        other => panic!("no text for {other:?}"),
    };
    values
        .iter()
        .map(|value| match value {
            Value::Null => Value::Null,
            value => Value::Text(shown(value)),
        })
        .collect()
}

/// Some of them NULL.
fn or_null(strategy: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::option::weighted(0.95, strategy).prop_map(|value| value.unwrap_or(Value::Null))
}

#[test]
fn whole_numbers() {
    check("int8", or_null(any::<i64>().prop_map(Value::Integer)));
    check(
        "int4",
        or_null(any::<i32>().prop_map(|number| Value::Integer(number.into()))),
    );
    check(
        "int2",
        or_null(any::<i16>().prop_map(|number| Value::Integer(number.into()))),
    );
}

#[test]
fn floating_point_numbers() {
    let double = any::<f64>();
    check("float8", or_null(double.prop_map(Value::Float)));
    // What is stored in single precision has the digits of single precision.
    let single = any::<f32>()
        .prop_map(|number| Value::Float(zmij::Buffer::new().format(number).parse().unwrap()));
    check("float4", or_null(single));
}

#[test]
fn decimals() {
    let plain = "-?(0|[1-9][0-9]{0,40})([.][0-9]{1,40})?".prop_filter("zero has no sign", |text| {
        !text.trim_matches(['-', '0', '.']).is_empty() || !text.starts_with('-')
    });
    check("numeric", or_null(plain.prop_map(Value::Decimal)));
}

#[test]
fn texts_and_bytes() {
    check("text", or_null("[^\\x00]{0,30}".prop_map(Value::Text)));
    check(
        "varchar",
        or_null("[a-z\"\\\\{},' ]{0,30}".prop_map(Value::Text)),
    );
    check(
        "bytea",
        or_null(prop::collection::vec(any::<u8>(), 0..30).prop_map(Value::Blob)),
    );
    check("bool", or_null(any::<bool>().prop_map(Value::Bool)));
}

#[test]
fn spans_of_time() {
    let part = -1_000_000..1_000_000_i32;
    let span = (
        part.clone(),
        part,
        any::<i64>().prop_map(|number| number / 4),
    )
        .prop_map(|(months, days, microseconds)| {
            Value::Interval(Interval {
                months,
                days,
                microseconds,
            })
        });
    check("interval", or_null(span));
}

#[test]
fn dates_and_points_in_time() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let session = RefCell::new(runtime.block_on(driver().connect()).unwrap());
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // The server counts by itself from 1970.
    let sql = "select a, b, c, d from unnest($1::timestamptz[], $2::int8[], $3::date[], $4::int[]) u (a, b, c, d) \
               where a <> 'epoch'::timestamptz + b / 86400000000 * interval '1 day' + b % 86400000000 * interval '1 us' \
                  or c <> '1970-01-01'::date + d limit 1";
    let moments = prop::collection::vec(
        -200_000_000_000_000_000..9_000_000_000_000_000_000_i64,
        VALUES,
    );
    let days = prop::collection::vec(-2_440_588..2_000_000_000_i32, VALUES);
    let checked = runner.run(&(moments, days), |(moments, days)| {
        let points: Vec<Value> = moments
            .iter()
            .map(|&moment| Value::Timestamp(moment))
            .collect();
        let dates: Vec<Value> = days.iter().map(|&day| Value::Date(day)).collect();
        let binds = vec![
            Value::Array(points.clone()),
            Value::Array(
                moments
                    .iter()
                    .map(|&number| Value::Integer(number))
                    .collect(),
            ),
            Value::Array(dates.clone()),
            Value::Array(
                days.iter()
                    .map(|&number| Value::Integer(number.into()))
                    .collect(),
            ),
        ];
        let mut session = session.borrow_mut();
        let rows = runtime.block_on(session.rows(sql, binds));
        prop_assert!(rows.is_empty(), "{:?}", rows);
        let rows = runtime.block_on(session.rows(
            "select $1::timestamptz[], $2::date[], $1::timestamptz[]::text[]::timestamp[]",
            vec![Value::Array(points.clone()), Value::Array(dates.clone())],
        ));
        let (points, dates) = (Value::Array(points), Value::Array(dates));
        prop_assert_eq!(rows.row(0).unwrap(), &[points.clone(), dates, points][..]);
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}
