//! Random values of every family make the way there and back.
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::db::rows::Interval;

/// So many values of each family.
const VALUES: u32 = 10_000;

/// Values that are sent in one statement.
const AT_ONCE: usize = 50;

/// Sends values to a column of this type, and reads them back.
fn round_trip(
    column: &str,
    values: impl Strategy<Value = Value>,
    expected: impl Fn(&Value, &Value) -> Value,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut session = runtime.block_on(open());
    let table = unique("values");
    let create = format!(
        "create temporary table {table} (id int primary key, v {column}) character set utf8mb4"
    );
    runtime.block_on(written(&mut session, &create, vec![]));
    let insert = format!(
        "insert into {table} values {}",
        vec!["(?, ?)"; AT_ONCE].join(", ")
    );
    let select = format!("select v from {table} order by id");
    let mut runner = TestRunner::new(Config::with_cases(VALUES / AT_ONCE as u32));
    let batches = proptest::collection::vec(values, AT_ONCE);
    let session = std::cell::RefCell::new(session);
    runner
        .run(&batches, |values| {
            let session = &mut *session.borrow_mut();
            let binds = values
                .iter()
                .enumerate()
                .flat_map(|(id, value)| [Value::Integer(id as i64), value.clone()])
                .collect();
            let read = runtime.block_on(async {
                written(session, &format!("delete from {table}"), vec![]).await;
                written(session, &insert, binds).await;
                rows(session, &select, vec![]).await
            });
            for (value, row) in values.iter().zip(read.iter()) {
                prop_assert_eq!(&row[0], &expected(value, &row[0]));
            }
            Ok(())
        })
        .unwrap();
}

fn same(value: &Value, _: &Value) -> Value {
    value.clone()
}

#[test]
fn whole_numbers() {
    round_trip("bigint", any::<i64>().prop_map(Value::Integer), same);
    round_trip("bigint unsigned", any::<u64>().prop_map(Value::from), same);
    round_trip(
        "int",
        any::<i32>().prop_map(|n| Value::Integer(n.into())),
        same,
    );
    round_trip(
        "tinyint(1)",
        any::<bool>().prop_map(Value::Bool),
        |value, _| Value::Integer((*value == Value::Bool(true)).into()),
    );
}

#[test]
fn floating_point_numbers() {
    let finite = prop_oneof![any::<f64>(), any::<i32>().prop_map(f64::from)]
        .prop_filter("finite", |n| n.is_finite());
    round_trip("double", finite.prop_map(Value::Float), same);
    let single = any::<f32>().prop_filter("finite", |n| n.is_normal());
    let sent = single.prop_map(|n| Value::Float(n.into()));
    round_trip("float", sent, one_of_the_shortest);
}

/// What was read, if it has the digits of the single that was sent and no more than it takes to tell it from others.
fn one_of_the_shortest(sent: &Value, read: &Value) -> Value {
    #[allow(clippy::cast_possible_truncation)]
    match (sent, read) {
        (Value::Float(sent), Value::Float(read)) => {
            let digits = |text: String| text.bytes().filter(u8::is_ascii_digit).count();
            let single = *sent as f32;
            assert_eq!(*read as f32, single);
            assert!(digits(format!("{read:e}")) <= digits(format!("{single:e}")));
            Value::Float(*read)
        }
        _ => sent.clone(),
    }
}

#[test]
fn decimals() {
    let digits = ("-?[1-9][0-9]{0,34}", "[0-9]{30}")
        .prop_map(|(whole, fraction)| decimal(&format!("{whole}.{fraction}")));
    round_trip("decimal(65,30)", digits, same);
}

#[test]
fn texts_and_bytes() {
    round_trip(
        "varchar(200)",
        any::<String>().prop_map(|text| Value::Text(text.chars().take(200).collect())),
        same,
    );
    round_trip("text", "\\PC{0,80}".prop_map(Value::Text), same);
    round_trip("blob", any::<Vec<u8>>().prop_map(Value::Blob), same);
}

#[test]
fn dates_and_times() {
    round_trip(
        "date",
        (-719_528..=2_932_896_i32).prop_map(Value::Date),
        same,
    );
    let moments = -62_167_219_200_000_000..=253_402_300_799_999_999_i64;
    round_trip("datetime(6)", moments.prop_map(Value::Timestamp), same);
    let spans = -3_020_399_999_999..=3_020_399_999_999_i64;
    let spans = spans.prop_map(|microseconds| {
        Value::Interval(Interval {
            microseconds,
            ..Interval::default()
        })
    });
    round_trip("time(6)", spans, |value, _| match value {
        Value::Interval(span) => {
            let length = span.microseconds.unsigned_abs();
            let (seconds, fraction) = (length / 1_000_000, length % 1_000_000);
            let sign = if span.microseconds < 0 { "-" } else { "" };
            let clock = format!(
                "{sign}{:02}:{:02}:{:02}",
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60
            );
            text(&if fraction == 0 {
                clock
            } else {
                format!("{clock}.{fraction:06}")
            })
        }
        other => other.clone(),
    });
}
