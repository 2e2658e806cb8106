//! Who waits, who works and in which order: the state behind the pool's lock. It opens no connection, wakes tasks only
//! through what [`rouse`](State::rouse) names, and completes nothing: what must be answered is handed back, so that no
//! completion happens under the lock.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;

use super::gate::Gate;
use super::history::History;
use super::job::Job;
use super::keeper::Plan;
use super::slot::{Phase, Slot};
use super::waits::Waits;
use crate::db::backend::Stats;
use crate::db::ended::Ended;
use crate::db::pool::DatabaseOptions;
use crate::db::rows::TransactionId;

/// Connections there may be, unless the options say otherwise.
const SIZE: usize = 10;

/// Whoever is to be set to work; done without the lock.
#[derive(Debug)]
pub(super) enum Rouse {
    /// A parked task.
    Wake(Arc<Notify>),
    /// A connection that does not exist yet.
    Start(usize),
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) closed: bool,
    pub(super) options: DatabaseOptions,
    pub(super) limit: usize,
    pub(super) waiting: VecDeque<Job>,
    /// By index; an index is given out again.
    pub(super) slots: Vec<Option<Slot>>,
    /// How many connections are in each phase.
    phases: [usize; Phase::COUNT],
    /// Parked connections; the last one slept least, so its caches are warm.
    pub(super) idle: Vec<usize>,
    /// Parked transactions that got a statement.
    due: VecDeque<usize>,
    pub(super) transactions: HashMap<TransactionId, usize>,
    pub(super) ended: Ended,
    pub(super) gate: Gate,
    pub(super) waits: Waits,
    /// How often connections were lost: one that was opened before the last time is most likely dead, too.
    pub(super) life: u64,
    /// Connections that were lost and not opened again yet.
    pub(super) lost: u64,
    /// Connections that were opened so far.
    pub(super) opened: u64,
    pub(super) counters: Stats,
    pub(super) plan: Plan,
    /// The most statements a connection may be given at once.
    pub(super) pipeline: usize,
    pub(super) history: History,
}

impl State {
    pub(super) fn new(options: DatabaseOptions, pipeline: usize) -> Self {
        Self {
            closed: false,
            options,
            limit: options.size.unwrap_or(SIZE).max(1),
            waiting: VecDeque::new(),
            slots: Vec::new(),
            phases: [0; Phase::COUNT],
            idle: Vec::new(),
            due: VecDeque::new(),
            transactions: HashMap::new(),
            ended: Ended::default(),
            gate: Gate::default(),
            waits: Waits::default(),
            life: 0,
            lost: 0,
            opened: 0,
            counters: Stats::default(),
            plan: Plan::default(),
            pipeline,
            history: History::default(),
        }
    }

    pub(super) fn slot(&mut self, index: usize) -> &mut Slot {
        self.slots[index]
            .as_mut()
            .expect("a task names only its own slot, and frees it last")
    }

    /// How many connections are in one of these phases.
    pub(super) fn count(&self, phases: &[Phase]) -> usize {
        phases
            .iter()
            .map(|&phase| self.phases[phase as usize])
            .sum()
    }

    /// All connections, whatever they do.
    pub(super) fn size(&self) -> usize {
        self.phases.iter().sum()
    }

    /// Connections that are there, or on their way.
    pub(super) fn alive(&self) -> usize {
        self.size() - self.count(&[Phase::Leaving])
    }

    /// The only way from one phase to another. Returns the one it left.
    pub(super) fn enter(&mut self, index: usize, phase: Phase) -> Phase {
        let left = std::mem::replace(&mut self.slot(index).phase, phase);
        self.phases[left as usize] -= 1;
        self.phases[phase as usize] += 1;
        if left == Phase::Idle {
            self.idle.retain(|&idle| idle != index);
        }
        left
    }

    fn add(&mut self) -> usize {
        self.phases[Phase::Starting as usize] += 1;
        let free = self.slots.iter().position(Option::is_none);
        let index = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(None);
        }
        self.slots[index] = Some(Slot::new());
        index
    }

    /// A connection is no more.
    pub(super) fn remove(&mut self, index: usize) -> Option<Slot> {
        self.slots.get(index)?.as_ref()?;
        self.enter(index, Phase::Leaving);
        self.phases[Phase::Leaving as usize] -= 1;
        self.slots[index].take()
    }

    /// Appends a job. The instant is a deadline that the keeper has to know of.
    pub(super) fn append(&mut self, mut job: Job) -> Option<Instant> {
        let transaction = job.ticket.query.transaction;
        if let Some(index) = transaction.and_then(|id| self.transactions.get(&id).copied()) {
            let slot = self.slot(index);
            let is_parked = slot.phase == Phase::Held;
            let open = slot
                .transaction
                .as_mut()
                .expect("it is the open one's slot");
            let is_first = open.waiting.is_empty();
            open.waiting.push_back(job);
            if is_parked && is_first {
                self.due.push_back(index);
            }
            return None;
        }
        job.deadline = job.since.checked_add(self.options.pool_timeout);
        // What a free connection takes at once needs no timer.
        let waits = self.waiting.len() >= self.count(&[Phase::Idle, Phase::Searching]);
        let watched = job.deadline.filter(|_| waits);
        self.waiting.push_back(job);
        watched
    }

    /// Sees to it that someone takes what waits: names one task to wake, or a connection to open. Whoever is awake
    /// already will rouse the next one, so nobody from outside has to.
    pub(super) fn rouse(&mut self, from_outside: bool) -> Option<Rouse> {
        let awake = [Phase::Starting, Phase::Searching, Phase::Due];
        if from_outside && self.count(&awake) > 0 {
            return None;
        }
        if let Some(wake) = self.rouse_transaction() {
            return Some(Rouse::Wake(wake));
        }
        if self.closed {
            return None;
        }
        if let Some(wake) = self.rouse_idle() {
            return Some(Rouse::Wake(wake));
        }
        let coming = self.coming() + self.count(&[Phase::Starting, Phase::Connecting]);
        let may_start = self.waiting.len() > coming
            && self.size() < self.limit
            && self.gate.cause(Instant::now()).is_none();
        may_start.then(|| Rouse::Start(self.add()))
    }

    /// Wakes the connection that slept least if there is more to do than those who are coming can take. One that still
    /// connects does not count: it may take long.
    pub(super) fn rouse_idle(&mut self) -> Option<Arc<Notify>> {
        if self.waiting.len() <= self.coming() {
            return None;
        }
        let index = *self.idle.last()?;
        self.enter(index, Phase::Searching);
        Some(Arc::clone(&self.slot(index).wake))
    }

    fn coming(&self) -> usize {
        self.count(&[Phase::Searching, Phase::Checking])
    }

    fn rouse_transaction(&mut self) -> Option<Arc<Notify>> {
        while let Some(index) = self.due.pop_front() {
            let slot = self.slots[index].as_ref();
            if slot.is_some_and(|slot| slot.phase == Phase::Held) {
                self.enter(index, Phase::Due);
                return Some(Arc::clone(&self.slot(index).wake));
            }
        }
        None
    }
}
