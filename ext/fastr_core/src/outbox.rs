//! The outbox: what the dispatcher answers, handed to the reactor batch by batch with one wake for all.
//!
//! Order is kept: the head of a streamed answer comes before its chunks, and those before its end.

use std::mem;

use crate::http::responder::Delivery;
use crate::sync::{Mutex, Notify, lock};

/// Answers on their way from the Ruby side to the reactor.
#[derive(Debug)]
pub struct Outbox {
    pending: Mutex<Vec<Delivery>>,
    filled: Notify,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            pending: Mutex::new(Vec::new()),
            filled: Notify::new(),
        }
    }
}

impl Outbox {
    /// Takes over a batch and leaves it empty, ready to be filled again.
    pub fn send(&self, batch: &mut Vec<Delivery>) {
        if batch.is_empty() {
            return;
        }
        let mut pending = lock(&self.pending);
        let wake = pending.is_empty();
        if wake {
            mem::swap(&mut *pending, batch);
        } else {
            pending.append(batch);
        }
        drop(pending);
        if wake {
            self.filled.notify_one();
        }
    }

    pub(crate) async fn run(&self) {
        let mut batch = Vec::new();
        loop {
            self.filled.notified().await;
            mem::swap(&mut *lock(&self.pending), &mut batch);
            for delivery in batch.drain(..) {
                delivery.perform();
            }
        }
    }
}
