//! Statements that are stopped from outside, again and again, beside others that must not notice.
use std::time::{Duration, Instant};

use super::*;
use crate::db::server::driver::Fate;
use crate::error::DatabaseErrorKind as Kind;

#[test]
fn a_statement_is_stopped_at_once_and_the_connection_goes_on() {
    on_reactor(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        let started = Instant::now();
        let query = Query::new(
            "select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0",
        );
        let stop = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            driver.stop(key).await.unwrap();
        };
        let (result, ()) = tokio::join!(session.run(&query), stop);
        let failure = result.unwrap_err();
        assert_eq!(
            (failure.error.kind, failure.fate),
            (Kind::Cancelled, Fate::Usable)
        );
        assert!(
            started.elapsed() < Duration::from_secs(1),
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
fn a_stop_never_reaches_the_next_statement() {
    on_reactor(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        let (mut stopped, mut too_late) = (0, 0);
        for round in 0..3000_u64 {
            // From much shorter to much longer than it takes to stop it.
            let length = 1000 + round % 50 * 4000;
            let query = Query::new("select sum(seq) from seq_1_to_1000000 where seq < ?")
                .binds(vec![Value::from(length)]);
            let stop = async {
                for _ in 0..round % 40 {
                    tokio::task::yield_now().await;
                }
                if round % 3 == 0 {
                    tokio::time::sleep(Duration::from_millis(round % 2 + 1)).await;
                }
                driver.stop(key).await.unwrap();
            };
            match tokio::join!(session.run(&query), stop).0 {
                Ok(_) => too_late += 1,
                Err(failure) => {
                    assert_eq!(failure.error.kind, Kind::Cancelled, "{failure:?}");
                    stopped += 1;
                }
            }
            let next = value(&mut session, "select ?", vec![Value::Integer(round as i64)]).await;
            assert_eq!(next, Value::Integer(round as i64));
        }
        println!("{stopped} stopped, {too_late} too late");
        assert!(
            stopped > 0 && too_late > 0,
            "{stopped} stopped, {too_late} too late"
        );
    });
}

#[test]
fn a_stop_that_comes_before_the_statement_reaches_the_server_is_heeded() {
    on_reactor(async {
        let driver = driver();
        let mut session = driver.connect().await.unwrap();
        let (key, mut again) = (session.key(), 0);
        for round in 0..50 {
            let started = Instant::now();
            // The first execution is prepared first; the stop comes before, while or after that.
            let query = Query::new(format!("select sleep(20), {round}"));
            let has_ended = std::cell::Cell::new(false);
            let statement = async {
                drop(session.run(&query).await);
                has_ended.set(true);
            };
            let stop = async {
                for _ in 0..round % 10 {
                    tokio::task::yield_now().await;
                }
                driver.stop(key).await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
                while !has_ended.get() {
                    // Between its last look and the server's first the statement cannot be reached; ask again.
                    again += 1;
                    driver.stop(key).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            };
            tokio::join!(statement, stop);
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "{:?}",
                started.elapsed()
            );
        }
        println!("{again} stopped again");
        assert!(again < 10, "{again} of 50 had to be stopped again");
    });
}

#[test]
fn who_is_gone_cannot_be_stopped() {
    on_reactor(async {
        let driver = driver();
        let session = driver.connect().await.unwrap();
        let key = session.key();
        session.close().await;
        driver.stop(key).await.unwrap();
    });
}

#[test]
fn the_connection_that_stops_others_is_replaced_when_it_breaks() {
    on_reactor(async {
        let user = unique("side").replace("fastr_", "s");
        let mut killer = open().await;
        run(&mut killer, &format!("create user {user}@'%'"), vec![]).await;
        let driver = MySql::new(&url_of(&user), &DatabaseOptions::default()).unwrap();
        let mut session = driver.connect().await.unwrap();
        let key = session.key();
        driver.stop(key).await.unwrap();
        let sql = "select id from information_schema.processlist where user = ? and id <> ?";
        let id = Value::from(key.0);
        let side = value(&mut killer, sql, vec![text(&user), id.clone()]).await;
        run(&mut killer, "kill ?", vec![side.clone()]).await;

        let started = Instant::now();
        let query = Query::new("select sleep(5)");
        let stop = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            driver.stop(key).await.unwrap();
        };
        let _ = tokio::join!(session.run(&query), stop);
        assert!(
            started.elapsed() < Duration::from_secs(1),
            "{:?}",
            started.elapsed()
        );
        let other = value(&mut killer, sql, vec![text(&user), id]).await;
        assert_ne!(other, side);
        run(&mut killer, &format!("drop user {user}"), vec![]).await;
    });
}
