//! Servers that are killed, stopped for a while, restarted, or not there at all. Run it as
//! `bin/with-databases cargo test`. The tests take turns: they share the two servers.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use db_support::servers::{SERVERS, Server};
use db_support::*;
use fastr_core::db::{Database, DatabaseOptions, Query};
use fastr_core::error::DatabaseErrorKind;
use fastr_core::{Error, Outcome};

/// Puts the servers back on their feet when a test failed.
struct Turn(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Drop for Turn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            SERVERS.iter().for_each(|server| server.control("restart"));
        }
    }
}

fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    Turn(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn is_typed(error: &Error) -> bool {
    matches!(error, Error::Database(error) if matches!(
        error.kind,
        DatabaseErrorKind::Refused
            | DatabaseErrorKind::Connection
            | DatabaseErrorKind::ConnectionLost
            | DatabaseErrorKind::TransactionClosed
    ))
}

fn open_all(database: &Database, server: Server, size: usize) {
    let sleeps: Vec<Pending> = (0..size)
        .map(|_| start(database, Query::new(server.sleep(0.1))))
        .collect();
    sleeps
        .iter()
        .for_each(|pending| drop(pending.result().unwrap()));
    assert_eq!(database.stats().size, size);
}

#[test]
fn a_killed_server_is_named_at_once_and_found_again_after_its_restart() {
    let _turn = turn();
    for server in SERVERS {
        let database = server.of_size(4);
        open_all(&database, server, 4);
        let transaction = begin(&database);
        let running = start(&database, Query::new(server.sleep(30.0)));
        assert!(running.within(Duration::from_millis(100)).is_none());
        server.control("kill");
        // It only reads: it is repeated, and the repetition finds nobody.
        let lost = running.result().unwrap_err();
        assert!(is_typed(&lost), "{server:?} {lost:?}");
        let since = Instant::now();
        for _ in 0..50 {
            let error = start(&database, Query::new("select 1"))
                .result()
                .unwrap_err();
            assert!(is_typed(&error), "{server:?} {error:?}");
        }
        assert!(
            since.elapsed() < Duration::from_secs(2),
            "{server:?} {:?}",
            since.elapsed()
        );
        // An attempt that met the dying server was cut; the one after it finds nobody.
        assert!(eventually(
            || error(&database, "select 1").kind == DatabaseErrorKind::Refused
        ));
        let over = finishing(&database, transaction, true)
            .result()
            .unwrap_err();
        assert!(is_typed(&over), "{server:?} {over:?}");
        server.control("start");
        assert!(eventually(|| start(&database, Query::new("select 1"))
            .result()
            .is_ok()));
        open_all(&database, server, 4);
        let stats = database.stats();
        assert_eq!((stats.busy, stats.waiting), (0, 0));
        assert!(stats.reconnects >= 4, "{server:?} {stats:?}");
        assert!(database.close(PATIENCE));
    }
}

#[test]
fn after_a_restart_every_later_statement_works() {
    let _turn = turn();
    for server in SERVERS {
        let database = server.of_size(4);
        for word in ["restart", "kill"] {
            open_all(&database, server, 4);
            server.control(word);
            if word == "kill" {
                server.control("start");
            }
            for number in 0..20 {
                let result = start(&database, Query::new("select 1")).result();
                assert!(result.is_ok(), "{server:?} {word} {number} {result:?}");
            }
            let transaction = begin(&database);
            commit(&database, transaction);
        }
        assert_eq!(database.stats().busy, 0);
    }
}

#[test]
fn a_crowd_survives_a_server_that_is_killed_again_and_again() {
    let _turn = turn();
    for server in SERVERS {
        let database = server.of_size(4);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for seed in 0..8 {
                let (database, is_over) = (&database, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        live(server, database, seed);
                    }
                });
            }
            let _end = Over(&is_over);
            for _ in 0..3 {
                std::thread::sleep(Duration::from_millis(300));
                server.control("kill");
                std::thread::sleep(Duration::from_millis(200));
                server.control("start");
            }
        });
        assert!(eventually(|| start(&database, Query::new("select 1"))
            .result()
            .is_ok()));
        let at_rest = eventually(|| {
            let stats = database.stats();
            stats.busy == 0 && stats.waiting == 0 && stats.idle == stats.size
        });
        assert!(at_rest, "{server:?} {:?}", database.stats());
        assert!(!database.stats().transaction_open);
    }
}

/// Sends the crowd home, also when what they live through fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn live(server: Server, database: &Database, seed: u64) {
    let check = |result: Result<Outcome, Error>| {
        if let Err(error) = result {
            assert!(is_typed(&error), "{server:?} {error:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    check(start(database, Query::new("select 1")).result());
    if seed.is_multiple_of(2) {
        let opening = begin_with(database, fastr_core::db::BeginOptions::default());
        let id = match opening.result() {
            Ok(Outcome::Transaction(id)) => id,
            other => return check(other),
        };
        check(start(database, Query::new("select 2").within(id)).result());
        check(finishing(database, id, true).result());
    } else {
        let running = start(database, Query::new(server.sleep(5.0)));
        std::thread::sleep(Duration::from_millis(2));
        running.cancel();
        running.result().ok();
    }
}

#[test]
fn a_server_that_stands_still_ends_a_statement_with_a_limit_in_bounded_time() {
    let _turn = turn();
    for server in SERVERS {
        let database = server.of_size(1);
        assert_eq!(integer(&database, "select 1"), 1);
        server.control("pause");
        let limited = Query {
            timeout: Some(Duration::from_millis(100)),
            ..Query::new("select 1")
        };
        let since = Instant::now();
        let stopped = start(&database, limited).result();
        server.control("resume");
        // Only the keeper stands still where each connection is a process of its own.
        if let Err(Error::Database(error)) = stopped {
            assert_eq!(error.kind, DatabaseErrorKind::QueryTimeout, "{server:?}");
        }
        assert!(since.elapsed() < Duration::from_secs(4), "{server:?}");
        assert_eq!(integer(&database, "select 1"), 1);
    }
}

#[test]
fn an_address_without_a_server_is_refused_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    for scheme in ["postgres", "postgresql", "mysql", "mysql2", "mariadb"] {
        let url = format!("{scheme}://nobody:secret-word@127.0.0.1:{port}/nothing");
        let database = Database::open(&url, DatabaseOptions::default(), reactor()).unwrap();
        let since = Instant::now();
        let pending: Vec<Pending> = (0..100)
            .map(|_| start(&database, Query::new("select 1")))
            .collect();
        for pending in &pending {
            let error = pending.error();
            assert_kind(&error, DatabaseErrorKind::Refused, &port.to_string());
            assert!(!error.message.contains("secret-word"), "{}", error.message);
        }
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{:?}",
            since.elapsed()
        );
    }
}

#[test]
fn who_is_not_let_in_is_told_so_and_a_name_that_nobody_has_is_named() {
    let _turn = turn();
    for server in SERVERS {
        let url = server.url();
        let (scheme, rest) = url.split_once("://").unwrap();
        let (_, address) = rest.split_once('@').unwrap();
        let stranger = format!("{scheme}://stranger:secret-word@{address}");
        let database = Database::open(&stranger, DatabaseOptions::default(), reactor()).unwrap();
        let error1 = error(&database, "select 1");
        assert_eq!(
            error1.kind,
            DatabaseErrorKind::Authentication,
            "{server:?} {error1:?}"
        );
        let nowhere = format!("{scheme}://user@no-such-host.invalid/database");
        let database = Database::open(&nowhere, DatabaseOptions::default(), reactor()).unwrap();
        let error2 = error(&database, "select 1");
        assert_kind(
            &error2,
            DatabaseErrorKind::Connection,
            "no-such-host.invalid",
        );
    }
}

#[test]
fn a_host_that_never_answers_ends_the_wait_after_the_connect_timeout() {
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["postgres", "mysql"] {
        let options = DatabaseOptions {
            connect_timeout: Duration::from_millis(200),
            ..DatabaseOptions::default()
        };
        let url = format!("{scheme}://user@127.0.0.1:{port}/database");
        let database = Database::open(&url, options, reactor()).unwrap();
        let since = Instant::now();
        let late = error(&database, "select 1");
        assert_eq!(late.kind, DatabaseErrorKind::Connection, "{late:?}");
        assert!(since.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn an_unknown_scheme_names_the_known_ones() {
    let unknown = Database::open("oracle://x/y", DatabaseOptions::default(), reactor());
    let Err(Error::Database(error)) = unknown else {
        panic!("it is unknown");
    };
    assert_kind(&error, DatabaseErrorKind::Connection, "postgres://");
}
