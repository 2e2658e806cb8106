//! Failures: their kind, the constraint, the way out, and what becomes of the connection.
use super::*;
use crate::db::server::driver::Fate;
use crate::error::{DatabaseErrorKind as Kind, ErrorCode};

#[test]
fn violated_constraints_are_named() {
    on_reactor(async {
        let mut session = open().await;
        let (parent, child) = (unique("parent"), unique("child"));
        session.script(&format!(
            "create table {parent} (id int primary key, email varchar(20) not null, age int check (age > 17), \
             note varchar(9) not null, unique key by_email (email)); \
             create table {child} (parent_id int, constraint {child}_fk foreign key (parent_id) references {parent} (id)); \
             insert into {parent} values (1, 'a', 20, ''); insert into {child} values (1)"
        )).await.unwrap();
        for (sql, kind, number, constraint) in [
            (
                format!("insert into {parent} values (2, 'a', 20, '')"),
                Kind::Unique,
                1062,
                "by_email".to_owned(),
            ),
            (
                format!("insert into {parent} values (1, 'b', 20, '')"),
                Kind::Unique,
                1062,
                "PRIMARY".into(),
            ),
            (
                format!("insert into {parent} values (3, null, 20, '')"),
                Kind::NotNull,
                1048,
                "email".into(),
            ),
            (
                format!("insert into {parent} (id, email) values (3, 'c')"),
                Kind::NotNull,
                1364,
                "note".into(),
            ),
            (
                format!("insert into {parent} values (3, 'c', 2, '')"),
                Kind::Check,
                4025,
                "age".into(),
            ),
            (
                format!("insert into {child} values (9)"),
                Kind::ForeignKey,
                1452,
                format!("{child}_fk"),
            ),
            (
                format!("delete from {parent}"),
                Kind::ForeignKey,
                1451,
                format!("{child}_fk"),
            ),
        ] {
            let failure = failure(&mut session, &sql, vec![]).await;
            assert_eq!(failure.fate, Fate::Usable);
            assert_eq!(failure.error.kind, kind, "{sql}");
            assert_eq!(failure.error.code, Some(ErrorCode::Number(number)), "{sql}");
            assert!(
                failure
                    .error
                    .constraint
                    .as_deref()
                    .is_some_and(|name| name.ends_with(&constraint)),
                "{:?}",
                failure.error
            );
            assert_eq!(failure.error.sql.as_deref(), Some(sql.as_str()));
        }
        session
            .script(&format!("drop table {child}, {parent}"))
            .await
            .unwrap();
    });
}

#[test]
fn what_cannot_be_sent_is_refused_before_it_costs_the_connection() {
    on_reactor(async {
        let mut session = open().await;
        let limit = match value(&mut session, "select @@max_allowed_packet", vec![]).await {
            Value::Integer(limit) => usize::try_from(limit).unwrap(),
            other => panic!("{other:?}"),
        };
        let failure = failure(
            &mut session,
            "select length(?)",
            vec![Value::Blob(vec![1; limit])],
        )
        .await;
        assert_eq!(failure.fate, Fate::Usable);
        assert_eq!(failure.error.code, Some(ErrorCode::Number(1153)));
        assert!(
            failure.error.message.contains("max_allowed_packet"),
            "{}",
            failure.error.message
        );
        let large = vec![2; limit - 200];
        let length = value(
            &mut session,
            "select length(?)",
            vec![Value::Blob(large.clone())],
        )
        .await;
        assert_eq!(length, Value::Integer(large.len().try_into().unwrap()));
        let echo = value(&mut session, "select ?", vec![Value::Blob(large.clone())]).await;
        assert!(echo == Value::Blob(large));
    });
}

#[test]
fn statements_that_are_not_one_statement_with_its_values_are_refused() {
    on_reactor(async {
        let mut session = open().await;
        for (sql, binds, reason) in [
            ("select ?", vec![], "1 placeholder(s), but 0"),
            ("select 1", vec![Value::Null], "0 placeholder(s), but 1"),
            ("select 1; select 2", vec![], "execute_script"),
            ("start transaction; drop table x", vec![], "execute_script"),
            ("set autocommit = 0", vec![], "`transaction`"),
            ("use mysql", vec![], "database.table"),
            ("lock tables t read", vec![], "execute_script"),
            ("selekt", vec![], "syntax"),
            ("", vec![], "empty"),
        ] {
            let failure = failure(&mut session, sql, binds).await;
            assert_eq!(failure.fate, Fate::Usable, "{sql}");
            assert_eq!(failure.error.kind, Kind::Query, "{sql}");
            assert!(
                failure.error.message.contains(reason),
                "{sql}: {}",
                failure.error.message
            );
        }
        assert_eq!(
            value(&mut session, "select 1;", vec![]).await,
            Value::Integer(1)
        );
        assert_eq!(value(&mut session, "select ';'", vec![]).await, text(";"));
    });
}

fn no_such_database() -> String {
    let url = url();
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/no_such_database")
}

#[test]
fn who_is_not_let_in_is_told_why() {
    on_reactor(async {
        let server = url_of("root");
        for (url, kind, reason) in [
            (
                url_of("nobody:s3cret"),
                Kind::Authentication,
                "check user and password",
            ),
            (no_such_database(), Kind::Connection, "create the database"),
            (
                "mysql://root@127.0.0.1:1/x".into(),
                Kind::Refused,
                "start the server",
            ),
            (
                "mysql://root@localhost/x?socket=/no/such.sock".into(),
                Kind::Refused,
                "socket's path",
            ),
            (
                format!("{server}?ssl-mode=verify_identity"),
                Kind::Connection,
                "cannot connect",
            ),
        ] {
            let driver = MySql::new(&url, &DatabaseOptions::default()).unwrap();
            let error = driver.connect().await.unwrap_err();
            assert_eq!(error.kind, kind, "{url}: {error:?}");
            assert!(error.message.contains(reason), "{}", error.message);
            assert!(!format!("{error:?} {driver:?}").contains("s3cret"));
        }
    });
}

#[test]
fn locks_that_are_not_given_have_kinds_of_their_own() {
    on_reactor(async {
        let (mut one, mut two) = (open().await, open().await);
        let table = unique("locks");
        one.script(&format!("create table {table} (id int primary key, n int) engine=innodb; insert into {table} values (1, 0), (2, 0)")).await.unwrap();
        for session in [&mut one, &mut two] {
            run(session, "set innodb_lock_wait_timeout = 1", vec![]).await;
            run(session, "start transaction", vec![]).await;
        }
        let update = format!("update {table} set n = n + 1 where id = ?");
        run(&mut one, &update, vec![Value::Integer(1)]).await;
        run(&mut two, &update, vec![Value::Integer(2)]).await;
        let timeout = error(&mut two, &update, vec![Value::Integer(1)]).await;
        assert_eq!(timeout.kind, Kind::LockTimeout);
        assert!(
            two.is_in_transaction(),
            "only the statement was rolled back"
        );
        let (query_one, query_two) = (
            Query::new(&update).binds(vec![Value::Integer(2)]),
            Query::new(&update).binds(vec![Value::Integer(1)]),
        );
        let (left, right) = tokio::join!(one.run(&query_one), two.run(&query_two));
        let (loser, failure) = match (left, right) {
            (Err(failure), Ok(_)) => (&one, failure),
            (Ok(_), Err(failure)) => (&two, failure),
            both => panic!("exactly one has to give way: {both:?}"),
        };
        assert_eq!(failure.error.kind, Kind::Deadlock);
        assert!(failure.error.message.contains("run it again"));
        assert!(
            !loser.is_in_transaction(),
            "a deadlock rolls the whole transaction back"
        );
        for session in [&mut one, &mut two] {
            run(session, "rollback", vec![]).await;
        }
        run(&mut one, &format!("drop table {table}"), vec![]).await;
    });
}

#[test]
fn a_connection_that_the_server_closes_is_lost() {
    on_reactor(async {
        let (mut session, mut killer) = (open().await, open().await);
        run(&mut killer, &format!("kill {}", session.key().0), vec![]).await;
        let failure = failure(&mut session, "select 1", vec![]).await;
        assert_eq!(failure.fate, Fate::Lost { repeatable: true }, "{failure:?}");
        assert_eq!(failure.error.kind, Kind::ConnectionLost);
        assert!(!session.ping(std::time::Duration::from_secs(1)).await);

        let mut session = open().await;
        let table = unique("lost");
        let insert = format!("insert into {table} values (1)");
        run(
            &mut killer,
            &format!("create table {table} (a int)"),
            vec![],
        )
        .await;
        run(&mut session, &insert, vec![]).await;
        run(&mut killer, &format!("kill {}", session.key().0), vec![]).await;
        let failure = super::failure(&mut session, &insert, vec![]).await;
        assert_eq!(
            failure.fate,
            Fate::Lost { repeatable: false },
            "a write is never repeated on suspicion"
        );
        run(&mut killer, &format!("drop table {table}"), vec![]).await;
    });
}

/// Passes bytes on between a client and the server until it is told to cut.
async fn fragile_address() -> (String, tokio::sync::oneshot::Sender<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = url_of("x").rsplit_once('@').unwrap().1.to_owned();
    let (cut, is_cut) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = tokio::net::TcpStream::connect(server).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
            _ = is_cut => {}
        }
    });
    let url = url();
    let user = url.split_once("://").unwrap().1.rsplit_once('@').unwrap().0;
    (format!("mysql://{user}@{address}"), cut)
}

#[test]
fn a_connection_that_breaks_under_a_statement_is_lost() {
    on_reactor(async {
        for (sql, repeatable) in [("select sleep(5)", true), ("set @a = sleep(5)", false)] {
            let (url, cut) = fragile_address().await;
            let driver = MySql::new(&url, &DatabaseOptions::default()).unwrap();
            let mut session = driver.connect().await.unwrap();
            let query = Query::new(sql);
            let cutting = async {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                cut.send(()).unwrap();
            };
            let (result, ()) = tokio::join!(session.run(&query), cutting);
            let failure = result.unwrap_err();
            assert_eq!(failure.error.kind, Kind::ConnectionLost, "{failure:?}");
            assert_eq!(failure.fate, Fate::Lost { repeatable }, "{sql}");
            assert!(!session.ping(std::time::Duration::from_secs(1)).await);
        }
    });
}
