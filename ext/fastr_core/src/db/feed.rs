//! A bounded queue between one producer and one consumer who waits by completion: the batches of a row stream, the
//! notifications of a subscription. The producer waits while the queue is full, so that a slow consumer slows the
//! database and fills no memory. Nothing is lost: what was queued before the end is delivered before it.

use std::collections::VecDeque;
use std::fmt;

use tokio::sync::Notify;

use crate::error::Error;
use crate::event::{Completer, Outcome};
use crate::sync::{Condvar, Mutex, lock, wait};

/// Makes the outcome of one item.
type Deliver<T> = fn(Option<T>) -> Outcome;

/// The queue; both sides hold it in an `Arc`.
pub struct Feed<T> {
    state: Mutex<State<T>>,
    /// For a producer that is a task.
    space: Notify,
    /// For a producer that is a thread.
    room: Condvar,
    capacity: usize,
    deliver: Deliver<T>,
}

struct State<T> {
    ready: VecDeque<T>,
    waiting: Option<Completer>,
    end: Option<Result<(), Error>>,
    is_closed: bool,
}

/// The consumer went away: stop producing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T> Feed<T> {
    /// An empty queue for `capacity` items. `deliver` gets none at the end.
    pub(crate) fn new(capacity: usize, deliver: Deliver<T>) -> Self {
        let state = State {
            ready: VecDeque::new(),
            waiting: None,
            end: None,
            is_closed: false,
        };
        Self {
            state: Mutex::new(state),
            space: Notify::new(),
            room: Condvar::default(),
            capacity: capacity.max(1),
            deliver,
        }
    }

    /// Completes with the next item as soon as there is one, with nothing at the end, or with the producer's error.
    /// One call at a time: a second one before the first is complete is refused.
    pub fn next(&self, completer: Completer) {
        let mut state = lock(&self.state);
        let result = if let Some(item) = state.ready.pop_front() {
            Ok((self.deliver)(Some(item)))
        } else if state.is_closed {
            Ok((self.deliver)(None))
        } else if let Some(end) = &mut state.end {
            // An error is told once; after it there is just the end.
            std::mem::replace(end, Ok(())).map(|()| (self.deliver)(None))
        } else if state.waiting.is_some() {
            Err(Error::Invalid(
                "somebody waits for the next item already; wait for one at a time".into(),
            ))
        } else {
            state.waiting = Some(completer);
            return;
        };
        drop(state);
        self.has_space();
        completer.complete(result);
    }

    /// Takes back a [`next`](Self::next) that has not completed; nothing is lost by it.
    pub fn cancel_next(&self) {
        let waiting = lock(&self.state).waiting.take();
        if let Some(completer) = waiting {
            completer.complete(Err(Error::Cancelled));
        }
    }

    /// Wants no more: what is queued is dropped and the producer stops.
    pub fn close(&self) {
        let (ready, waiting) = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            (std::mem::take(&mut state.ready), state.waiting.take())
        };
        drop(ready);
        self.has_space();
        if let Some(completer) = waiting {
            completer.complete(Ok((self.deliver)(None)));
        }
    }

    /// Whether the consumer wants no more.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Whether the producer has ended it.
    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.state).end.is_some()
    }

    /// Resolves once the consumer wants no more.
    pub(crate) async fn closed(&self) {
        loop {
            let space = self.space.notified();
            if self.is_closed() {
                return;
            }
            space.await;
        }
    }

    /// Queues an item; waits for space first.
    pub(crate) async fn push(&self, item: T) -> Result<(), Closed> {
        let mut item = Some(item);
        loop {
            let space = self.space.notified();
            if self.offer(&mut item)? {
                return Ok(());
            }
            space.await;
        }
    }

    /// Queues an item; sleeps until there is space.
    pub(crate) fn push_blocking(&self, item: T) -> Result<(), Closed> {
        let mut item = Some(item);
        while !self.offer(&mut item)? {
            let state = lock(&self.state);
            if state.ready.len() >= self.capacity && !state.is_closed {
                drop(wait(&self.room, state));
            }
        }
        Ok(())
    }

    /// There will be no more, for this reason if it is an error.
    pub(crate) fn end(&self, end: Result<(), Error>) {
        let waiting = {
            let mut state = lock(&self.state);
            let waiting = state.waiting.take();
            // An error that somebody waits for is told here and now.
            let told = waiting.is_some();
            state.end = Some(if told { Ok(()) } else { end.clone() });
            waiting
        };
        if let Some(completer) = waiting {
            completer.complete(end.map(|()| (self.deliver)(None)));
        }
    }

    /// Hands the item over if there is space, or directly to who waits for it.
    fn offer(&self, item: &mut Option<T>) -> Result<bool, Closed> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return Err(Closed);
        }
        if let Some(completer) = state.waiting.take() {
            drop(state);
            completer.complete(Ok((self.deliver)(item.take())));
            return Ok(true);
        }
        if state.ready.len() >= self.capacity {
            return Ok(false);
        }
        state.ready.extend(item.take());
        Ok(true)
    }

    fn has_space(&self) {
        self.space.notify_waiters();
        self.space.notify_one();
        self.room.notify_all();
    }
}

impl<T> fmt::Debug for Feed<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        write!(
            out,
            "Feed({} ready, closed: {})",
            state.ready.len(),
            state.is_closed
        )
    }
}
