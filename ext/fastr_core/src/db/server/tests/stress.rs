//! Crowds: whatever they do, nothing is left behind.

use super::*;

#[test]
fn two_hundred_statements_half_of_them_cancelled_leak_nothing() {
    let bench = Bench::of_size(2);
    let pending: Vec<Pending> = (0..200)
        .map(|number| {
            bench.start(if number % 2 == 0 {
                "sleep 60000"
            } else {
                "select 1"
            })
        })
        .collect();
    for pending in pending.iter().step_by(2) {
        pending.cancel();
    }
    for (number, pending) in pending.iter().enumerate() {
        match number % 2 {
            0 => assert_eq!(pending.kind(), DatabaseErrorKind::Cancelled),
            _ => assert!(pending.result().is_ok()),
        }
    }
    bench.assert_at_rest();
    assert_eq!(bench.server.stats().size, 2);
    let again: Vec<Pending> = (0..50).map(|_| bench.start("select 1")).collect();
    assert!(again.iter().all(|pending| pending.result().is_ok()));
}

/// A source of numbers that is the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// One random life: what is begun is finished, what is started is awaited, some of it is cancelled.
fn live(bench: &Bench, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..200 {
        match dice.roll(8) {
            0 => drop(bench.start("select 1").result()),
            1 => drop(bench.script("select 1; select 2", None).result()),
            2 => {
                let running = bench.start("sleep 60000");
                std::thread::sleep(Duration::from_micros(dice.roll(300)));
                running.cancel();
                assert!(running.result().is_err());
            }
            3 => {
                let limited = Query {
                    timeout: Some(Duration::from_micros(dice.roll(500))),
                    ..Query::new("sleep 60000")
                };
                assert!(bench.start(limited).result().is_err());
            }
            4 => stream(bench, &mut dice),
            _ => transact(bench, &mut dice),
        }
    }
}

fn stream(bench: &Bench, dice: &mut Dice) {
    let opened = Pending::new(|completer| {
        bench.server.stream(Query::new("select 1"), 10, completer);
        None
    });
    let Ok(Outcome::Stream(stream)) = opened.result() else {
        panic!("a stream comes at once");
    };
    for _ in 0..dice.roll(12) {
        let next = Pending::new(|completer| {
            stream.next(completer);
            None
        });
        if !matches!(next.result(), Ok(Outcome::Rows(_))) {
            return;
        }
    }
}

fn transact(bench: &Bench, dice: &mut Dice) {
    let opening = bench.beginning();
    if dice.roll(3) == 0 {
        opening.cancel();
    }
    let Ok(Outcome::Transaction(id)) = opening.result() else {
        return;
    };
    let sql = ["select 1", "sleep 1", "wrong", "close"][dice.roll(4) as usize];
    let statement = bench.start(Query::new(sql).within(id));
    if dice.roll(3) == 0 {
        statement.cancel();
    }
    let end = bench.finishing(id, dice.roll(2) == 0);
    statement.result().ok();
    end.result().ok();
}

fn crowd(bench: &Bench, meanwhile: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for seed in 0..12 {
            scope.spawn(move || live(bench, seed));
        }
        scope.spawn(&meanwhile);
    });
    bench.assert_at_rest();
    bench.run("select 1");
}

#[test]
fn a_crowd_of_random_users_leaves_nothing_behind() {
    let bench = Bench::of_size(3);
    crowd(&bench, || {});
}

#[test]
fn a_crowd_survives_a_server_that_dies_again_and_again() {
    let bench = Bench::of_size(3);
    crowd(&bench, || {
        for round in 0..60 {
            std::thread::sleep(Duration::from_millis(5));
            bench.world.die();
            if round % 10 == 0 {
                bench.world.refuse(Some(DatabaseErrorKind::Refused));
                std::thread::sleep(Duration::from_millis(20));
                bench.world.refuse(None);
            }
        }
    });
}

#[test]
fn a_crowd_survives_reactors_that_are_stopped_again_and_again() {
    let bench = Bench::of_size(3);
    crowd(&bench, || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(10));
            bench.replace_reactor();
        }
    });
}
