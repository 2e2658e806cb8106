//! The pool against a real PostgreSQL and a real MariaDB. Run it as `bin/with-databases cargo test`.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use db_support::servers::{SERVERS, Server};
use db_support::*;
use fastr_core::Outcome;
use fastr_core::db::{BeginOptions, Database, DatabaseOptions, Isolation, Query, Timings};
use fastr_core::error::DatabaseErrorKind;

/// A table of its own for each test: they run side by side.
fn with_table(server: Server, database: &Database, name: &str) {
    script(database, &format!("drop table if exists {name}"))
        .result()
        .unwrap();
    let options = match server {
        Server::PostgreSql => "",
        Server::MySql => " engine = innodb",
    };
    written(
        database,
        &*format!("create table {name} (n integer primary key){options}"),
    );
}

fn count(database: &Database, name: &str) -> i64 {
    integer(database, &*format!("select count(*) from {name}"))
}

/// How long a cancelled statement keeps the statement behind it waiting.
fn cancelled_at_200_ms(server: Server, database: &Database) -> Duration {
    let running = start(database, Query::new(server.sleep(3.0)));
    assert!(running.within(Duration::from_millis(200)).is_none());
    let waiting = start(database, Query::new("select 7"));
    let since = Instant::now();
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    waiting.result().unwrap();
    let freed = since.elapsed();
    assert_eq!(integer(database, "select 9"), 9, "the cancel hit the next");
    freed
}

#[test]
fn a_cancelled_statement_frees_its_connection_at_once() {
    for server in SERVERS {
        let database = server.of_size(1);
        // The best of some tries: a busy machine may take the processor away for longer than what is measured.
        let freed: Vec<Duration> = (0..4)
            .map(|_| cancelled_at_200_ms(server, &database))
            .collect();
        let best = freed.iter().min().unwrap();
        assert!(*best < Duration::from_millis(50), "{server:?} {freed:?}");
        assert_eq!(database.stats().reconnects, 0, "the connection was kept");
    }
}

#[test]
fn a_statement_past_its_limit_is_stopped_with_an_error_of_its_own() {
    for server in SERVERS {
        let database = server.of_size(1);
        let limited = Query {
            timeout: Some(Duration::from_millis(100)),
            ..Query::new(server.sleep(20.0))
        };
        let since = Instant::now();
        let stopped = error(&database, limited);
        assert_kind(&stopped, DatabaseErrorKind::QueryTimeout, "0.1 s");
        assert!(since.elapsed() < Duration::from_secs(2));
        assert_eq!(integer(&database, "select 1"), 1);
    }
}

#[test]
fn a_cancel_never_hits_the_next_statement() {
    for server in SERVERS {
        let database = server.of_size(1);
        for round in 0..300 {
            let sql = if round % 2 == 0 {
                server.sleep(0.001)
            } else {
                "select 1".into()
            };
            let victim = start(&database, Query::new(sql));
            let next = start(&database, Query::new("select 2"));
            if round % 3 > 0 {
                std::thread::sleep(Duration::from_micros(round * 7));
            }
            victim.cancel();
            victim.result().ok();
            assert!(next.result().is_ok(), "{server:?} {round}");
        }
        assert_eq!(database.stats().reconnects, 0, "the connection was kept");
    }
}

#[test]
fn forty_sleeps_on_twenty_connections_take_two_rounds() {
    for server in SERVERS {
        let database = server.of_size(20);
        let took: Vec<Duration> = (0..3)
            .map(|_| {
                let since = Instant::now();
                let sleeps: Vec<Pending> = (0..40)
                    .map(|_| start(&database, Query::new(server.sleep(0.2))))
                    .collect();
                sleeps
                    .iter()
                    .for_each(|pending| drop(pending.result().unwrap()));
                since.elapsed()
            })
            .collect();
        println!("{server:?} cold and warm: {took:?}");
        let best = took.iter().min().unwrap();
        assert!(*best < Duration::from_millis(450), "{server:?} {took:?}");
        assert!(took[0] < Duration::from_millis(1500), "{server:?} {took:?}");
        assert_eq!(database.stats().size, 20);
    }
}

#[test]
fn transactions_commit_roll_back_and_keep_their_order() {
    for server in SERVERS {
        let database = server.of_size(4);
        with_table(server, &database, "pool_transactions");
        let transaction = begin(&database);
        let inserts: Vec<Pending> = (0..50)
            .map(|number| {
                let sql = format!(
                    "insert into pool_transactions select {number} where (select count(*) from pool_transactions p) = {number}"
                );
                start(&database, Query::new(sql).within(transaction))
            })
            .collect();
        finishing(&database, transaction, true).result().unwrap();
        for insert in inserts {
            assert!(matches!(insert.result(), Ok(Outcome::Written(w)) if w.rows_affected == 1));
        }
        assert_eq!(count(&database, "pool_transactions"), 50);
        let transaction = begin(&database);
        written(
            &database,
            Query::new("delete from pool_transactions").within(transaction),
        );
        for sql in [
            "savepoint a",
            "rollback to savepoint a",
            "release savepoint a",
        ] {
            written(&database, Query::new(sql).within(transaction));
        }
        assert_eq!(
            count(&database, "pool_transactions"),
            50,
            "nobody else sees it"
        );
        roll_back(&database, transaction);
        assert_eq!(count(&database, "pool_transactions"), 50);
        for sql in ["begin", "start transaction", "commit", "rollback"] {
            assert_kind(
                &error(&database, sql),
                DatabaseErrorKind::Query,
                "`transaction`",
            );
        }
        let late = error(&database, Query::new("select 1").within(transaction));
        assert_kind(&late, DatabaseErrorKind::TransactionClosed, "rolled back");
        let options = BeginOptions {
            isolation: Some(Isolation::Serializable),
            read_only: true,
            ..BeginOptions::default()
        };
        let reading = transaction_of(&begin_with(&database, options));
        let write = Query::new("delete from pool_transactions").within(reading);
        error(&database, write);
        roll_back(&database, reading);
        let stats = database.stats();
        assert_eq!((stats.busy, stats.waiting, stats.reconnects), (0, 0, 0));
    }
}

#[test]
fn a_transaction_that_a_script_leaves_open_does_not_reach_the_next_user() {
    for server in SERVERS {
        let database = server.of_size(1);
        with_table(server, &database, "pool_left_open");
        let left = script(&database, "begin; insert into pool_left_open values (1)").error();
        assert_kind(&left, DatabaseErrorKind::Query, "left a transaction open");
        assert_eq!(count(&database, "pool_left_open"), 0);
        let transaction = begin(&database);
        let sneaky = Pending::new(|completer| {
            let sql = "insert into pool_left_open values (2); commit";
            Some(database.execute_script(sql, Some(transaction), completer))
        });
        assert_kind(
            &sneaky.error(),
            DatabaseErrorKind::TransactionClosed,
            "ended the transaction",
        );
        assert_eq!(count(&database, "pool_left_open"), 1);
    }
}

#[test]
fn an_idle_transaction_is_rolled_back() {
    for server in SERVERS {
        let database = server.open(DatabaseOptions {
            size: Some(1),
            idle_in_transaction: Duration::from_millis(100),
            ..DatabaseOptions::default()
        });
        with_table(server, &database, "pool_idle");
        let transaction = begin(&database);
        let insert = Query::new("insert into pool_idle values (1)").within(transaction);
        written(&database, insert);
        assert_eq!(count(&database, "pool_idle"), 0);
        let late = finishing(&database, transaction, true).error();
        assert_kind(
            &late,
            DatabaseErrorKind::TransactionClosed,
            "idle_in_transaction",
        );
    }
}

#[test]
fn two_transactions_that_wait_for_each_other_are_told_apart() {
    for server in SERVERS {
        let database = server.of_size(2);
        with_table(server, &database, "pool_deadlock");
        written(&database, "insert into pool_deadlock values (1), (2)");
        let lock = |transaction, number: i64| {
            let sql = format!("select n from pool_deadlock where n = {number} for update");
            start(&database, Query::new(sql).within(transaction))
        };
        let (first, second) = (begin(&database), begin(&database));
        lock(first, 1).result().unwrap();
        lock(second, 2).result().unwrap();
        let pending = [lock(first, 2), lock(second, 1)];
        let results = pending.map(|pending| pending.result());
        let failed = results.iter().filter(|result| result.is_err()).count();
        assert_eq!(failed, 1, "{server:?} {results:?}");
        // Where the loser's transaction is over already, it says so.
        finishing(&database, first, false).result().ok();
        finishing(&database, second, false).result().ok();
        assert_eq!(count(&database, "pool_deadlock"), 2);
        assert_eq!(database.stats().busy, 0);
    }
}

#[test]
fn a_commit_of_a_transaction_that_failed_is_an_error() {
    let database = Server::PostgreSql.of_size(1);
    with_table(Server::PostgreSql, &database, "pool_failed");
    let transaction = begin(&database);
    let insert = || Query::new("insert into pool_failed values (1)").within(transaction);
    written(&database, insert());
    let twice = error(&database, insert());
    assert_eq!(twice.kind, DatabaseErrorKind::Unique);
    let failed = finishing(&database, transaction, true).error();
    assert_kind(&failed, DatabaseErrorKind::TransactionClosed, "had failed");
    assert_eq!(count(&database, "pool_failed"), 0);
}

#[test]
fn two_hundred_statements_half_of_them_cancelled_leak_nothing() {
    for server in SERVERS {
        let database = server.of_size(2);
        let pending: Vec<Pending> = (0..200)
            .map(|number| match number % 2 {
                0 => start(&database, Query::new(server.sleep(30.0))),
                _ => start(&database, Query::new("select 1")),
            })
            .collect();
        for pending in pending.iter().step_by(2) {
            pending.cancel();
        }
        for (number, pending) in pending.iter().enumerate() {
            match number % 2 {
                0 => assert_eq!(pending.error().kind, DatabaseErrorKind::Cancelled),
                _ => assert!(pending.result().is_ok()),
            }
        }
        let stats = database.stats();
        assert_eq!((stats.busy, stats.waiting, stats.size), (0, 0, 2));
        assert_eq!(integer(&database, "select 1"), 1);
    }
}

/// One random life: what is begun is finished, what is started is awaited, some of it is cancelled.
fn live(server: Server, database: &Database, mut seed: u64) {
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let insert = || Query::new("insert into pool_crowd values (1)");
    for _ in 0..40 {
        match random(5) {
            0 => drop(start(database, Query::new("select count(*) from pool_crowd")).result()),
            1 => {
                let running = start(database, Query::new(server.sleep(10.0)));
                std::thread::sleep(Duration::from_micros(random(3000)));
                running.cancel();
                running.result().ok();
            }
            2 => {
                let limited = Query {
                    timeout: Some(Duration::from_micros(random(3000))),
                    ..Query::new(server.sleep(10.0))
                };
                assert!(start(database, limited).result().is_err());
            }
            _ => transact_at_random(database, insert(), &mut random),
        }
    }
}

#[test]
fn a_crowd_of_random_users_leaves_nothing_behind() {
    for server in SERVERS {
        let database = server.of_size(4);
        with_table(server, &database, "pool_crowd");
        std::thread::scope(|scope| {
            for seed in 0..10 {
                let database = &database;
                scope.spawn(move || live(server, database, seed));
            }
        });
        let stats = database.stats();
        assert_eq!((stats.busy, stats.waiting), (0, 0), "{stats:?}");
        assert!(!stats.transaction_open);
        assert_eq!(stats.idle, stats.size);
        written(&database, "delete from pool_crowd");
        assert!(database.close(PATIENCE));
    }
}

#[test]
fn a_stream_that_is_closed_early_gives_its_connection_back() {
    for server in SERVERS {
        let database = server.of_size(1);
        with_table(server, &database, "pool_stream");
        let numbers: Vec<String> = (0..1000).map(|number| format!("({number})")).collect();
        let insert = format!("insert into pool_stream values {}", numbers.join(","));
        written(&database, &*insert);
        let open = || {
            let opened = Pending::new(|completer| {
                let query = Query::new("select a.n from pool_stream a, pool_stream b");
                database.stream(query, 100, completer);
                None
            });
            match opened.result() {
                Ok(Outcome::Stream(stream)) => stream,
                other => panic!("expected a stream, got {other:?}"),
            }
        };
        for _ in 0..3 {
            let stream = open();
            for _ in 0..5 {
                let next = Pending::new(|completer| {
                    stream.next(completer);
                    None
                });
                assert!(matches!(next.result(), Ok(Outcome::Rows(rows)) if rows.len() == 100));
            }
            drop(stream);
            assert_eq!(count(&database, "pool_stream"), 1000);
        }
        assert_eq!(database.stats().reconnects, 0, "the connection was kept");
    }
}

#[test]
fn a_subscription_hears_what_is_notified() {
    let database = Server::PostgreSql.of_size(1);
    let subscribe = |database: &Database| {
        Pending::new(|completer| {
            database.listen(vec!["pool_jobs".into()], completer);
            None
        })
    };
    let Ok(Outcome::Subscription(feed)) = subscribe(&database).result() else {
        panic!("it listens");
    };
    let next = Pending::new(|completer| {
        feed.next(completer);
        None
    });
    script(&database, "notify pool_jobs, 'hello'")
        .result()
        .unwrap();
    assert!(matches!(next.result(), Ok(Outcome::Notified(_))));
    let waiting = Pending::new(|completer| {
        feed.next(completer);
        None
    });
    assert!(database.close(PATIENCE));
    assert!(matches!(waiting.result(), Ok(Outcome::Done)));
    let mysql = Server::MySql.of_size(1);
    let refused = subscribe(&mysql).result().unwrap_err();
    assert!(refused.to_string().contains("PostgreSQL"), "{refused}");
}

#[test]
fn timings_tell_the_queue_from_the_database() {
    for server in SERVERS {
        let database = server.of_size(1);
        let running = start(&database, Query::new(server.sleep(0.1)));
        let timings = Arc::new(Timings::default());
        let query = Query {
            timings: Some(Arc::clone(&timings)),
            ..Query::new(server.sleep(0.05))
        };
        start(&database, query).result().unwrap();
        running.result().unwrap();
        assert!(timings.queue() >= Duration::from_millis(90), "{timings:?}");
        assert!(
            timings.database() >= Duration::from_millis(45),
            "{timings:?}"
        );
        assert!(timings.database() < Duration::from_secs(1), "{timings:?}");
    }
}
