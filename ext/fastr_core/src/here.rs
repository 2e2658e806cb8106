//! The reactor of the running thread. A result that is found on the reactor's own thread need not wake the dispatcher by
//! itself: others of the same tick may follow, and one wake serves them all.

use std::cell::RefCell;
use std::sync::Arc;

use crate::event::Event;
use crate::queue::EventQueue;
use crate::stage::Stage;

thread_local! {
    static STAGE: RefCell<Option<Arc<Stage>>> = const { RefCell::new(None) };
}

/// This thread runs the reactor of this stage, until it enters none.
pub(crate) fn enter(stage: Option<Arc<Stage>>) {
    STAGE.set(stage);
}

/// Puts an event on a queue: at the end of the tick if the thread is the queue's reactor, else with a wake of its own.
pub(crate) fn push(queue: &Arc<EventQueue>, event: Event) {
    STAGE.with_borrow(|stage| match stage {
        Some(stage) if stage.fills(queue) => stage.push_through(event),
        _ => queue.push(event),
    });
}
