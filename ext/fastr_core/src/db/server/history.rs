//! Which statements have proved to be quick, by their text: only those may share a connection with others, because what
//! is behind a slow one on a connection has to wait for it. It remembers a bounded number of texts, and knows nothing of
//! connections.

use std::collections::HashMap;
use std::time::Duration;

use crate::db::statement::{Statement, classify, words};

/// A statement is quick while it takes less than this on average. That is measured here, where a busy server and a busy
/// reactor add to it: a statement of 50 µs takes one to two milliseconds when sixteen connections are full of it, which
/// is just when connections are to be shared.
const QUICK: Duration = Duration::from_millis(4);

/// So often it must have run before it is trusted; the first times it was being prepared.
const PROOF: u8 = 5;

/// Each run counts this part of the average. One run of eight times [`QUICK`] ends a statement's good reputation.
const WEIGHT: u32 = 8;

/// No run counts for more: after one that took an hour a statement is trusted again after some twenty quick ones.
const WORST: Duration = Duration::from_millis(256);

/// So many texts are remembered in each of two generations.
const GENERATION: usize = 512;

/// Longer texts are not remembered: they are built anew each time, and bring their own work.
const LONGEST: usize = 4096;

/// Where in a batch a statement may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is not known to be quick, or keeps its connection for itself.
    Alone,
    /// It may wait for a lock, so nothing may wait behind it: who holds the lock could be waiting for just that.
    Last,
    /// It waits for nobody.
    Anywhere,
}

/// What is known about one text.
#[derive(Debug, Clone, Copy)]
struct Record {
    place: Place,
    runs: u8,
    average: Duration,
}

impl Record {
    fn new(sql: &str) -> Self {
        Self {
            place: place(sql),
            runs: 0,
            average: Duration::ZERO,
        }
    }

    fn add(&mut self, took: Duration) {
        let took = took.min(WORST);
        self.average = match self.runs {
            0 => took,
            _ => self.average - self.average / WEIGHT + took / WEIGHT,
        };
        self.runs = self.runs.saturating_add(1);
    }

    fn is_quick(&self) -> bool {
        self.runs >= PROOF && self.average < QUICK
    }
}

/// What is known about the statements that ran lately. When the young generation is full it becomes the old one, which
/// is forgotten except for what is used again.
#[derive(Debug, Default)]
pub(super) struct History {
    young: HashMap<Box<str>, Record>,
    old: HashMap<Box<str>, Record>,
}

impl History {
    /// A statement took this long on the server.
    pub(super) fn learn(&mut self, sql: &str, took: Duration) {
        if let Some(record) = self.record(sql) {
            record.add(took);
        }
    }

    /// A statement keeps others waiting right now.
    pub(super) fn distrust(&mut self, sql: &str) {
        if let Some(record) = self.record(sql) {
            record.average = WORST;
        }
    }

    /// Where in a batch a statement may stand.
    pub(super) fn place(&self, sql: &str) -> Place {
        let known = self.young.get(sql).or_else(|| self.old.get(sql));
        let quick = known.filter(|record| record.is_quick());
        quick.map_or(Place::Alone, |record| record.place)
    }

    fn record(&mut self, sql: &str) -> Option<&mut Record> {
        if sql.len() > LONGEST {
            return None;
        }
        if !self.young.contains_key(sql) {
            let record = self.old.get(sql).copied();
            if self.young.len() >= GENERATION {
                self.old = std::mem::take(&mut self.young);
            }
            let record = record.unwrap_or_else(|| Record::new(sql));
            self.young.insert(sql.into(), record);
        }
        self.young.get_mut(sql)
    }
}

/// Where a statement could stand if it were quick. A plain read waits for no row lock; a write, a read that locks or
/// fills a table, and a lock by name do. Anything else may change the connection.
fn place(sql: &str) -> Place {
    let mut all = words(sql);
    let verb = all.next().unwrap_or_default();
    let is = |known: &[&str]| known.iter().any(|word| verb.eq_ignore_ascii_case(word));
    if is(&["insert", "update", "delete"]) {
        return Place::Last;
    }
    if !is(&["select", "values", "with"]) {
        return Place::Alone;
    }
    if classify(sql) == Statement::Read && !all.any(locks) {
        return Place::Anywhere;
    }
    Place::Last
}

/// Whether a read with this word may wait for somebody: `FOR UPDATE`, `INTO`, `pg_advisory_lock`.
fn locks(word: &str) -> bool {
    let is = |known: &str| word.eq_ignore_ascii_case(known);
    is("for") || is("into") || word.to_ascii_lowercase().contains("advisory")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_micros(100);

    fn known(sql: &str, took: Duration) -> History {
        let mut history = History::default();
        for _ in 0..PROOF {
            history.learn(sql, took);
        }
        history
    }

    #[test]
    fn a_statement_is_quick_after_some_quick_runs() {
        let mut history = History::default();
        for _ in 1..PROOF {
            history.learn("select 1", FAST);
            assert_eq!(history.place("select 1"), Place::Alone);
        }
        history.learn("select 1", FAST);
        assert_eq!(history.place("select 1"), Place::Anywhere);
        assert_eq!(history.place("select 2"), Place::Alone);
        assert_eq!(known("select 1", QUICK).place("select 1"), Place::Alone);
    }

    #[test]
    fn one_slow_run_ends_the_trust_and_quick_ones_bring_it_back() {
        let mut history = known("select 1", FAST);
        history.learn("select 1", QUICK * WEIGHT);
        assert_eq!(history.place("select 1"), Place::Alone);
        history.learn("select 1", Duration::from_secs(3600));
        let mut needed = 0;
        while history.place("select 1") == Place::Alone {
            history.learn("select 1", FAST);
            needed += 1;
        }
        assert!((10..30).contains(&needed), "{needed}");
        history.distrust("select 1");
        assert_eq!(history.place("select 1"), Place::Alone);
    }

    #[test]
    fn a_slow_preparation_is_forgiven() {
        let mut history = History::default();
        history.learn("select 1", QUICK * 3);
        for _ in 0..2 * WEIGHT {
            history.learn("select 1", FAST);
        }
        assert_eq!(history.place("select 1"), Place::Anywhere);
    }

    #[test]
    fn what_may_wait_for_a_lock_stands_last_and_what_changes_the_connection_alone() {
        let place = |sql| known(sql, FAST).place(sql);
        for sql in [
            "select a from t where b = $1",
            "SELECT a FROM t JOIN u ON t.id = u.id",
            "with a as (select 1) select * from a",
            "values (1)",
        ] {
            assert_eq!(place(sql), Place::Anywhere, "{sql}");
        }
        for sql in [
            "insert into t values (1)",
            "UPDATE t SET a = 1",
            "delete from t",
            "with a as (delete from t returning *) select * from a",
            "select a from t where b = $1 FOR UPDATE",
            "select a from t for no key update skip locked",
            "select * into u from t",
            "select pg_advisory_xact_lock(1)",
        ] {
            assert_eq!(place(sql), Place::Last, "{sql}");
        }
        for sql in ["set a = 1", "explain select 1", "vacuum", "call f()", ""] {
            assert_eq!(place(sql), Place::Alone, "{sql}");
        }
    }

    #[test]
    fn it_remembers_a_bounded_number_of_texts_and_keeps_what_is_used() {
        let mut history = known("select 1", FAST);
        for number in 0..10 * GENERATION {
            history.learn(&format!("select {number} + 1"), FAST);
            if number % (GENERATION / 2) == 0 {
                history.learn("select 1", FAST);
            }
        }
        assert!(history.young.len() + history.old.len() <= 2 * GENERATION);
        assert_eq!(history.place("select 1"), Place::Anywhere);
        assert_eq!(history.place("select 0 + 1"), Place::Alone);
        let long = format!("select '{}'", "x".repeat(LONGEST));
        assert_eq!(known(&long, FAST).place(&long), Place::Alone);
    }
}
