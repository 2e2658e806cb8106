//! Statements on SQLite: what goes in, what comes out, and what is refused.
#![allow(clippy::unwrap_used)]

mod db_support;

use db_support::*;
use fastr_core::Outcome;
use fastr_core::db::{JsonOptions, Kind, Query, Value, Written};
use fastr_core::error::DatabaseErrorKind;
use proptest::prelude::*;

#[test]
fn a_read_sees_the_write_that_completed_before_it() {
    let database = file();
    written(&database, "create table t (n integer)");
    for number in 1..=200 {
        let insert = Query::new("insert into t values (?)").binds(vec![Value::Integer(number)]);
        written(&database, insert);
        assert_eq!(integer(&database, "select count(*) from t"), number);
    }
}

#[test]
fn a_write_tells_what_it_changed() {
    let database = file();
    let created = written(&database, "create table t (id integer primary key, n)");
    let nothing = Written {
        rows_affected: 0,
        last_insert_id: None,
    };
    assert_eq!(created, nothing);
    let inserted = written(&database, "insert into t (n) values (1), (2), (3)");
    assert_eq!(inserted.rows_affected, 3);
    assert_eq!(inserted.last_insert_id, Some(3));
    let updated = written(&database, "update t set n = 0 where id > 1");
    assert_eq!(updated.rows_affected, 2);
    assert_eq!(updated.last_insert_id, None);
    let altered = written(&database, "create index i on t (n)");
    assert_eq!(
        altered, nothing,
        "the changes of an earlier statement leaked"
    );
    let ignored = written(&database, "insert or ignore into t (id) values (1)");
    assert_eq!(ignored, nothing);
}

#[test]
fn a_write_that_looks_like_a_read_is_sent_to_the_writer() {
    let database = file();
    written(&database, "create table t (n)");
    let sql = "with x(replace_me) as (select 7) replace into t select * from x";
    assert_eq!(written(&database, sql).rows_affected, 1);
    assert_eq!(integer(&database, "select n from t"), 7);
}

#[test]
fn returning_gives_rows_and_writes() {
    let database = file();
    written(&database, "create table t (id integer primary key, n)");
    let returned = rows(
        &database,
        "insert into t (n) values (5), (6) returning id, n",
    );
    assert_eq!(
        returned.row(1),
        Some(&[Value::Integer(2), Value::Integer(6)][..])
    );
    assert_eq!(integer(&database, "select count(*) from t"), 2);
}

#[test]
fn declared_types_decide_the_kind_and_values_keep_their_class() {
    let database = file();
    written(
        &database,
        "create table t (a integer, b boolean, c decimal(10,2), d datetime, e json, f varchar(9), g blob, h)",
    );
    written(
        &database,
        "insert into t values (1, 'yes', 1.5, '2024-02-29 10:00:00', '{}', 'x', x'00ff', null)",
    );
    let result = rows(&database, "select *, 1 + 1 as i from t");
    let kinds: Vec<Kind> = result.columns().iter().map(|column| column.kind).collect();
    use Kind::{Any, Blob, Boolean, DateTime, Decimal, Integer, Json, Text};
    assert_eq!(
        kinds,
        [
            Integer, Boolean, Decimal, DateTime, Json, Text, Blob, Any, Any
        ]
    );
    let expected = [
        Value::Integer(1),
        text("yes"),
        Value::Float(1.5),
        text("2024-02-29 10:00:00"),
        text("{}"),
        text("x"),
        Value::Blob(vec![0, 255]),
        Value::Null,
        Value::Integer(2),
    ];
    assert_eq!(result.row(0), Some(&expected[..]));
    assert_eq!(result.columns()[8].name, "i");
}

#[test]
fn text_that_is_no_utf_8_comes_back_as_bytes() {
    let result = rows(&memory(), "select cast(x'61ff' as text)");
    assert_eq!(result.row(0), Some(&[Value::Blob(vec![0x61, 0xff])][..]));
}

#[test]
fn an_empty_result_still_has_its_columns() {
    let database = file();
    written(&database, "create table t (id integer, name text)");
    let result = rows(&database, "select id, name from t");
    assert!(result.is_empty());
    assert_eq!(result.columns().len(), 2);
    assert_eq!(
        json(&database, "select * from t", JsonOptions::default()),
        "[]"
    );
}

#[test]
fn a_column_added_by_someone_else_appears_in_a_cached_statement() {
    let database = file();
    written(&database, "create table t (a)");
    written(&database, "insert into t values (1)");
    assert_eq!(rows(&database, "select * from t").columns().len(), 1);
    let stranger = database.stranger();
    stranger
        .execute_batch("alter table t add column b default 'new'")
        .unwrap();
    let result = rows(&database, "select * from t");
    assert_eq!(result.columns()[1].name, "b");
    assert_eq!(result.row(0), Some(&[Value::Integer(1), text("new")][..]));
    stranger
        .execute_batch("alter table t drop column a; delete from t")
        .unwrap();
    let result = rows(&database, "select * from t");
    assert_eq!(result.columns()[0].name, "b");
    assert!(result.is_empty());
    assert_eq!(
        json(&database, "select * from t", JsonOptions::default()),
        "[]"
    );
}

#[test]
fn a_script_runs_its_statements_until_one_fails() {
    let database = file();
    let fine = "create table a (n); insert into a values (1);\n-- the end\n;";
    assert!(matches!(
        script(&database, fine).result(),
        Ok(Outcome::Done)
    ));
    let broken = script(
        &database,
        "insert into a values (2); insert into nowhere values (1); drop table a",
    );
    let error = broken.error();
    assert_kind(&error, DatabaseErrorKind::Query, "nowhere");
    assert_eq!(integer(&database, "select count(*) from a"), 2);
    let open = script(&database, "begin; insert into a values (3)").error();
    assert_kind(&open, DatabaseErrorKind::Query, "left a transaction open");
    assert_eq!(integer(&database, "select count(*) from a"), 2);
    let closed = script(&database, "begin; insert into a values (3); commit");
    assert!(matches!(closed.result(), Ok(Outcome::Done)));
    assert_eq!(integer(&database, "select count(*) from a"), 3);
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>()
            .prop_filter("SQLite has no NaN", |number| !number.is_nan())
            .prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
        proptest::collection::vec(any::<char>(), 0..20)
            .prop_map(|chars| Value::Text(chars.into_iter().chain(['\0', 'x']).collect())),
        proptest::collection::vec(any::<u8>(), 0..100).prop_map(Value::Blob),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_round_trips(values in proptest::collection::vec(value(), 1..8)) {
        thread_local! {
            static DATABASE: std::sync::Arc<fastr_core::db::Database> = memory();
        }
        DATABASE.with(|database| {
            let marks = vec!["?"; values.len()].join(", ");
            let query = Query::new(format!("select {marks}")).binds(values.clone());
            let result = rows(database, query);
            prop_assert_eq!(result.row(0), Some(&values[..]));
            Ok(())
        })?;
    }
}

#[test]
fn a_partial_index_serves_a_bound_value_also_when_it_is_new() {
    let database = file();
    written(
        &database,
        "create table jobs (id integer primary key, state text, at integer)",
    );
    let plan = || {
        let sql = "explain query plan select id from jobs where state = ? order by at";
        let rows = rows(&database, Query::new(sql).binds(vec![text("waiting")]));
        format!("{:?}", rows.row(0))
    };
    assert!(plan().contains("SCAN jobs"), "{}", plan());
    written(
        &database,
        "create index waiting on jobs (at) where state = 'waiting'",
    );
    // The first run is the one that notices.
    plan();
    assert!(plan().contains("INDEX waiting"), "{}", plan());
}
