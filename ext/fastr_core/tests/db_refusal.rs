//! What SQLite or fastr refuses, and how it says so.
#![allow(clippy::unwrap_used)]

mod db_support;

use db_support::*;
use fastr_core::db::{Query, Value};
use fastr_core::error::{DatabaseErrorKind, ErrorCode};

#[test]
fn a_second_statement_is_refused_and_nothing_of_it_runs() {
    let database = file();
    written(&database, "create table t (a)");
    for sql in [
        "insert into t values (1); drop table t",
        "select 1; select 2",
        "select 1; nonsense",
    ] {
        assert_eq!(
            error(&database, sql).kind,
            DatabaseErrorKind::Query,
            "{sql}"
        );
    }
    assert_eq!(integer(&database, "select count(*) from t"), 0);
    assert_kind(
        &error(&database, "select 1; select 2"),
        DatabaseErrorKind::Query,
        "execute_script",
    );
    assert_eq!(integer(&database, " select 1 ; -- and a comment\n"), 1);
}

#[test]
fn a_statement_that_is_none_is_refused() {
    let database = memory();
    for sql in ["", "  ", "-- nothing", ";"] {
        assert_kind(
            &error(&database, sql),
            DatabaseErrorKind::Query,
            "no statement",
        );
    }
    assert_kind(
        &error(&database, "select 1\0; drop table t"),
        DatabaseErrorKind::Query,
        "NUL",
    );
}

#[test]
fn transaction_control_points_to_transaction() {
    let database = file();
    for sql in [
        "begin",
        "BEGIN IMMEDIATE",
        "/* */ commit",
        "end",
        "rollback",
        "savepoint a",
        "release a",
    ] {
        assert_kind(
            &error(&database, sql),
            DatabaseErrorKind::Query,
            "`transaction`",
        );
    }
    assert_kind(
        &error(&database, "attach 'x.db' as x"),
        DatabaseErrorKind::Query,
        "database of its own",
    );
}

#[test]
fn the_wrong_number_of_binds_is_named() {
    let database = memory();
    let one = Query::new("select ?, ?").binds(vec![Value::Null]);
    assert_kind(
        &error(&database, one),
        DatabaseErrorKind::Query,
        "2 placeholder(s), but 1 value(s)",
    );
    let none = Query::new("select 1").binds(vec![Value::Null]);
    assert_kind(
        &error(&database, none),
        DatabaseErrorKind::Query,
        "0 placeholder",
    );
    let nan = Query::new("select ?").binds(vec![Value::Float(f64::NAN)]);
    assert_kind(&error(&database, nan), DatabaseErrorKind::Query, "NaN");
}

#[test]
fn a_value_of_one_gibibyte_is_refused() {
    let huge = Query::new("select length(?)").binds(vec![Value::Blob(vec![0; 1 << 30])]);
    assert_kind(&error(&memory(), huge), DatabaseErrorKind::Query, "1 GiB");
}

#[test]
fn constraints_become_kinds_with_their_names() {
    let database = file();
    written(
        &database,
        "create table users (id integer primary key, email text unique, age integer not null \
         constraint adult check (age > 17))",
    );
    written(
        &database,
        "create table posts (user_id integer references users)",
    );
    written(&database, "insert into users values (1, 'a', 20)");
    let fails = |sql: &str, kind, code, constraint: Option<&str>| {
        let error = error(&database, sql);
        assert_eq!(error.kind, kind, "{}", error.message);
        assert_eq!(error.code, Some(ErrorCode::Number(code)));
        assert_eq!(error.constraint.as_deref(), constraint);
        assert_eq!(error.sql.as_deref(), Some(sql));
    };
    use DatabaseErrorKind::{Check, ForeignKey, NotNull, Query, Unique};
    fails(
        "insert into users values (2, 'a', 20)",
        Unique,
        2067,
        Some("users.email"),
    );
    fails(
        "insert into users values (1, 'b', 20)",
        Unique,
        1555,
        Some("users.id"),
    );
    fails(
        "insert into users values (3, 'c', null)",
        NotNull,
        1299,
        Some("users.age"),
    );
    fails(
        "insert into users values (3, 'c', 1)",
        Check,
        275,
        Some("adult"),
    );
    fails("insert into posts values (9)", ForeignKey, 787, None);
    fails("select nothing from users", Query, 1, None);
}

#[test]
fn a_row_limit_fails_instead_of_cutting() {
    let database = file();
    let limited = |sql: &str, limit| Query {
        row_limit: Some(limit),
        ..Query::new(sql)
    };
    let three = "select 1 union all select 2 union all select 3";
    assert_eq!(rows(&database, limited(three, 3)).len(), 3);
    assert_kind(
        &error(&database, limited(three, 2)),
        DatabaseErrorKind::Query,
        "row_limit",
    );
    assert_eq!(
        error(&database, limited("select 1", 0)).kind,
        DatabaseErrorKind::Query
    );
}

#[test]
fn a_panic_costs_one_query_and_nothing_else() {
    let database = file();
    written(&database, "create table t (n)");
    let stranger = database.stranger();
    // A column name that is not UTF-8 cannot be made through SQL text, only by damaging the schema.
    stranger
        .execute_batch(
            "create table broken (name_x integer);
             pragma writable_schema = on;
             update sqlite_schema set sql = cast(x'637265617465207461626c652062726f6b656e20286eff29' as text)
             where name = 'broken';
             pragma writable_schema = off;",
        )
        .unwrap();
    drop(stranger);
    let result = start(&database, Query::new("select * from broken")).result();
    assert!(
        matches!(&result, Err(fastr_core::Error::Panicked(_))),
        "{result:?}"
    );
    assert_eq!(integer(&database, "select count(*) from t"), 0);
    assert_eq!(database.stats().busy, 0);
}
