//! The one timer of a pool: a task that answers waiters whose time is up, rolls back transactions that idle, closes
//! connections that nobody needs, and tries a dead server again while somebody waits for it. It sleeps until the next
//! of these moments; nothing else in the pool has a timer, except for a statement with a limit of its own.

use std::sync::Arc;
use std::time::Instant;

use super::job::{Answers, answer};
use super::pool::Pool;
use super::slot::Phase;
use super::state::{Rouse, State};

/// What the keeper has in mind.
#[derive(Debug, Default)]
pub(super) struct Plan {
    runs: bool,
    wakes_at: Option<Instant>,
}

/// Says that the keeper is no more, however it ended.
struct Keeper(Arc<Pool>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.lock().plan = Plan::default();
    }
}

impl Pool {
    /// Makes the keeper look no later than at `deadline`. Whether it has to be started for that.
    pub(super) fn arm(&self, state: &mut State, deadline: Instant) -> bool {
        if !state.plan.runs {
            state.plan.runs = true;
            return true;
        }
        if state.plan.wakes_at.is_none_or(|at| at > deadline) {
            state.plan.wakes_at = Some(deadline);
            self.keeper.notify_one();
        }
        false
    }

    /// Without a reactor there is nothing to keep: what waits for it is answered by whoever finds out.
    pub(super) fn start_keeper(self: &Arc<Self>) {
        let keeper = Keeper(Arc::clone(self));
        if let Ok(reactor) = (self.reactor)() {
            reactor.handle().spawn(keep(keeper));
        }
    }

    /// Does what is due. The next moment something will be, unless the pool was closed.
    fn keep_time(self: &Arc<Self>) -> Option<Option<Instant>> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let (answers, work, next) = state.keep(Instant::now());
        drop(state);
        answer(answers);
        self.set_to_work(work);
        Some(next)
    }
}

async fn keep(keeper: Keeper) {
    let pool = &keeper.0;
    while let Some(next) = pool.keep_time() {
        let sleep = async {
            match next {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = pool.keeper.notified() => {}
            () = sleep => {}
        }
    }
}

impl State {
    fn keep(&mut self, now: Instant) -> (Answers, Option<Rouse>, Option<Instant>) {
        let answers = self.expire(now);
        self.idle_out(now);
        self.reap(now);
        let work = self.rouse(false);
        let moments = [self.watched(), self.idle_deadline(), self.reap_deadline()];
        self.plan.wakes_at = moments.into_iter().flatten().min();
        (answers, work, self.plan.wakes_at)
    }

    /// When something is to be done for those who wait: the first one's time is up, or a dead server may be tried again.
    pub(super) fn watched(&self) -> Option<Instant> {
        let first = self.next_deadline()?;
        let retry = self.gate.until().filter(|at| *at > Instant::now());
        Some(retry.map_or(first, |retry| retry.min(first)))
    }

    /// When a connection that parks now will want the keeper.
    pub(super) fn park_deadline(&mut self, index: usize, now: Instant) -> Option<Instant> {
        let options = self.options;
        let slot = self.slot(index);
        match slot.phase {
            Phase::Held => now.checked_add(options.idle_in_transaction),
            _ => {
                let idled = options
                    .idle_timeout
                    .and_then(|limit| now.checked_add(limit));
                [idled, slot.expires].into_iter().flatten().min()
            }
        }
    }
}
