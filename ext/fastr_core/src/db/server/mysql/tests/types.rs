//! The type matrix, both ways, and what the server's own client says of the same values.

use super::*;
use crate::db::rows::{Interval, Kind};

/// A table with a column of every type, a row of values, a row of extremes and a row of NULLs.
pub(super) async fn matrix(session: &mut MySqlSession, temporary: &str) -> String {
    let table = unique("matrix");
    let create = format!(
        "create {temporary} table {table} (flag tinyint(1), ti tinyint, tu tinyint unsigned, si smallint, su smallint \
         unsigned, mi mediumint, mu mediumint unsigned, i int, iu int unsigned, b bigint, bu bigint unsigned, f float, \
         d double, n decimal(65,30), y year, bi bit(1), bl bit(64), da date, dt datetime, d6 datetime(6), ts timestamp \
         null, t time, t6 time(6), c char(5), vc varchar(20), vb varchar(20) collate utf8mb4_bin, l varchar(20) \
         character set latin1, tx text, lt longtext, bb binary(3), vbb varbinary(20), bo blob, e enum('a','b'), s \
         set('x','y'), j json, u uuid, ip inet6) character set utf8mb4"
    );
    written(session, &create, vec![]).await;
    let insert = format!(
        "insert into {table} values (1, -128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, \
         -9223372036854775808, 18446744073709551615, 0.1, 1e300, 12345678901234567890.012345678901234567890123456789, \
         2026, 1, b'1000000000000000000000000000000000000000000000000000000000000001', '1000-01-01', '9999-12-31 23:59:59', \
         '2026-02-03 04:05:06.000007', '1970-01-01 00:00:01', '-838:59:59', '838:59:59.999999', 'ab', 'äöü€😀', 'bin', \
         'ä', 'text', 'long', x'000102', x'ff00', x'80', 'b', 'x,y', '{{\"a\": 1}}', \
         '123e4567-e89b-12d3-a456-426614174000', '::1')"
    );
    written(session, &insert, vec![]).await;
    written(
        session,
        &format!("insert into {table} () values ()"),
        vec![],
    )
    .await;
    table
}

pub(super) fn expected() -> Vec<(&'static str, Kind, Value)> {
    let int = Value::Integer;
    vec![
        ("flag", Kind::Boolean, int(1)),
        ("ti", Kind::Integer, int(-128)),
        ("tu", Kind::Integer, int(255)),
        ("si", Kind::Integer, int(-32768)),
        ("su", Kind::Integer, int(65535)),
        ("mi", Kind::Integer, int(-8_388_608)),
        ("mu", Kind::Integer, int(16_777_215)),
        ("i", Kind::Integer, int(i32::MIN.into())),
        ("iu", Kind::Integer, int(u32::MAX.into())),
        ("b", Kind::Integer, int(i64::MIN)),
        ("bu", Kind::Integer, Value::Unsigned(u64::MAX)),
        ("f", Kind::Float, Value::Float(0.1)),
        ("d", Kind::Float, Value::Float(1e300)),
        (
            "n",
            Kind::Decimal,
            decimal("12345678901234567890.012345678901234567890123456789"),
        ),
        ("y", Kind::Integer, int(2026)),
        ("bi", Kind::Integer, int(1)),
        ("bl", Kind::Integer, Value::Unsigned(1 << 63 | 1)),
        ("da", Kind::Date, Value::Date(-354_285)),
        (
            "dt",
            Kind::DateTime,
            Value::Timestamp(253_402_300_799_000_000),
        ),
        (
            "d6",
            Kind::DateTime,
            Value::Timestamp(1_770_091_506_000_007),
        ),
        ("ts", Kind::DateTime, Value::Timestamp(1_000_000)),
        ("t", Kind::Time, text("-838:59:59")),
        ("t6", Kind::Time, text("838:59:59.999999")),
        ("c", Kind::Text, text("ab")),
        ("vc", Kind::Text, text("äöü€😀")),
        ("vb", Kind::Text, text("bin")),
        ("l", Kind::Text, text("ä")),
        ("tx", Kind::Text, text("text")),
        ("lt", Kind::Text, text("long")),
        ("bb", Kind::Blob, Value::Blob(vec![0, 1, 2])),
        ("vbb", Kind::Blob, Value::Blob(vec![255, 0])),
        ("bo", Kind::Blob, Value::Blob(vec![128])),
        ("e", Kind::Text, text("b")),
        ("s", Kind::Text, text("x,y")),
        ("j", Kind::Text, text("{\"a\": 1}")),
        (
            "u",
            Kind::Text,
            text("123e4567-e89b-12d3-a456-426614174000"),
        ),
        ("ip", Kind::Text, text("::1")),
    ]
}

#[test]
fn every_type_is_read_as_what_it_is() {
    on_reactor(async {
        let mut session = open().await;
        let table = matrix(&mut session, "temporary").await;
        let rows = rows(
            &mut session,
            &format!("select * from {table} order by b desc"),
            vec![],
        )
        .await;
        for (index, (name, kind, value)) in expected().into_iter().enumerate() {
            assert_eq!(rows.columns()[index].name, name);
            assert_eq!(rows.columns()[index].kind, kind, "{name}");
            assert_eq!(rows.row(0).unwrap()[index], value, "{name}");
        }
        let nulls = rows.row(1).unwrap();
        let of_own_accord = nulls.iter().filter(|value| **value != Value::Null).count();
        assert_eq!(of_own_accord, 0, "{nulls:?}");
    });
}

#[test]
fn what_was_read_can_be_bound_and_finds_its_row() {
    on_reactor(async {
        let mut session = open().await;
        let table = matrix(&mut session, "temporary").await;
        for (name, _, value) in expected() {
            let value = match (name, value) {
                // A FLOAT column never equals a number that it had to round.
                ("f", _) => Value::Float(f64::from(0.1_f32)),
                // MySQL compares a time with a text as texts of one form only.
                ("t", _) => Value::Interval(Interval {
                    microseconds: -3_020_399_000_000,
                    ..Interval::default()
                }),
                ("t6", _) => Value::Interval(Interval {
                    microseconds: 3_020_399_999_999,
                    ..Interval::default()
                }),
                (_, value) => value,
            };
            let sql = format!("select count(*) from {table} where {name} = ?");
            let found = super::value(&mut session, &sql, vec![value.clone()]).await;
            assert_eq!(found, Value::Integer(1), "{name} = {value:?}");
        }
    });
}

#[test]
fn rows_become_json_without_a_detour() {
    on_reactor(async {
        let mut session = open().await;
        let sql = "select 1 as i, 18446744073709551615 as u, 12.50 as n, cast('2026-01-31' as date) as d, \
                   timestamp'2026-01-31 10:00:00' as ts, cast('25:00:00' as time) as t, 'ä\"' as s, x'00ff' as b, null as x, \
                   cast(0.5 as double) as f";
        assert_eq!(
            json(&mut session, sql).await,
            "[{\"i\":1,\"u\":18446744073709551615,\"n\":\"12.5\",\"d\":\"2026-01-31\",\
             \"ts\":\"2026-01-31T10:00:00.000000Z\",\"t\":\"25:00:00\",\"s\":\"ä\\\"\",\"b\":\"AP8=\",\"x\":null,\"f\":0.5}]"
        );
        assert_eq!(
            json(&mut session, "select 1 as i from dual where false").await,
            "[]"
        );
    });
}

#[test]
fn a_date_that_is_none_is_null() {
    on_reactor(async {
        let mut session = open().await;
        let table = unique("zero");
        for sql in [
            format!("create temporary table {table} (d date, t datetime(6), s timestamp(6))"),
            "set session sql_mode = 'ALLOW_INVALID_DATES'".into(),
            format!(
                "insert into {table} values ('0000-00-00', '0000-00-00', '0000-00-00'), ('2026-00-10', '2026-01-00 10:00:00', \
                     '0000-00-00 00:00:00'), ('0000-01-01', '0000-00-00 00:00:01', 0)"
            ),
        ] {
            run(&mut session, &sql, vec![]).await;
        }
        let sql = format!("select * from {table}");
        let rows = rows(&mut session, &sql, vec![]).await;
        let values: Vec<&Value> = rows.iter().flatten().collect();
        assert_eq!(
            values
                .iter()
                .filter(|value| **value == &Value::Null)
                .count(),
            8,
            "{values:?}"
        );
        assert_eq!(values[6], &Value::Date(-719_528));
        assert!(
            json(&mut session, &sql)
                .await
                .starts_with("[{\"d\":null,\"t\":null,\"s\":null}")
        );
    });
}

#[test]
fn one_statement_takes_values_of_any_type_one_after_the_other() {
    on_reactor(async {
        let mut session = open().await;
        let table = unique("any");
        written(
            &mut session,
            &format!("create temporary table {table} (id int primary key, name varchar(9))"),
            vec![],
        )
        .await;
        written(
            &mut session,
            &format!("insert into {table} values (42, '42')"),
            vec![],
        )
        .await;
        let sql = format!("select id from {table} where id = ?");
        for bind in [
            Value::Float(42.0),
            Value::Integer(42),
            text("42"),
            Value::Unsigned(42),
            decimal("42.0"),
            Value::Float(42.0),
        ] {
            assert_eq!(
                value(&mut session, &sql, vec![bind.clone()]).await,
                Value::Integer(42),
                "{bind:?}"
            );
        }
        for bind in [Value::Null, Value::Float(42.5), Value::Integer(41)] {
            assert_eq!(
                rows(&mut session, &sql, vec![bind.clone()]).await.len(),
                0,
                "{bind:?}"
            );
        }
    });
}

#[test]
fn decimals_are_compared_exactly() {
    on_reactor(async {
        let mut session = open().await;
        let table = unique("exact");
        written(
            &mut session,
            &format!("create temporary table {table} (n decimal(40,20))"),
            vec![],
        )
        .await;
        let insert = format!("insert into {table} values (?)");
        written(
            &mut session,
            &insert,
            vec![decimal("12345678901234567890.00000000000000000001")],
        )
        .await;
        written(
            &mut session,
            &insert,
            vec![decimal("-0.00000000000000000001")],
        )
        .await;
        let count = format!("select count(*) from {table} where n = ?");
        for (digits, found) in [
            ("12345678901234567890.00000000000000000001", 1),
            ("12345678901234567890.00000000000000000002", 0),
            ("12345678901234567890", 0),
            ("-0.00000000000000000001", 1),
        ] {
            assert_eq!(
                value(&mut session, &count, vec![decimal(digits)]).await,
                Value::Integer(found),
                "{digits}"
            );
        }
    });
}

#[test]
fn a_value_that_mysql_does_not_have_is_refused_with_the_way_out() {
    on_reactor(async {
        let mut session = open().await;
        for (bind, reason) in [
            (Value::Float(f64::NAN), "NaN"),
            (Value::Float(f64::INFINITY), "bind NULL"),
            (decimal("NaN"), "NaN"),
            (Value::Timestamp(i64::MAX), "infinite"),
            (Value::Date(i32::MIN), "infinite"),
            (Value::Date(3_000_000), "year 10183"),
            (Value::Timestamp(-70_000_000_000_000_000), "year"),
            (Value::Array(vec![]), "array"),
            (
                Value::Range(Box::new(crate::db::rows::Range::Empty)),
                "range",
            ),
            (
                Value::Interval(Interval {
                    days: 1,
                    ..Interval::default()
                }),
                "days",
            ),
            (
                Value::Interval(Interval {
                    microseconds: i64::MIN,
                    ..Interval::default()
                }),
                "838:59:59",
            ),
        ] {
            let error = error(&mut session, "select ?, ?", vec![Value::Null, bind.clone()]).await;
            assert!(
                error.message.contains(reason),
                "{bind:?}: {}",
                error.message
            );
            assert!(error.message.starts_with("value 2 "), "{}", error.message);
        }
        assert_eq!(
            value(&mut session, "select 1", vec![]).await,
            Value::Integer(1)
        );
    });
}

#[test]
fn text_keeps_nul_bytes_and_every_character() {
    on_reactor(async {
        let mut session = open().await;
        for sample in [
            "",
            "a\0b",
            "\u{10FFFF}",
            "it's \"quoted\" \\ `too`",
            "؟",
            "\n\r\t\u{1}",
        ] {
            assert_eq!(
                value(&mut session, "select ?", vec![text(sample)]).await,
                text(sample)
            );
        }
        let blob = Value::Blob((0..=255).collect());
        assert_eq!(
            value(&mut session, "select ?", vec![blob.clone()]).await,
            blob
        );
    });
}

#[test]
fn the_session_is_set_up_as_promised() {
    on_reactor(async {
        let mut session = open().await;
        let sql = "select @@character_set_client, @@character_set_results, @@time_zone, @@sql_mode, 'a' || 'b', 1 || 0";
        let rows = rows(&mut session, sql, vec![]).await;
        let row = rows.row(0).unwrap();
        assert_eq!(
            &row[..3],
            &[text("utf8mb4"), text("utf8mb4"), text("+00:00")]
        );
        let Value::Text(mode) = &row[3] else {
            panic!("{row:?}")
        };
        assert!(
            mode.contains("STRICT_TRANS_TABLES") && !mode.contains("PIPES_AS_CONCAT"),
            "{mode}"
        );
        assert_eq!(
            &row[4..],
            &[Value::Integer(0), Value::Integer(1)],
            "|| is OR, as the server has it"
        );
    });
}

#[test]
fn geometry_stays_bytes_with_its_types_number() {
    on_reactor(async {
        let mut session = open().await;
        let rows = rows(&mut session, "select point(1, 2) as p", vec![]).await;
        assert_eq!(rows.columns()[0].kind, Kind::Raw(255));
        assert!(matches!(&rows.row(0).unwrap()[0], Value::Blob(bytes) if bytes.len() == 25));
    });
}
