//! Subscriptions: a task each, with a connection of its own beside the pool's.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::driver::Driver;
use super::pool::Pool;
use crate::db::feed::Feed;
use crate::db::refusal::{CLOSED, seconds};
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::event::{Completer, Outcome};
use crate::sync::lock;

/// So many notifications are kept for a subscriber who is slow to take them.
const AHEAD: usize = 1024;

/// Subscribes, and completes once the server listens.
pub(super) fn listen<D: Driver>(
    driver: Arc<D>,
    pool: &Pool,
    channels: Vec<String>,
    completer: Completer,
) {
    let reactor = match driver.cannot_listen() {
        Some(error) => Err(error),
        None => pool.process.check().and_then(|()| (pool.reactor)()),
    };
    let reactor = match reactor {
        Ok(reactor) => reactor,
        Err(error) => return completer.complete(Err(error)),
    };
    let feed = Arc::new(Feed::new(AHEAD, notified));
    {
        let mut subscriptions = lock(&pool.subscriptions);
        subscriptions.retain(|feed| feed.strong_count() > 0);
        subscriptions.push(Arc::downgrade(&feed));
    }
    // Closing takes the subscriptions after it has closed the pool: one of both sides sees the other.
    if pool.lock().closed {
        return completer.complete(Err(failure(CLOSED).into()));
    }
    let subscriber = Subscriber {
        feed,
        completer: Some(completer),
    };
    let limit = pool.options.connect_timeout;
    reactor
        .handle()
        .spawn(subscriber.run(driver, channels, limit));
}

/// The task's side of a subscription: it answers, and it ends the feed, however the task ends.
struct Subscriber {
    feed: Arc<Feed<Notification>>,
    completer: Option<Completer>,
}

impl Subscriber {
    async fn run<D: Driver>(mut self, driver: Arc<D>, channels: Vec<String>, limit: Duration) {
        let what = driver.describe();
        let (tell, told) = oneshot::channel();
        let mut listen = pin!(driver.listen(channels, Arc::clone(&self.feed), tell));
        tokio::select! {
            biased;
            Ok(()) = told => {}
            result = &mut listen => return self.end(result),
            () = tokio::time::sleep(limit) => {
                let limit = seconds(limit);
                let message = format!("cannot listen at {what}: no answer within {limit} (connect_timeout)");
                return self.end(Err(failure(&message)));
            }
        }
        if let Some(completer) = self.completer.take() {
            completer.complete(Ok(Outcome::Subscription(Arc::clone(&self.feed))));
        }
        let result = listen.await;
        self.end(result);
    }

    fn end(&mut self, result: Result<(), DatabaseError>) {
        let result = result.map_err(Error::from);
        self.feed.end(result.clone());
        if let Some(completer) = self.completer.take() {
            let ended = || Error::from(failure("the subscription ended before it began"));
            completer.complete(Err(result.err().unwrap_or_else(ended)));
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if self.completer.is_some() || !self.feed.has_ended() {
            let message = "the reactor was stopped, and the subscription with it";
            self.end(Err(failure(message)));
        }
    }
}

fn failure(message: &str) -> DatabaseError {
    DatabaseError::new(DatabaseErrorKind::Connection, message)
}

fn notified(notification: Option<Notification>) -> Outcome {
    notification.map_or(Outcome::Done, Outcome::Notified)
}
