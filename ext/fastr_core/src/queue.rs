//! The event queue: everything that Ruby has to do, in order of arrival, and the one way to wake the dispatcher.
//!
//! Many producers append; one consumer swaps the whole queue out per pass. A producer wakes the consumer only if it
//! is parked, so a busy dispatcher costs its producers one uncontended lock. It owns no policy: whether a request is
//! taken at all is decided before it gets here, and a completion is never refused.

use std::mem;
use std::time::Duration;

use crate::event::Event;
use crate::sync::{Condvar, Mutex, lock, wait, wait_timeout};

/// Why [`EventQueue::drain`] returned.
#[derive(Debug, PartialEq, Eq)]
pub enum Drained {
    /// There is at least one event in the buffer.
    Events,
    /// The time limit passed.
    TimedOut,
    /// Someone called [`EventQueue::interrupt`].
    Interrupted,
}

#[derive(Debug)]
struct State<T> {
    events: Vec<T>,
    parked: bool,
    interrupted: bool,
    ticked: bool,
}

/// A multi-producer, single-consumer queue whose consumer takes everything at once.
#[derive(Debug)]
pub struct EventQueue<T = Event> {
    state: Mutex<State<T>>,
    arrived: Condvar,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        let state = State {
            events: Vec::new(),
            parked: false,
            interrupted: false,
            ticked: false,
        };
        Self {
            state: Mutex::new(state),
            arrived: Condvar::new(),
        }
    }
}

impl EventQueue<Event> {
    /// Asks for one [`Event::Tick`]. Any number of calls before the consumer looks cost one event.
    pub fn tick(&self) {
        let mut state = lock(&self.state);
        if !mem::replace(&mut state.ticked, true) {
            state.events.push(Event::Tick);
            self.wake(state);
        }
    }
}

impl<T> EventQueue<T> {
    /// Appends one event.
    pub fn push(&self, event: T) {
        let mut state = lock(&self.state);
        state.events.push(event);
        self.wake(state);
    }

    /// Appends one event and wakes nobody: [`rouse`](Self::rouse) must follow.
    pub(crate) fn push_quietly(&self, event: T) {
        lock(&self.state).events.push(event);
    }

    /// Wakes the consumer if there is something that it was not woken for.
    pub(crate) fn rouse(&self) {
        let state = lock(&self.state);
        if !state.events.is_empty() {
            self.wake(state);
        }
    }

    /// Appends a stage of events and leaves it empty, ready to be filled again.
    pub fn append(&self, stage: &mut Vec<T>) {
        if stage.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        if state.events.is_empty() {
            mem::swap(&mut state.events, stage);
        } else {
            state.events.append(stage);
        }
        self.wake(state);
    }

    /// Ends the consumer's running or next wait without an event.
    pub fn interrupt(&self) {
        let mut state = lock(&self.state);
        state.interrupted = true;
        self.wake(state);
    }

    /// Moves everything that is there into `buffer` (which must be empty), sleeping up to `limit` for the first event.
    pub fn drain(&self, buffer: &mut Vec<T>, limit: Option<Duration>) -> Drained {
        debug_assert!(buffer.is_empty(), "the previous batch was not finished");
        let mut state = lock(&self.state);
        if state.events.is_empty() && !state.interrupted && limit != Some(Duration::ZERO) {
            state = self.park(state, limit);
        }
        if mem::take(&mut state.interrupted) {
            return Drained::Interrupted;
        }
        if state.events.is_empty() {
            return Drained::TimedOut;
        }
        state.ticked = false;
        mem::swap(&mut state.events, buffer);
        Drained::Events
    }

    /// Gives back what was drained, to be drained again before what came meanwhile.
    pub fn give_back(&self, mut events: Vec<T>) {
        let mut state = lock(&self.state);
        events.append(&mut state.events);
        state.events = events;
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        lock(&self.state).events.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn park<'a>(
        &'a self,
        mut state: crate::sync::MutexGuard<'a, State<T>>,
        limit: Option<Duration>,
    ) -> crate::sync::MutexGuard<'a, State<T>> {
        let deadline = limit.and_then(crate::sync::deadline);
        while state.events.is_empty() && !state.interrupted {
            state.parked = true;
            state = match deadline {
                None => wait(&self.arrived, state),
                Some(deadline) => match crate::sync::remaining(deadline) {
                    Some(left) => wait_timeout(&self.arrived, state, left),
                    None => break,
                },
            };
        }
        state.parked = false;
        state
    }

    fn wake(&self, mut state: crate::sync::MutexGuard<'_, State<T>>) {
        let parked = mem::replace(&mut state.parked, false);
        drop(state);
        if parked {
            self.arrived.notify_one();
        }
    }
}
