//! What the lanes say about themselves: their numbers, and the error that names who holds the connections.

use super::state::{Lane, State};
use crate::db::backend::Stats;
use crate::db::refusal::{self, seconds, shown};
use crate::error::Error;

impl State {
    /// The numbers of this moment.
    pub(super) fn stats(&self) -> Stats {
        let size = self.read.started + self.write.started;
        let held = usize::from(self.transactions.open.is_some()).max(self.write.busy);
        let busy = self.read.busy + held;
        let lanes = [Lane::Read, Lane::Write].map(|lane| {
            let free = self.free(lane);
            let queue = if lane == Lane::Read {
                &self.read
            } else {
                &self.write
            };
            queue.waiting.len().saturating_sub(free)
        });
        let inside = self
            .transactions
            .open
            .as_ref()
            .map_or(0, |open| open.waiting.len());
        Stats {
            size,
            limit: self.read.limit + self.write.limit,
            idle: size.saturating_sub(busy),
            busy,
            waiting: lanes.iter().sum::<usize>() + inside,
            transaction_open: self.transactions.open.is_some(),
            ..self.counters
        }
    }

    /// `PoolTimeout`, with everything needed to find the culprit.
    pub(super) fn exhausted(&mut self, what: &str, sql: &str) -> Error {
        self.counters.timeouts += 1;
        refusal::exhausted(what, &self.stats(), &self.longest_holder(), sql)
    }

    fn longest_holder(&self) -> String {
        let running = self.slots.iter().filter_map(|slot| slot.running.as_ref());
        let oldest = running.min_by_key(|(_, since)| *since);
        let ran = oldest.map(|(ticket, since)| {
            format!(
                "the longest holder has run for {}: {}",
                seconds(since.elapsed()),
                shown(&ticket.sql)
            )
        });
        let open = self.transactions.open.as_ref().map(|open| {
            format!(
                "transaction {} has been open for {}",
                open.id.0,
                seconds(open.since.elapsed())
            )
        });
        match (open, ran) {
            (Some(open), Some(ran)) => format!("{open}, and {ran}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "nothing holds a connection".into(),
        }
    }
}
