//! What the pool says about itself: its numbers, and the error that names who holds the connections.

use super::slot::{Phase, Slot};
use super::state::State;
use crate::db::backend::Stats;
use crate::db::refusal::{self, seconds, shown};
use crate::error::Error;

impl State {
    /// The numbers of this moment.
    pub(super) fn stats(&self) -> Stats {
        let idle = self.count(&[Phase::Idle, Phase::Searching, Phase::Checking]);
        let inside = self.open_slots().map(|slot| {
            let open = slot.transaction.as_ref();
            open.map_or(0, |open| open.waiting.len())
        });
        Stats {
            size: self.size(),
            limit: self.limit,
            idle,
            busy: self.held(),
            waiting: self.waiting.len().saturating_sub(idle) + inside.sum::<usize>(),
            transaction_open: !self.transactions.is_empty(),
            wait_p95: self.waits.p95(),
            ..self.counters
        }
    }

    /// `PoolTimeout`, with everything needed to find the culprit.
    pub(super) fn exhausted(&mut self, what: &str, sql: &str) -> Error {
        self.counters.timeouts += 1;
        refusal::exhausted(what, &self.stats(), &self.longest_holder(), sql)
    }

    fn open_slots(&self) -> impl Iterator<Item = &Slot> {
        let slots = self.slots.iter().flatten();
        slots.filter(|slot| slot.transaction.is_some())
    }

    fn longest_holder(&self) -> String {
        let running = self.slots.iter().flatten();
        let running = running.filter_map(|slot| slot.running.first().zip(slot.since));
        let ran = running
            .min_by_key(|(_, since)| *since)
            .map(|(ticket, since)| {
                format!(
                    "the longest holder has run for {}: {}",
                    seconds(since.elapsed()),
                    shown(&ticket.query.sql)
                )
            });
        let open = self
            .open_slots()
            .filter_map(|slot| slot.transaction.as_ref());
        let open = open.min_by_key(|open| open.since).map(|open| {
            format!(
                "transaction {} has been open for {}",
                open.id.0,
                seconds(open.since.elapsed())
            )
        });
        let connecting = self.count(&[Phase::Starting, Phase::Connecting]);
        let connecting = (connecting > 0).then(|| format!("{connecting} still connecting"));
        let holders: Vec<String> = [open, ran, connecting].into_iter().flatten().collect();
        if holders.is_empty() {
            return "nothing holds a connection".into();
        }
        holders.join(", and ")
    }
}
