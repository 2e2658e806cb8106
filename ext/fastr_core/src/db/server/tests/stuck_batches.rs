//! Batches in which somebody cancels, runs out of time or does not end: who is told what, and that nobody hangs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const LONG: &str = "select sleep 60000";

fn stops(bench: &Bench) -> usize {
    bench.world.stops.load(Ordering::SeqCst)
}

/// The batch that was rushed runs.
fn begun(bench: &Bench) {
    assert!(eventually(|| !bench.batches().is_empty()));
}

#[test]
fn a_cancelled_read_in_a_batch_is_told_at_once_and_the_others_run_on() {
    for victim in 1..4 {
        let bench = Bench::of_size(1);
        let pending = bench.rush(&[
            "select sleep 200",
            "select log a",
            "select log b",
            "select 1",
        ]);
        begun(&bench);
        let before = stops(&bench);
        pending[victim].cancel();
        assert_eq!(pending[victim].kind(), DatabaseErrorKind::Cancelled);
        assert!(
            pending[0].within(Duration::ZERO).is_none(),
            "not at its turn"
        );
        for (index, pending) in pending.iter().enumerate() {
            assert!(index == victim || pending.result().is_ok());
        }
        assert_eq!(stops(&bench), before, "nobody was stopped");
        bench.assert_at_rest();
    }
}

#[test]
fn a_cancelled_write_in_a_batch_says_what_became_of_it() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&["select sleep 100", "update log a"]);
    begun(&bench);
    pending[1].cancel();
    assert!(matches!(pending[1].result(), Ok(Outcome::Written(_))));
    assert_eq!(bench.world.log(), ["a"]);
}

#[test]
fn a_cancelled_first_one_does_not_keep_the_others_for_long() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&[LONG, "select log a", "select log b"]);
    begun(&bench);
    pending[0].cancel();
    assert_eq!(pending[0].kind(), DatabaseErrorKind::Cancelled);
    for pending in &pending[1..] {
        pending.result().unwrap();
    }
    assert_eq!(bench.world.log(), ["a", "b"]);
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    bench.assert_at_rest();
}

#[test]
fn a_batch_that_nobody_wants_frees_its_connection_at_once() {
    let bench = Bench::of_size(1);
    let freed = (0..5).map(|_| {
        let pending = bench.rush(&[LONG, "select 1", LONG]);
        assert!(pending[0].within(Duration::from_millis(30)).is_none());
        let since = Instant::now();
        pending.iter().for_each(Pending::cancel);
        bench.run("select 1");
        let freed = since.elapsed();
        for pending in pending {
            assert_eq!(pending.kind(), DatabaseErrorKind::Cancelled);
        }
        freed
    });
    let freed: Vec<Duration> = freed.collect();
    assert!(
        freed
            .iter()
            .any(|freed| *freed < Duration::from_millis(100)),
        "{freed:?}"
    );
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
}

#[test]
fn who_waits_for_a_lock_is_moved_out_of_the_way_of_who_gives_it_back() {
    let bench = Bench::of_size(1);
    bench.world.is_locked.store(true, Ordering::SeqCst);
    let pending = bench.rush(&["select lock", "select log a", "select unlock"]);
    for pending in &pending {
        pending.result().unwrap();
    }
    assert_eq!(bench.batches()[0].len(), 3);
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    assert_eq!(bench.server.stats().queries, 4);
    bench.assert_at_rest();
}

#[test]
fn who_kept_others_waiting_does_so_once() {
    let bench = Bench::of_size(1);
    let slow = "select sleep 60";
    for pending in bench.rush(&[slow, "select 1"]) {
        pending.result().unwrap();
    }
    assert_eq!(bench.batches(), [[slow, "select 1"]]);
    let busy = bench.occupy();
    let quick = ["select 2", "select 3"];
    quick.iter().for_each(|sql| bench.trust(sql));
    let pending = [slow, quick[0], quick[1]].map(|sql| bench.start(sql));
    busy[0].cancel();
    for pending in pending {
        pending.result().unwrap();
    }
    assert_eq!(bench.batches()[1..], [quick]);
}

#[test]
fn the_limit_of_a_statement_counts_from_its_turn() {
    let bench = Bench::new(DatabaseOptions {
        query_timeout: Some(Duration::from_secs(1)),
        ..sized(1)
    });
    let pending = bench.rush(&["select 1", LONG]);
    pending[0].result().unwrap();
    assert_kind(
        &pending[1].error(),
        DatabaseErrorKind::QueryTimeout,
        "1.0 s",
    );
    let pending = bench.rush(&[LONG, "select 1", "select 2"]);
    let since = Instant::now();
    pending[1].result().unwrap();
    pending[2].result().unwrap();
    assert_eq!(pending[0].kind(), DatabaseErrorKind::QueryTimeout);
    assert!(since.elapsed() >= Duration::from_secs(1));
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    bench.assert_at_rest();
}

#[test]
fn a_stop_that_hits_another_statement_costs_it_nothing() {
    let bench = Bench::of_size(1);
    for round in 0..60 {
        *lock(&bench.world.delay) = Duration::from_millis(round % 6);
        let statements = ["select sleep 8", "select sleep 9", "select sleep 7"];
        let pending = bench.rush(&statements);
        // The last one is wanted again when the stop of the first two is on its way.
        pending[0].cancel();
        std::thread::sleep(Duration::from_micros(round * 100));
        pending[1].cancel();
        for cancelled in &pending[..2] {
            cancelled.result().ok();
        }
        pending[2].result().unwrap();
    }
    bench.assert_at_rest();
}

#[test]
fn who_is_hit_by_the_stop_of_another_runs_again() {
    let bench = Bench::of_size(1);
    // The stop of the first one, which is overdue, arrives while the second one runs.
    *lock(&bench.world.delay) = Duration::from_millis(40);
    let pending = bench.rush(&["select sleep 270", "select sleep 100", "select log a"]);
    for pending in &pending {
        pending.result().unwrap();
    }
    assert_eq!(bench.world.log(), ["a"]);
    assert!(
        stops(&bench) > 1,
        "the first one of them freed the connection"
    );
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 1);
    bench.assert_at_rest();
}

#[test]
fn what_does_not_even_end_then_costs_the_connection() {
    let bench = Bench::of_size(1);
    let pending = bench.rush(&["select stuck", "select 1", "update log a"]);
    begun(&bench);
    pending[0].cancel();
    assert_eq!(pending[0].kind(), DatabaseErrorKind::Cancelled);
    for pending in &pending[1..] {
        assert_kind(
            &pending.error(),
            DatabaseErrorKind::ConnectionLost,
            "effect is unknown",
        );
    }
    bench.run("select 1");
    assert_eq!(bench.world.connects.load(Ordering::SeqCst), 2);
    bench.assert_at_rest();
}

/// Starts a statement and counts its answers.
fn counted(bench: &Bench, sql: &str, answers: &Arc<AtomicUsize>) -> CancelHandle {
    let answers = Arc::clone(answers);
    let completer = Completer::call(move |_| {
        answers.fetch_add(1, Ordering::SeqCst);
    });
    bench.server.submit(Query::new(sql), completer)
}

const MIX: [&str; 8] = [
    "select 1",
    "select 2",
    "select 3",
    "select sleep 1",
    "select log x",
    "select wrong",
    "update 1",
    "select sleep 12",
];

fn rush_at_random(bench: &Bench, seed: u64) -> Vec<Arc<AtomicUsize>> {
    let mut dice = stress::Dice(seed);
    let mut all = Vec::new();
    for _ in 0..60 {
        let mut running = Vec::new();
        for _ in 0..dice.roll(24) {
            let sql = MIX[dice.roll(8) as usize];
            let answers = Arc::new(AtomicUsize::new(0));
            running.push((counted(bench, sql, &answers), Arc::clone(&answers)));
            all.push(answers);
        }
        bench.trust(MIX[dice.roll(8) as usize]);
        for (handle, _) in &running {
            if dice.roll(3) == 0 {
                std::thread::sleep(Duration::from_micros(dice.roll(400)));
                handle.cancel();
            }
        }
        let answered = |answers: &Arc<AtomicUsize>| answers.load(Ordering::SeqCst) > 0;
        let done = || running.iter().all(|(_, answers)| answered(answers));
        assert!(eventually(done), "somebody got no answer");
    }
    all
}

fn storm(bench: &Bench, meanwhile: impl Fn() + Sync) {
    MIX.iter().for_each(|sql| bench.trust(sql));
    std::thread::scope(|scope| {
        let users: Vec<_> = (0..6)
            .map(|seed| scope.spawn(move || rush_at_random(bench, seed)))
            .collect();
        scope.spawn(&meanwhile);
        for user in users {
            let answers = user.join().unwrap();
            let once = |answers: &Arc<AtomicUsize>| answers.load(Ordering::SeqCst) == 1;
            assert!(answers.iter().all(once), "somebody was answered twice");
        }
    });
    assert!(!bench.batches().is_empty());
    bench.assert_at_rest();
    bench.run("select 1");
}

#[test]
fn a_storm_of_random_cancels_answers_everybody_once() {
    let bench = Bench::of_size(2);
    *lock(&bench.world.delay) = Duration::from_millis(1);
    storm(&bench, || {});
}

#[test]
fn a_storm_on_a_server_that_dies_again_and_again_answers_everybody_once() {
    let bench = Bench::of_size(2);
    storm(&bench, || {
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(5));
            bench.world.die();
        }
    });
}

#[test]
fn a_storm_over_reactors_that_are_stopped_answers_everybody_once() {
    let bench = Bench::of_size(2);
    storm(&bench, || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(10));
            bench.replace_reactor();
        }
    });
}
