//! Waiting, cancelling, timing out, opening and closing.
#![allow(clippy::unwrap_used)]

mod db_support;

use std::time::{Duration, Instant};

use db_support::*;
use fastr_core::Outcome;
use fastr_core::db::{BeginOptions, Database, DatabaseOptions, Query, Value};
use fastr_core::error::DatabaseErrorKind;

fn readers(readers: usize) -> DatabaseOptions {
    DatabaseOptions {
        size: Some(readers),
        ..DatabaseOptions::default()
    }
}

fn endless() -> Query {
    Query::new(ENDLESS)
}

/// How long a cancelled query keeps the query behind it waiting.
fn cancelled_at_200_ms(database: &Database) -> Duration {
    let running = start(database, endless());
    assert!(running.within(Duration::from_millis(200)).is_none());
    let waiting = start(database, Query::new("select 7"));
    let since = Instant::now();
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    waiting.result().unwrap();
    let freed = since.elapsed();
    running.cancel();
    assert_eq!(
        integer(database, "select 9"),
        9,
        "a late cancel hit the next query"
    );
    freed
}

#[test]
fn a_cancelled_query_frees_its_connection_at_once() {
    let database = file_with(readers(1));
    // The best of some tries: a busy machine may take the processor away for longer than what is measured.
    let freed = (0..5)
        .map(|_| cancelled_at_200_ms(&database))
        .find(|freed| *freed < Duration::from_millis(50));
    assert!(freed.is_some());
    assert_eq!(database.stats().size, 1, "the connection was kept");
}

#[test]
fn a_cancelled_waiter_leaves_the_queue_at_once() {
    let database = file_with(readers(1));
    let running = start(&database, endless());
    let waiting = start(&database, Query::new("select 1"));
    assert_eq!(database.stats().waiting, 1);
    waiting.cancel();
    assert_eq!(waiting.error().kind, DatabaseErrorKind::Cancelled);
    assert_eq!(database.stats().waiting, 0);
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
}

#[test]
fn a_query_past_its_limit_is_stopped() {
    let database = file();
    let limited = Query {
        timeout: Some(Duration::from_millis(100)),
        ..endless()
    };
    let since = Instant::now();
    let stopped = error(&database, limited);
    assert_kind(&stopped, DatabaseErrorKind::QueryTimeout, "0.1 s");
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(integer(&database, "select 1"), 1);
}

#[test]
fn the_default_query_limit_is_the_databases() {
    let database = file_with(DatabaseOptions {
        query_timeout: Some(Duration::from_millis(50)),
        ..DatabaseOptions::default()
    });
    assert_eq!(
        error(&database, endless()).kind,
        DatabaseErrorKind::QueryTimeout
    );
}

#[test]
fn a_waiter_past_its_deadline_is_answered_on_time() {
    let database = file_with(DatabaseOptions {
        pool_timeout: Duration::from_millis(100),
        ..readers(1)
    });
    let running = start(&database, endless());
    assert!(eventually(|| database.stats().busy == 1));
    for _ in 0..2 {
        let since = Instant::now();
        let late = error(&database, "select 1");
        let waited = since.elapsed();
        assert!(waited >= Duration::from_millis(100), "{waited:?}");
        assert!(waited < Duration::from_millis(500), "{waited:?}");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "size 1, busy 1");
        assert_kind(&late, DatabaseErrorKind::PoolTimeout, "with recursive");
    }
    assert_eq!(database.stats().timeouts, 2);
    running.cancel();
    assert_eq!(running.error().kind, DatabaseErrorKind::Cancelled);
    assert_eq!(integer(&database, "select 1"), 1);
}

#[test]
fn a_writer_behind_a_transaction_times_out_too() {
    let database = file_with(DatabaseOptions {
        pool_timeout: Duration::from_millis(50),
        ..DatabaseOptions::default()
    });
    let transaction = begin(&database);
    let late = error(&database, "create table t (n)");
    assert_kind(
        &late,
        DatabaseErrorKind::PoolTimeout,
        "transaction 1 has been open",
    );
    let late = begin_with(&database, BeginOptions::default()).error();
    assert_eq!(late.kind, DatabaseErrorKind::PoolTimeout);
    commit(&database, transaction);
    written(&database, "create table t (n)");
}

#[test]
fn one_waiter_too_many_is_refused_at_once() {
    let database = file_with(DatabaseOptions {
        max_waiting: 3,
        ..readers(1)
    });
    let running = start(&database, endless());
    assert!(eventually(|| database.stats().busy == 1));
    let waiting: Vec<Pending> = (0..3)
        .map(|_| start(&database, Query::new("select 1")))
        .collect();
    let refused = error(&database, "select 1");
    assert_kind(&refused, DatabaseErrorKind::PoolTimeout, "waiting 3");
    running.cancel();
    for pending in waiting {
        pending.result().unwrap();
    }
}

#[test]
fn two_hundred_queries_half_of_them_cancelled_leak_nothing() {
    let database = file_with(readers(2));
    let pending: Vec<Pending> = (0..200)
        .map(|number| match number % 2 {
            0 => start(&database, endless()),
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
    let again: Vec<Pending> = (0..50)
        .map(|_| start(&database, Query::new("select 1")))
        .collect();
    assert!(again.iter().all(|pending| pending.result().is_ok()));
}

#[test]
fn a_cancel_never_hits_the_next_query() {
    let database = file_with(readers(1));
    for _ in 0..2000 {
        let victim = start(&database, Query::new("select 1"));
        let next = start(&database, Query::new("select 2"));
        victim.cancel();
        victim.result().ok();
        assert!(next.result().is_ok());
    }
}

#[test]
fn low_load_stays_on_one_reader_and_more_come_as_needed() {
    let database = file();
    for _ in 0..100 {
        assert_eq!(integer(&database, "select 1"), 1);
    }
    assert_eq!(database.stats().size, 1);
    let running: Vec<Pending> = (0..4).map(|_| start(&database, endless())).collect();
    assert!(eventually(|| database.stats().busy == 4));
    assert_eq!(database.stats().size, 4);
    running.iter().for_each(Pending::cancel);
    running.iter().for_each(|pending| drop(pending.result()));
    let stats = database.stats();
    assert_eq!((stats.idle, stats.busy), (4, 0));
}

#[test]
fn many_threads_get_their_own_answers() {
    let database = file();
    written(&database, "create table t (thread integer, n integer)");
    std::thread::scope(|scope| {
        for thread in 0..8_i64 {
            let database = &database;
            scope.spawn(move || {
                for number in 0..100_i64 {
                    let binds = vec![Value::Integer(thread), Value::Integer(number)];
                    written(
                        database,
                        Query::new("insert into t values (?, ?)").binds(binds),
                    );
                    let own = Query::new("select count(*) from t where thread = ?");
                    let count = integer(database, own.binds(vec![Value::Integer(thread)]));
                    assert_eq!(count, number + 1);
                }
            });
        }
    });
    assert_eq!(integer(&database, "select count(*) from t"), 800);
}

#[test]
fn results_arrive_on_the_event_queue() {
    use fastr_core::queue::{Drained, EventQueue};
    use fastr_core::{Completer, CompletionId, Event};
    let database = file();
    let queue = std::sync::Arc::new(EventQueue::default());
    let completer = Completer::queue(std::sync::Arc::clone(&queue), CompletionId(7));
    database.submit(Query::new("select 1"), completer);
    let mut batch = Vec::new();
    assert_eq!(queue.drain(&mut batch, Some(PATIENCE)), Drained::Events);
    assert!(matches!(
        batch[..],
        [Event::Completion(CompletionId(7), Ok(Outcome::Rows(_)))]
    ));
}

fn start_quietly(database: &Database, query: Query) -> Pending {
    Pending::new(|completer| Some(database.submit_quietly(query, completer)))
}

#[test]
fn statements_submitted_quietly_run_once_somebody_is_roused() {
    let database = file();
    written(&database, "create table t (n)");
    assert_eq!(integer(&database, "select 1"), 1);
    // A reader that has just answered may still be awake and take what it finds.
    std::thread::sleep(Duration::from_millis(20));
    let quiet: Vec<Pending> = (0..20)
        .map(|_| start_quietly(&database, Query::new("select 1")))
        .collect();
    let insert = start_quietly(&database, Query::new("insert into t values (1)"));
    assert!(insert.within(Duration::from_millis(20)).is_none());
    quiet[7].cancel();
    assert_eq!(quiet[7].error().kind, DatabaseErrorKind::Cancelled);
    database.rouse();
    insert.result().unwrap();
    let others = quiet.iter().enumerate().filter(|(index, _)| *index != 7);
    for (_, pending) in others {
        pending.result().unwrap();
    }
    database.rouse();
    assert_eq!(database.stats().busy, 0);
}

#[test]
fn a_slow_quiet_statement_does_not_hold_back_the_next_ones() {
    let database = file();
    let slow = start_quietly(&database, endless());
    let fast = start_quietly(&database, Query::new("select 1"));
    database.rouse();
    fast.result().unwrap();
    slow.cancel();
    assert_eq!(slow.error().kind, DatabaseErrorKind::Cancelled);
}

#[test]
fn what_waits_quietly_is_answered_when_the_database_closes() {
    let database = file();
    let quiet = start_quietly(&database, Query::new("select 1"));
    assert!(database.close(PATIENCE));
    assert_eq!(quiet.error().kind, DatabaseErrorKind::Connection);
    database.rouse();
}

/// One random life: what is begun is finished, what is started is awaited, some of it is cancelled.
fn live(database: &Database, mut seed: u64) {
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let insert = || Query::new("insert into t values (1)");
    for _ in 0..150 {
        match random(6) {
            0 => drop(start(database, Query::new("select count(*) from t")).result()),
            1 => drop(start(database, insert()).result()),
            2 => {
                let running = start(database, Query::new(ENDLESS));
                std::thread::sleep(Duration::from_micros(random(300)));
                running.cancel();
                running.result().ok();
            }
            3 => {
                let limited = Query {
                    timeout: Some(Duration::from_micros(random(500))),
                    ..Query::new(ENDLESS)
                };
                assert!(start(database, limited).result().is_err());
            }
            _ => transact_at_random(database, insert(), &mut random),
        }
    }
}

#[test]
fn a_crowd_of_random_users_leaves_nothing_behind() {
    let database = file();
    written(&database, "create table t (n)");
    std::thread::scope(|scope| {
        for seed in 0..12 {
            let database = &database;
            scope.spawn(move || live(database, seed));
        }
    });
    let stats = database.stats();
    assert_eq!((stats.busy, stats.waiting), (0, 0));
    assert!(!stats.transaction_open);
    assert_eq!(stats.idle, stats.size);
    written(&database, "delete from t");
    assert!(database.close(PATIENCE));
}
