//! Closing, streams and subscriptions.

use super::*;
use crate::db::refusal::CLOSED;

#[test]
fn closing_answers_what_waits_stops_what_runs_and_says_good_bye() {
    let bench = Bench::of_size(2);
    let transaction = bench.begin();
    let running = bench.start("sleep 60000");
    assert!(eventually(|| bench.server.stats().busy == 2));
    let waiting = bench.start("select 1");
    let since = Instant::now();
    assert!(bench.server.close(PATIENCE));
    assert!(since.elapsed() < Duration::from_secs(2));
    assert_kind(&waiting.error(), DatabaseErrorKind::Connection, CLOSED);
    assert_eq!(running.kind(), DatabaseErrorKind::Cancelled);
    let late = bench.finishing(transaction, true);
    assert_kind(&late.error(), DatabaseErrorKind::Connection, CLOSED);
    assert_kind(
        &bench.start("select 1").error(),
        DatabaseErrorKind::Connection,
        CLOSED,
    );
    assert_eq!(bench.world.sessions(), 0);
    assert_eq!(
        bench
            .world
            .goodbyes
            .load(std::sync::atomic::Ordering::SeqCst),
        2
    );
}

#[test]
fn closing_does_not_wait_for_a_connect() {
    let bench = Bench::of_size(1);
    *lock(&bench.world.delay) = Duration::from_secs(3600);
    let waiting = bench.start("select 1");
    let since = Instant::now();
    assert!(bench.server.close(PATIENCE));
    assert!(since.elapsed() < Duration::from_secs(2));
    assert_eq!(waiting.kind(), DatabaseErrorKind::Connection);
}

#[test]
fn a_stream_hands_over_batches_and_closing_it_frees_the_connection() {
    let bench = Bench::of_size(1);
    let open = |batches| {
        let opened = Pending::new(|completer| {
            bench
                .server
                .stream(Query::new("select 1"), batches, completer);
            None
        });
        match opened.result() {
            Ok(Outcome::Stream(stream)) => stream,
            other => panic!("expected a stream, got {other:?}"),
        }
    };
    let next = |stream: &crate::db::RowStream| {
        Pending::new(|completer| {
            stream.next(completer);
            None
        })
        .result()
    };
    let stream = open(5);
    for _ in 0..5 {
        assert!(matches!(next(&stream), Ok(Outcome::Rows(_))));
    }
    assert!(matches!(next(&stream), Ok(Outcome::Done)));
    let stream = open(1_000_000);
    assert!(matches!(next(&stream), Ok(Outcome::Rows(_))));
    stream.close();
    bench.run("select 1");
    drop(open(1_000_000));
    bench.run("select 1");
    assert_eq!(
        bench.world.stops.load(std::sync::atomic::Ordering::SeqCst),
        0,
        "they ended by themselves"
    );
    let refused = Pending::new(|completer| {
        bench.server.stream(Query::new("begin"), 1, completer);
        None
    });
    let Ok(Outcome::Stream(stream)) = refused.result() else {
        panic!("a stream comes at once");
    };
    assert!(
        matches!(next(&stream), Err(Error::Database(error)) if error.message.contains("`transaction`"))
    );
    bench.assert_at_rest();
}

#[test]
fn a_subscription_delivers_until_the_database_is_closed() {
    let bench = Bench::of_size(1);
    let listen = |channels: &[&str]| {
        Pending::new(|completer| {
            let channels = channels.iter().map(ToString::to_string).collect();
            bench.server.listen(channels, completer);
            None
        })
    };
    assert_kind(&listen(&[]).error(), DatabaseErrorKind::Query, "no channel");
    let Ok(Outcome::Subscription(feed)) = listen(&["jobs"]).result() else {
        panic!("it listens");
    };
    let next = || {
        Pending::new(|completer| {
            feed.next(completer);
            None
        })
    };
    assert!(matches!(next().result(), Ok(Outcome::Notified(_))));
    let waiting = next();
    assert!(bench.server.close(PATIENCE));
    assert!(matches!(waiting.result(), Ok(Outcome::Done)));
    assert_kind(
        &listen(&["jobs"]).error(),
        DatabaseErrorKind::Connection,
        CLOSED,
    );
}
