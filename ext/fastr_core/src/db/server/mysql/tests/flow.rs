//! Statements one after the other: what was written, transactions, schema changes, scripts, streams.
use super::*;
use crate::db::feed::Feed;
use crate::db::query::{BeginOptions, Isolation};
use crate::db::row_stream::batch;
use crate::db::timings::Timings;

#[test]
fn what_was_written_is_told() {
    on_reactor(async {
        let mut session = open().await;
        let table = unique("written");
        written(&mut session, &format!("create temporary table {table} (id bigint unsigned auto_increment primary key, n int)"), vec![]).await;
        let insert = format!("insert into {table} (n) values (?), (?)");
        let two = written(
            &mut session,
            &insert,
            vec![Value::Integer(1), Value::Integer(1)],
        )
        .await;
        assert_eq!(
            (two.rows_affected, two.last_insert_id),
            (2, Some(1)),
            "the first of them"
        );
        let same = written(&mut session, &format!("update {table} set n = 1"), vec![]).await;
        assert_eq!(
            (same.rows_affected, same.last_insert_id),
            (2, None),
            "found counts, not changed"
        );
        let none = written(
            &mut session,
            &format!("delete from {table} where n = 7"),
            vec![],
        )
        .await;
        assert_eq!(none.rows_affected, 0);
        let sql = format!("insert into {table} (n) values (5) returning id, n");
        let returned = rows(&mut session, &sql, vec![]).await;
        assert_eq!(
            returned.row(0).unwrap(),
            [Value::Integer(3), Value::Integer(5)]
        );
        let empty = rows(
            &mut session,
            &format!("select id, n from {table} where false"),
            vec![],
        )
        .await;
        assert_eq!((empty.len(), empty.columns().len()), (0, 2));
    });
}

#[test]
fn a_result_beyond_its_limit_fails_and_the_connection_goes_on() {
    on_reactor(async {
        let mut session = open().await;
        let sql = "select seq, repeat('x', 1000) from seq_1_to_3000000";
        let query = Query {
            row_limit: Some(2),
            ..Query::new(sql)
        };
        let started = std::time::Instant::now();
        let failure = session.run(&query).await.unwrap_err();
        assert!(
            failure.error.message.contains("more than 2 rows"),
            "{}",
            failure.error.message
        );
        assert!(
            started.elapsed().as_millis() < 2000,
            "the rest was not waited for: {:?}",
            started.elapsed()
        );
        assert_eq!(
            value(&mut session, "select 1", vec![]).await,
            Value::Integer(1)
        );
        let fits = Query {
            row_limit: Some(2),
            ..Query::new("select seq from seq_1_to_2")
        };
        assert!(session.run(&fits).await.is_ok());
    });
}

#[test]
fn a_table_may_change_under_a_prepared_statement() {
    on_reactor(async {
        let (mut session, mut other) = (open().await, open().await);
        let table = unique("altered");
        run(&mut other, &format!("create table {table} (a int)"), vec![]).await;
        run(
            &mut other,
            &format!("insert into {table} values (1)"),
            vec![],
        )
        .await;
        let all = format!("select * from {table}");
        assert_eq!(
            rows(&mut session, &all, vec![]).await.row(0).unwrap(),
            [Value::Integer(1)]
        );
        run(
            &mut other,
            &format!("alter table {table} add b varchar(9) default 'x' first"),
            vec![],
        )
        .await;
        assert_eq!(
            rows(&mut session, &all, vec![]).await.row(0).unwrap(),
            [text("x"), Value::Integer(1)]
        );
        assert_eq!(json(&mut session, &all).await, "[{\"b\":\"x\",\"a\":1}]");
        run(
            &mut other,
            &format!("alter table {table} drop a, modify b varbinary(9)"),
            vec![],
        )
        .await;
        assert_eq!(
            rows(&mut session, &all, vec![]).await.row(0).unwrap(),
            [Value::Blob(b"x".to_vec())]
        );
        run(
            &mut other,
            &format!("alter table {table} modify b varchar(9)"),
            vec![],
        )
        .await;
        assert_eq!(
            rows(&mut session, &all, vec![]).await.row(0).unwrap(),
            [text("x")]
        );
        run(&mut other, &format!("drop table {table}"), vec![]).await;
        assert!(
            error(&mut session, &all, vec![])
                .await
                .message
                .contains("doesn't exist")
        );
    });
}

#[test]
fn an_empty_result_has_the_columns_of_the_altered_table() {
    on_reactor(async {
        let driver = driver();
        let (mut session, mut other) = (
            driver.connect().await.unwrap(),
            driver.connect().await.unwrap(),
        );
        let table = unique("empty");
        run(&mut other, &format!("create table {table} (a int)"), vec![]).await;
        let all = format!("select * from {table}");
        assert_eq!(rows(&mut session, &all, vec![]).await.columns().len(), 1);
        run(
            &mut other,
            &format!("alter table {table} add b int"),
            vec![],
        )
        .await;
        assert_eq!(rows(&mut session, &all, vec![]).await.columns().len(), 2);
        run(&mut other, &format!("drop table {table}"), vec![]).await;
    });
}

#[test]
fn it_is_known_whether_a_transaction_is_open() {
    on_reactor(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let table = unique("open");
        assert!(!session.is_in_transaction());
        let options = BeginOptions {
            isolation: Some(Isolation::Serializable),
            read_only: true,
            ..BeginOptions::default()
        };
        for sql in driver.begin(&options).unwrap() {
            run(&mut session, &sql, vec![]).await;
        }
        assert!(session.is_in_transaction());
        let refused = error(
            &mut session,
            &format!("create table {table} (a int)"),
            vec![],
        )
        .await;
        assert!(refused.message.contains("read_only"), "{}", refused.message);
        assert!(session.is_in_transaction());
        run(&mut session, "rollback", vec![]).await;
        assert!(!session.is_in_transaction());
        for (sql, is_open) in [
            ("start transaction".to_owned(), true),
            ("savepoint a".into(), true),
            ("rollback to a".into(), true),
            ("select 1".into(), true),
            ("create temporary table fastr_t (a int)".into(), true),
            (format!("create table {table} (a int)"), false),
            ("begin".into(), true),
            ("commit and chain".into(), true),
            ("commit".into(), false),
            ("begin".into(), true),
            (format!("truncate {table}"), false),
            ("begin".into(), true),
            (format!("/*!40101 drop table {table} */"), false),
        ] {
            run(&mut session, &sql, vec![]).await;
            assert_eq!(session.is_in_transaction(), is_open, "{sql}");
        }
        session.script("select 1; begin; select 2").await.unwrap();
        assert!(session.is_in_transaction(), "a script leaves one open");
        run(&mut session, "rollback", vec![]).await;
        let deferrable = BeginOptions {
            deferrable: true,
            ..BeginOptions::default()
        };
        assert!(
            driver
                .begin(&deferrable)
                .unwrap_err()
                .to_string()
                .contains("read_only")
        );
    });
}

#[test]
fn a_script_runs_until_its_first_failure() {
    on_reactor(async {
        let mut session = open().await;
        let table = unique("script");
        let script = format!(
            "create table {table} (a int); insert into {table} values (1); insert into {table} values ('x'); drop table {table}"
        );
        let failure = session.script(&script).await.unwrap_err();
        assert_eq!(
            failure.error.code,
            Some(crate::error::ErrorCode::Number(1366))
        );
        assert_eq!(
            failure.error.detail.as_deref(),
            Some("the script failed after 2 result(s)")
        );
        assert_eq!(
            value(
                &mut session,
                &format!("select count(*) from {table}"),
                vec![]
            )
            .await,
            Value::Integer(1)
        );
        let procedure = format!(
            "create procedure {table}_p() begin select 1 as a; select 2 as b; end; drop table {table}"
        );
        session.script(&procedure).await.unwrap();
        let called = rows(&mut session, &format!("call {table}_p()"), vec![]).await;
        assert_eq!(called.columns()[0].name, "a");
        assert_eq!(called.row(0).unwrap(), [Value::Integer(1)]);
        run(&mut session, &format!("drop procedure {table}_p"), vec![]).await;
    });
}

#[test]
fn rows_are_streamed_in_batches_and_the_stream_may_be_left() {
    on_reactor(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let feed: Feed<Arc<Rows>> = Feed::new(100, batch);
        session
            .stream(&Query::new("select seq from seq_1_to_10"), 4, &feed)
            .await
            .unwrap();
        assert!(format!("{feed:?}").starts_with("Feed(3 ready"), "{feed:?}");

        let feed: Feed<Arc<Rows>> = Feed::new(2, batch);
        let query = Query::new("select seq, repeat('x', 1000) from seq_1_to_3000000");
        let (key, started) = (session.key(), std::time::Instant::now());
        let leave = async {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            feed.close();
            driver.stop(key).await.unwrap();
        };
        let (streamed, ()) = tokio::join!(session.stream(&query, 100, &feed), leave);
        streamed.unwrap();
        assert!(
            started.elapsed().as_millis() < 2000,
            "{:?}",
            started.elapsed()
        );
        assert_eq!(
            value(&mut session, "select 1", vec![]).await,
            Value::Integer(1)
        );
    });
}

#[test]
fn the_parts_of_a_statements_time_are_told() {
    on_reactor(async {
        let mut session = open().await;
        for was_prepared in [false, true] {
            let timings = Arc::new(Timings::default());
            let query = Query {
                timings: Some(Arc::clone(&timings)),
                ..Query::new("select sleep(0.02), seq from seq_1_to_2")
            };
            session.run(&query).await.unwrap();
            assert!(timings.database().as_millis() >= 40, "{timings:?}");
            assert!(timings.decode().as_millis() < 40, "{timings:?}");
            assert_eq!(timings.was_prepared(), was_prepared);
        }
    });
}

#[test]
fn the_number_of_prepared_statements_is_bounded() {
    on_reactor(async {
        for statement_cache in [0, 50] {
            let options = DatabaseOptions {
                statement_cache,
                ..DatabaseOptions::default()
            };
            let mut session = MySql::new(&url(), &options)
                .unwrap()
                .connect()
                .await
                .unwrap();
            let started = std::time::Instant::now();
            for round in 0..300 {
                let sql = format!("select {}, ?", round % 100);
                let row = rows(&mut session, &sql, vec![text("x")]).await;
                assert_eq!(
                    row.row(0).unwrap(),
                    [Value::Integer(round % 100), text("x")]
                );
            }
            assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
            let sql = "show session status like 'Com_stmt_%'";
            let counts = rows(&mut session, sql, vec![]).await;
            let count = |name: &str| {
                let row = counts.iter().find(|row| row[0] == text(name)).unwrap();
                match &row[1] {
                    Value::Text(count) => count.parse::<usize>().unwrap(),
                    other => panic!("{other:?}"),
                }
            };
            let open = count("Com_stmt_prepare") - count("Com_stmt_close");
            assert!(
                open <= statement_cache.max(16),
                "{open} statements are kept prepared"
            );
        }
    });
}
