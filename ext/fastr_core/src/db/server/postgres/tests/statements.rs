//! Statements: what the server infers for values, what comes back, and what changes under a prepared statement.

use super::{text, with_session};
use crate::db::JsonOptions;
use crate::db::query::{Query, Shape};
use crate::db::rows::{Interval, Kind, Range, TransactionId, Value, Written};
use crate::db::server::driver::{Fate, Session};
use crate::error::DatabaseErrorKind;
use crate::event::Outcome;

const INTEGER: Value = Value::Integer(42);

#[test]
fn the_same_statement_takes_a_float_then_an_integer_then_text() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (id int8, x float8); insert into t values (42, 42)")
            .await;
        for sql in [
            "select id from t where id = $1",
            "select id from t where x = $1",
        ] {
            for value in [
                Value::Float(42.0),
                INTEGER,
                text("42"),
                Value::Decimal("42.00".into()),
            ] {
                assert_eq!(session.value(sql, vec![value]).await, INTEGER, "{sql}");
            }
            assert!(session.rows(sql, vec![Value::Null]).await.is_empty());
        }
    });
}

#[test]
fn null_fits_every_type() {
    with_session(|mut session| async move {
        for of in [
            "int4",
            "uuid",
            "jsonb",
            "timestamptz",
            "bool",
            "int[]",
            "text",
            "inet",
            "tsvector",
            "int4range",
        ] {
            let sql = format!("select $1::{of} is null");
            assert_eq!(
                session.value(&sql, vec![Value::Null]).await,
                Value::Bool(true),
                "{of}"
            );
        }
    });
}

#[test]
fn values_go_where_their_class_has_a_meaning() {
    let interval = Value::Interval(Interval {
        months: 14,
        days: 3,
        microseconds: 1_500_000,
    });
    let range = Value::Range(Box::new(Range::Span {
        lower: Some(Value::Integer(1)),
        includes_lower: true,
        upper: Some(Value::Float(f64::INFINITY)),
        includes_upper: false,
    }));
    let matrix = Value::Array(vec![
        Value::Array(vec![Value::Integer(1), Value::Integer(2)]),
        Value::Array(vec![Value::Integer(3), Value::Null]),
    ]);
    let cases = [
        (Value::Integer(7), "numeric", "7"),
        (Value::Integer(7), "text", "7"),
        (Value::Integer(7), "float8", "7"),
        (Value::Integer(7), "jsonb", "7"),
        (Value::Integer(7), "money", "$7.00"),
        (Value::Integer(90), "interval", "00:01:30"),
        (Value::Unsigned(u64::MAX), "numeric", "18446744073709551615"),
        (Value::Float(1.5), "text", "1.5"),
        (
            Value::Float(1e300),
            "numeric",
            &format!("1{}", "0".repeat(300)),
        ),
        (Value::Float(f64::INFINITY), "timestamptz", "infinity"),
        (Value::Float(f64::NEG_INFINITY), "date", "-infinity"),
        (Value::Float(f64::NAN), "numeric", "NaN"),
        (Value::Float(2.0), "int4", "2"),
        (Value::Bool(true), "text", "true"),
        (Value::Bool(true), "int4", "1"),
        (Value::Bool(true), "jsonb", "true"),
        (Value::Decimal("1.50".into()), "jsonb", "1.50"),
        (Value::Decimal("1.10".into()), "float4", "1.1"),
        (Value::Date(0), "timestamp", "1970-01-01 00:00:00"),
        (Value::Date(0), "text", "1970-01-01"),
        (Value::Date(i32::MAX), "timestamptz", "infinity"),
        (Value::Timestamp(1), "date", "1970-01-01"),
        (Value::Timestamp(-1), "time", "23:59:59.999999"),
        (Value::Timestamp(0), "timestamptz", "1970-01-01 00:00:00+00"),
        (
            interval.clone(),
            "interval",
            "1 year 2 mons 3 days 00:00:01.5",
        ),
        (interval, "text", "P1Y2M3DT1.5S"),
        (range.clone(), "int4range", "[1,)"),
        (range, "text", "[\"1\",\"Infinity\")"),
        (matrix.clone(), "int4[]", "{{1,2},{3,NULL}}"),
        (matrix.clone(), "jsonb", "[[1, 2], [3, null]]"),
        (matrix, "text", "{{\"1\",\"2\"},{\"3\",NULL}}"),
        (Value::Array(Vec::new()), "text[]", "{}"),
        (Value::Blob(b"hi".to_vec()), "text", "hi"),
        (
            Value::Blob(vec![0; 16]),
            "uuid",
            "00000000-0000-0000-0000-000000000000",
        ),
    ];
    with_session(|mut session| async move {
        for (value, of, expected) in cases {
            let sql = format!("select ($1::{of})::text");
            let shown = session.value(&sql, vec![value.clone()]).await;
            assert_eq!(shown, text(expected), "{value:?} as {of}");
        }
    });
}

#[test]
fn a_value_that_does_not_fit_is_refused_by_name_and_not_shown() {
    let cases = [
        (
            "int2",
            Value::Integer(70_123),
            "$1 is int2 and was given a whole number beyond the range of int2",
        ),
        ("int4", Value::Float(70.5), "round it"),
        ("int8", Value::Unsigned(u64::MAX), "beyond the range"),
        ("int4", text("seventy"), "$1::text::int4"),
        ("bool", text("maybe"), "does not read as bool"),
        ("uuid", text("70123"), "does not read as uuid"),
        ("date", text("tomorrow"), "$1::text::date"),
        ("date", text("2026-02-30"), "does not read as date"),
        ("text", text("a\0b"), "NUL"),
        ("text", Value::Blob(vec![0xff]), "not UTF-8"),
        ("tsvector", text("a b"), "$1::text::tsvector"),
        ("point", text("(1,2)"), "$1::text::point"),
        ("int4", Value::Date(70_123), "cannot hold"),
        ("int4[]", Value::Integer(70_123), "an array"),
        (
            "int4[]",
            Value::Array(vec![Value::Array(vec![INTEGER]), INTEGER]),
            "different lengths",
        ),
    ];
    with_session(|mut session| async move {
        for (of, value, part) in cases {
            let error = session
                .error(&format!("select $1::{of}"), vec![value.clone()])
                .await;
            let is_told = error.message.contains(part)
                || part == "an array" && error.message.contains("cannot hold");
            assert!(is_told, "{of} {value:?}: {}", error.message);
            assert!(!error.message.contains("70123"), "{}", error.message);
            assert_eq!(error.kind, DatabaseErrorKind::Query);
        }
        let error = session
            .error("select $1::int, $2::int", vec![INTEGER])
            .await;
        assert!(
            error.message.contains("2 placeholders"),
            "{}",
            error.message
        );
        // Nothing of it has harmed the connection.
        assert_eq!(session.value("select 42::int8", vec![]).await, INTEGER);
    });
}

#[test]
fn writes_tell_how_much_and_returning_gives_rows() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (id serial primary key, name text)")
            .await;
        let insert =
            Query::new("insert into t (name) values ($1), ($2)").binds(vec![text("a"), text("b")]);
        let Ok(Outcome::Written(written)) = session.run(&insert).await else {
            panic!("it writes");
        };
        assert_eq!(
            written,
            Written {
                rows_affected: 2,
                last_insert_id: None
            }
        );
        let rows = session
            .rows(
                "insert into t (name) values ($1) returning id, name",
                vec![text("c")],
            )
            .await;
        assert_eq!(rows.row(0).unwrap(), [Value::Integer(3), text("c")]);
        let rows = session.rows("select * from t where false", vec![]).await;
        assert_eq!((rows.len(), rows.columns().len()), (0, 2));
    });
}

#[test]
fn json_is_made_without_values_in_between() {
    with_session(|mut session| async move {
        let sql = "select 1::int4 as a, 1.50::numeric as b, 'x\"y' as c, null::text as d, true as e, \
                   '{\"k\": [1]}'::jsonb as f, '2026-01-31 12:00:00.5+00'::timestamptz as g, '2026-01-31'::date as h, \
                   array[1,2]::int8[] as i, '\\xff'::bytea as j, 1.1::float4 as k, 'infinity'::timestamp as l, \
                   '1 day'::interval as m, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as n, 'NaN'::float8 as o, \
                   '12:30'::time as p, '[1,5)'::int4range as q, '\"'::\"char\" as r, 'infinity'::date as s";
        let query = Query {
            shape: Shape::Json(JsonOptions::default()),
            ..Query::new(sql)
        };
        let Ok(Outcome::Json(json)) = session.run(&query).await else {
            panic!("it is JSON");
        };
        assert_eq!(
            String::from_utf8(json.to_vec()).unwrap(),
            "[{\"a\":1,\"b\":\"1.5\",\"c\":\"x\\\"y\",\"d\":null,\"e\":true,\"f\":{\"k\": [1]},\
             \"g\":\"2026-01-31T12:00:00.500000Z\",\"h\":\"2026-01-31\",\"i\":[1,2],\"j\":\"/w==\",\"k\":1.1,\
             \"l\":null,\"m\":\"P1D\",\"n\":\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\",\"o\":null,\"p\":\"12:30:00\",\
             \"q\":\"[1,5)\",\"r\":\"\\\"\",\"s\":null}]"
        );
        // The same through values.
        let rows = session.rows(sql, vec![]).await;
        assert_eq!(
            crate::db::to_json(&rows, &JsonOptions::default()).unwrap(),
            json
        );
        let only = JsonOptions {
            columns: crate::db::JsonColumns::Only(vec!["zzz".into()]),
        };
        let query = Query {
            shape: Shape::Json(only),
            ..Query::new(sql)
        };
        assert!(
            session
                .run(&query)
                .await
                .unwrap_err()
                .error
                .message
                .contains("zzz")
        );
    });
}

#[test]
fn columns_say_what_they_mean() {
    with_session(|mut session| async move {
        let rows = session
            .rows(
                "select 1::int2, 1::float4, 1::numeric, true, 'a'::name, '1'::json, now(), now()::date, now()::time, \
                 '1 s'::interval, array[1], array['{}'::jsonb], '[1,2)'::numrange, ''::bytea, (1,2), point(1,2), \
                 pg_sleep(0), null",
                vec![],
            )
            .await;
        let kinds: Vec<Kind> = rows.columns().iter().map(|column| column.kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Integer,
                Kind::Float,
                Kind::Decimal,
                Kind::Boolean,
                Kind::Text,
                Kind::Json,
                Kind::DateTime,
                Kind::Date,
                Kind::Time,
                Kind::Interval,
                Kind::Array(&Kind::Integer),
                Kind::Array(&Kind::Json),
                Kind::Range(&Kind::Decimal),
                Kind::Blob,
                Kind::Raw(2249),
                Kind::Raw(600),
                Kind::Any,
                Kind::Text,
            ]
        );
        let row = rows.row(0).unwrap();
        assert!(matches!(&row[15], Value::Blob(bytes) if bytes.len() == 16));
        assert_eq!((&row[16], &row[17]), (&Value::Null, &Value::Null));
    });
}

#[test]
fn a_table_may_change_under_a_prepared_statement() {
    with_session(|mut session| async move {
        session
            .run_all("create temp table t (a int); insert into t values (1)")
            .await;
        let sql = "select * from t where a = $1";
        let width = async |session: &mut super::PostgresSession| {
            session
                .rows(sql, vec![Value::Integer(1)])
                .await
                .columns()
                .len()
        };
        assert_eq!(width(&mut session).await, 1);
        session.run_all("alter table t add column b text").await;
        assert_eq!(width(&mut session).await, 2);
        session
            .run_all("alter table t alter a type bigint, drop column b")
            .await;
        assert_eq!(width(&mut session).await, 1);
        session.run_all("deallocate all").await;
        assert_eq!(width(&mut session).await, 1);
        // Inside a transaction the fix is told, and the next transaction is fine.
        session
            .run_all("begin; alter table t add column c int")
            .await;
        let query = Query::new(sql)
            .binds(vec![Value::Integer(1)])
            .within(TransactionId(1));
        let failure = session.run(&query).await.unwrap_err();
        assert_eq!(failure.fate, Fate::Usable);
        assert!(
            failure.error.message.contains("name the columns"),
            "{}",
            failure.error.message
        );
        session.run_all("rollback").await;
        assert_eq!(width(&mut session).await, 1);
    });
}
