//! The stage: events of one reactor tick, gathered so that the dispatcher is woken once for all of them.
//!
//! The first event of a tick notifies the flush task. That task runs after the other ready tasks of the tick, each of
//! which may add its own event, and hands the lot over under one lock. What is put on the queue itself meanwhile can
//! leave the waking to it.

use std::sync::Arc;

use crate::event::Event;
use crate::queue::EventQueue;
use crate::sync::{Mutex, Notify, lock};

#[derive(Debug)]
pub(crate) struct Stage {
    events: Mutex<Vec<Event>>,
    first: Notify,
    queue: Arc<EventQueue>,
}

impl Stage {
    pub(crate) fn new(queue: Arc<EventQueue>) -> Self {
        Self {
            events: Mutex::new(Vec::new()),
            first: Notify::new(),
            queue,
        }
    }

    pub(crate) fn push(&self, event: Event) {
        let mut events = lock(&self.events);
        events.push(event);
        if events.len() == 1 {
            drop(events);
            self.first.notify_one();
        }
    }

    /// Puts an event on the queue at once, and has the dispatcher woken at the end of the tick.
    pub(crate) fn push_through(&self, event: Event) {
        self.queue.push_quietly(event);
        self.first.notify_one();
    }

    /// Whether it fills this queue.
    pub(crate) fn fills(&self, queue: &Arc<EventQueue>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
    }

    pub(crate) async fn run(&self) {
        loop {
            self.first.notified().await;
            self.queue.append(&mut lock(&self.events));
            self.queue.rouse();
        }
    }
}
