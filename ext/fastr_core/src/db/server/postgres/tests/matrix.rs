//! Every type both ways, against what PostgreSQL itself makes of the same text.

use super::{block, driver, text};
use crate::db::query::Query;
use crate::db::rows::Value;
use crate::db::server::driver::{Driver, Session};
use crate::db::server::postgres::session::PostgresSession;
use crate::event::Outcome;

/// Types, and texts PostgreSQL reads as values of them.
const MATRIX: &[(&str, &[&str])] = &[
    ("bool", &["true", "f", "yes", "off", " on ", "1"]),
    ("int2", &["0", "-32768", "32767", " 7 ", "+7"]),
    ("int4", &["0", "-2147483648", "2147483647"]),
    (
        "int8",
        &["0", "-9223372036854775808", "9223372036854775807"],
    ),
    ("oid", &["0", "4294967295"]),
    (
        "float4",
        &[
            "1.1",
            "0",
            "-0",
            "1e-45",
            "3.4028235e38",
            "NaN",
            "Infinity",
            "-Infinity",
            "16777216",
        ],
    ),
    (
        "float8",
        &[
            "1.1",
            "-0",
            "1e308",
            "5e-324",
            "NaN",
            "inf",
            "-Infinity",
            ".5",
            "1e15",
            "123456789012345680",
        ],
    ),
    (
        "numeric",
        &[
            "0",
            "0.00",
            "1",
            "-1",
            "10000",
            "9999",
            "0.0001",
            "0.00010",
            "123456789012345678901234567890.123456789",
            "-12345678901234567890.0123456789",
            "NaN",
            "Infinity",
            "-Infinity",
            "1e10",
            "1.5e-7",
            ".5",
            "5.",
            "100000000",
            "0.1000",
            "1000000000000000000000000000000.0000000000000000000000000000001",
        ],
    ),
    (
        "money",
        &["0", "12.34", "-0.05", "92233720368547758.07", "7", "1.005"],
    ),
    ("text", &["", "a", "ünï €😀", "a\"b'c\\d\n"]),
    ("varchar(5)", &["abc"]),
    ("bpchar", &["abc"]),
    ("char(5)", &["abc"]),
    ("name", &["abc"]),
    ("citext", &["AbC"]),
    ("xml", &["<a>b</a>"]),
    ("\"char\"", &["a", "", "~"]),
    (
        "bytea",
        &[
            "\\x",
            "\\xDEADbeef",
            "\\x de ad ",
            "abc\\\\d",
            "\\000\\377a",
        ],
    ),
    (
        "uuid",
        &[
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
        ],
    ),
    ("json", &["{\"a\": [1, null]}", "1", "\"x\""]),
    ("jsonb", &["{\"a\": [1, null]}", "1.50", "\"x\""]),
    ("jsonpath", &["$.a"]),
    (
        "date",
        &[
            "2026-01-31",
            "1970-01-01",
            "2000-02-29",
            "0001-01-01",
            "0044-03-15 BC",
            "4714-11-24 BC",
            "infinity",
            "-infinity",
            "5874897-12-31",
            "epoch",
            "2026-01-31 23:59:59+02",
        ],
    ),
    (
        "time",
        &[
            "00:00",
            "23:59:59.999999",
            "24:00:00",
            "12:34:56.7",
            "04:05:06+02",
            "23:59:60",
        ],
    ),
    (
        "timetz",
        &[
            "00:00+00",
            "23:59:59.999999+05:30",
            "12:34:56-03:30",
            "12:00+00:00:30",
            "12:00-15:59",
        ],
    ),
    (
        "timestamp",
        &[
            "2026-01-31 23:59:59.123456",
            "2026-01-31",
            "2026-01-31T23:59:59Z",
            "2026-01-31 12:00+02",
            "infinity",
            "-infinity",
            "0044-03-15 12:00:00 BC",
            "4714-11-24 00:00:00 BC",
            "1969-12-31 23:59:59.999999",
            "epoch",
            "2026-01-31 23:59:59.9999999",
            "2026-01-31 24:00:00",
        ],
    ),
    (
        "timestamptz",
        &[
            "2026-01-31 23:59:59.123456+00",
            "2026-01-31T23:59:59+02:00",
            "2026-01-31 12:00-0330",
            "infinity",
            "-infinity",
            "2026-01-31",
            "0044-03-15 12:00:00+00 BC",
            "2026-06-30 12:00 UTC",
        ],
    ),
    (
        "interval",
        &[
            "1 year 2 mons 3 days 04:05:06.5",
            "-1 year +2 days -00:00:01",
            "P1Y2M3DT4H5M6.5S",
            "90",
            "1.5 days",
            "1 day ago",
            "00:00:00",
            "2 weeks",
            "1 decade",
            "0.5 month",
            "1000:00:00",
            "1 hour 30 min",
            "P2W",
            "@ 1 min",
            "5 ms",
            "PT0.000001S",
            "-178000000 years",
        ],
    ),
    (
        "inet",
        &[
            "192.168.0.1",
            "192.168.0.1/24",
            "10.0.0.0/8",
            "::1",
            "2001:db8::1/64",
            "::ffff:1.2.3.4",
            "::1.2.3.4",
            "1:0:0:2:0:0:0:3",
            "::",
        ],
    ),
    (
        "cidr",
        &[
            "192.168.0.0/24",
            "10",
            "10.1",
            "192.168.1",
            "2001:db8::/32",
            "10.1.2.3",
            "::/0",
        ],
    ),
    (
        "macaddr",
        &[
            "08:00:2b:01:02:03",
            "08002b:010203",
            "0800.2b01.0203",
            "08002b010203",
            "08-00-2b-01-02-03",
        ],
    ),
    (
        "macaddr8",
        &["08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03"],
    ),
    ("bit(4)", &["0101", "B1111", "x5"]),
    ("varbit", &["", "1", "010101010101", "XFF"]),
    ("pg_lsn", &["16/B374D848", "0/0"]),
    ("xid", &["7"]),
    ("mood", &["happy", "so so"]),
    ("positive", &["7"]),
    ("int2vector", &["1 2 3"]),
    (
        "int4[]",
        &[
            "{}",
            "{1,2,NULL}",
            "{{1,2},{3,4}}",
            "[0:1]={5,6}",
            "{ 1 , 2 }",
        ],
    ),
    (
        "text[]",
        &[
            "{}",
            "{a,\"b,c\",\"d\\\"e\",NULL,\"NULL\",\"\"}",
            "{{a},{b}}",
            "{a\\ b}",
        ],
    ),
    ("numeric[]", &["{1.50,NaN}"]),
    ("timestamptz[]", &["{2026-01-31 12:00:00+00,infinity}"]),
    ("bool[]", &["{t,f,NULL}"]),
    ("uuid[]", &["{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"]),
    ("jsonb[]", &["{\"{\\\"a\\\": 1}\"}"]),
    ("bytea[]", &["{\"\\\\xdead\"}"]),
    ("mood[]", &["{happy,\"so so\"}"]),
    ("positive[]", &["{1,2}"]),
    ("interval[]", &["{1 day}"]),
    ("inet[]", &["{10.0.0.1}"]),
    (
        "int4range",
        &["[1,5)", "empty", "(,5]", "[1,)", "(,)", "[1,1]"],
    ),
    ("int8range", &["[1,5)"]),
    ("numrange", &["[1.50,2.5]", "(1,)"]),
    (
        "daterange",
        &["[2026-01-01,2026-02-01)", "[2026-01-01,infinity)"],
    ),
    (
        "tsrange",
        &["[\"2026-01-01 00:00:00\",\"2026-01-02 00:00:00\")"],
    ),
    ("tstzrange", &["[\"2026-01-01 00:00:00+00\",)"]),
    ("textrange", &["[a,\"b,\"\"c\")", "[\"\",b]"]),
    ("int4range[]", &["{\"[1,5)\",empty}"]),
];

/// Types of their own, in a schema that is gone with the connection.
const TYPES: &str = "create type pg_temp.mood as enum ('happy', 'so so');
    create domain pg_temp.positive as int check (value > 0);
    create type pg_temp.textrange as range (subtype = text);";
/// One at a time: who creates it beside somebody else fails.
const EXTENSION: &str = "select pg_advisory_xact_lock(71); create extension if not exists citext";
const UNTYPES: &str = "drop type mood, textrange; drop domain positive";

/// Runs a check for every type and text of the matrix, and says everything that went wrong.
async fn for_all(check: impl AsyncFn(&mut PostgresSession, &str, &str) -> Result<(), String>) {
    let mut session = driver().connect().await.unwrap();
    session.run_all(EXTENSION).await;
    session.run_all(TYPES).await;
    let mut wrong = Vec::new();
    for (of, texts) in MATRIX {
        for plain in *texts {
            if let Err(what) = check(&mut session, of, plain).await {
                wrong.push(format!("{of} {plain:?}: {what}"));
            }
        }
    }
    session.run_all(UNTYPES).await;
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

async fn answer(
    session: &mut PostgresSession,
    sql: &str,
    binds: Vec<Value>,
) -> Result<Vec<Value>, String> {
    match session.run(&Query::new(sql).binds(binds)).await {
        Ok(Outcome::Rows(rows)) => Ok(rows.row(0).unwrap().to_vec()),
        Ok(other) => Err(format!("{other:?}")),
        Err(failure) => Err(failure.error.message),
    }
}

#[test]
fn text_is_read_as_postgresql_reads_it() {
    block(for_all(async |session, of, plain| {
        // The same text twice, once read by us and once by the server.
        let sql = format!("select ($1::{of})::text, ($2::text::{of})::text");
        match answer(session, &sql, vec![text(plain), text(plain)])
            .await?
            .as_slice()
        {
            [Value::Text(ours), Value::Text(theirs)] if ours == without_bounds(theirs) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }));
}

#[test]
fn values_come_back_as_they_are_shown() {
    block(for_all(async |session, of, plain| {
        let sql = format!("select $1::text::{of}, ($1::text::{of})::text");
        let answer = answer(session, &sql, vec![text(plain)]).await?;
        let [value, Value::Text(theirs)] = answer.as_slice() else {
            return Err(format!("{answer:?}"));
        };
        match shown(of, value) {
            Some(ours) if ours != *theirs => Err(format!("{ours:?} and not {theirs:?}")),
            _ => Ok(()),
        }
    }));
}

#[test]
fn what_was_read_can_be_given_back() {
    block(for_all(async |session, of, plain| {
        let sql = format!("select $1::text::{of}, ($1::text::{of})::text");
        let first = answer(session, &sql, vec![text(plain)]).await?;
        let sql = format!("select ($1::{of})::text");
        let again = answer(session, &sql, vec![first[0].clone()]).await?;
        let expected = match &first[1] {
            Value::Text(shown) => text(without_bounds(shown)),
            other => other.clone(),
        };
        if again[0] == expected {
            Ok(())
        } else {
            Err(format!("{again:?} from {first:?}"))
        }
    }));
}

/// The lower bounds of arrays are forgotten.
fn without_bounds(text: &str) -> &str {
    text.strip_prefix("[0:1]=").unwrap_or(text)
}

/// PostgreSQL's text of a value, from ours; none where ours is no text.
fn shown(of: &str, value: &Value) -> Option<String> {
    Some(match value {
        Value::Bool(bool) => bool.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Decimal(digits) if of == "money" => {
            let (sign, digits) = digits
                .strip_prefix('-')
                .map_or(("", digits.as_str()), |rest| ("-", rest));
            let (whole, cents) = digits.split_once('.')?;
            let grouped: Vec<&str> = whole
                .as_bytes()
                .rchunks(3)
                .rev()
                .map(|group| str::from_utf8(group).unwrap())
                .collect();
            format!("{sign}${}.{cents}", grouped.join(","))
        }
        // Ours has six digits of a fraction.
        Value::Text(text) if matches!(of, "time" | "timetz") => match text.split_once('.') {
            Some((whole, rest)) => {
                let (fraction, zone) = rest.split_at(6);
                format!("{whole}.{}{zone}", fraction.trim_end_matches('0'))
            }
            None => text.clone(),
        },
        // The cast to text takes blanks away that are there, and says /32 where nobody else does.
        Value::Text(text) if of == "char(5)" => text.trim_end().to_owned(),
        Value::Text(text) if of == "inet" && !text.contains('/') => {
            format!("{text}/{}", if text.contains(':') { 128 } else { 32 })
        }
        Value::Decimal(text) | Value::Text(text) => text.clone(),
        _ => return None,
    })
}
