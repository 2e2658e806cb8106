//! Streams through cursors, and subscriptions.

use std::sync::Arc;

use super::with_session;
use crate::db::feed::Feed;
use crate::db::query::Query;
use crate::db::row_stream;
use crate::db::rows::{Rows, TransactionId, Value};
use crate::db::server::driver::{Fate, Session};
use crate::event::{Completer, CompletionId, Outcome};
use crate::waiter::{Waited, Waiter};

fn feed() -> Arc<Feed<Arc<Rows>>> {
    Arc::new(Feed::new(2, row_stream::batch))
}

/// Takes everything a feed brings, from a thread of its own; the sizes of the batches.
fn taken(feed: &Arc<Feed<Arc<Rows>>>, at_most: usize) -> std::thread::JoinHandle<Vec<usize>> {
    let feed = Arc::clone(feed);
    std::thread::spawn(move || {
        let mut sizes = Vec::new();
        while sizes.len() < at_most {
            let waiter = Arc::new(Waiter::default());
            feed.next(Completer::waiter(Arc::clone(&waiter), CompletionId(1)));
            match waiter.wait(None) {
                Waited::Completed(Ok(Outcome::Rows(rows))) => sizes.push(rows.len()),
                _ => return sizes,
            }
        }
        feed.close();
        sizes
    })
}

#[test]
fn rows_come_in_batches_and_the_connection_goes_on() {
    with_session(|mut session| async move {
        for (binds, sizes) in [(25, vec![10, 10, 5]), (20, vec![10, 10]), (0, vec![])] {
            let feed = feed();
            let taking = taken(&feed, 100);
            let query = Query::new("select n, n::text as t from generate_series(1, $1) n")
                .binds(vec![Value::Integer(binds)]);
            session.stream(&query, 10, &feed).await.unwrap();
            feed.end(Ok(()));
            assert_eq!(taking.join().unwrap(), sizes);
            assert!(!session.is_in_transaction());
        }
        // Other columns under the same text of a fetch.
        let feed = feed();
        let taking = taken(&feed, 100);
        session
            .stream(&Query::new("select 1.5::numeric"), 10, &feed)
            .await
            .unwrap();
        feed.end(Ok(()));
        assert_eq!(taking.join().unwrap(), [1]);
    });
}

#[test]
fn a_stream_that_nobody_takes_ends_early() {
    with_session(|mut session| async move {
        let feed = feed();
        let taking = taken(&feed, 3);
        let query = Query::new("select generate_series(1, 1000000000)");
        session.stream(&query, 10, &feed).await.unwrap();
        assert_eq!(taking.join().unwrap().len(), 3);
        assert_eq!(
            session.value("select 7::int8", vec![]).await,
            Value::Integer(7)
        );
        assert!(!session.is_in_transaction());
    });
}

#[test]
fn a_stream_within_a_transaction_leaves_it_open() {
    with_session(|mut session| async move {
        session
            .run_all("begin; create temp table t as select 1 as a")
            .await;
        let feed = feed();
        let taking = taken(&feed, 100);
        let query = Query::new("select * from t").within(TransactionId(1));
        session.stream(&query, 10, &feed).await.unwrap();
        feed.end(Ok(()));
        assert_eq!(taking.join().unwrap(), [1]);
        assert!(session.is_in_transaction());
        assert_eq!(
            session.value("select count(*) from t", vec![]).await,
            Value::Integer(1)
        );
        session.run_all("rollback").await;
    });
}

#[test]
fn a_stream_that_fails_leaves_no_transaction() {
    with_session(|mut session| async move {
        for sql in [
            "select 1 / (n - 5) from generate_series(1, 10) n",
            "select wrong",
            "insert into nowhere values (1)",
        ] {
            let feed = feed();
            let taking = taken(&feed, 100);
            let failure = session
                .stream(&Query::new(sql), 2, &feed)
                .await
                .unwrap_err();
            assert_eq!(failure.fate, Fate::Usable, "{:?}", failure.error);
            feed.end(Err(failure.error.into()));
            taking.join().unwrap();
            session.run_all("begin; commit").await;
            assert!(!session.is_in_transaction());
            let question = "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'relation' and relation <> 'pg_locks'::regclass";
            assert_eq!(session.value(question, vec![]).await, Value::Integer(0));
        }
    });
}
