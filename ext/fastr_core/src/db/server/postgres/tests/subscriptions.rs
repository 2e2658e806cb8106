//! Subscriptions: what is notified arrives, also after the connection broke.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{PostgresSession, block, driver, driver_for, text};
use crate::db::feed::Feed;
use crate::db::rows::Value;
use crate::db::server::driver::{Driver, Session};
use crate::db::subscription::Notification;
use crate::error::DatabaseErrorKind;
use crate::event::{Completer, CompletionId, Outcome};
use crate::waiter::{Waited, Waiter};

fn feed() -> Arc<Feed<Notification>> {
    Arc::new(Feed::new(16, |item| {
        item.map_or(Outcome::Done, Outcome::Notified)
    }))
}

/// The next notification, waited for on a thread of its own.
async fn next(feed: &Arc<Feed<Notification>>) -> Notification {
    let feed = Arc::clone(feed);
    let waited = tokio::task::spawn_blocking(move || {
        let waiter = Arc::new(Waiter::default());
        feed.next(Completer::waiter(Arc::clone(&waiter), CompletionId(1)));
        waiter.wait(Some(Duration::from_secs(20)))
    });
    match waited.await.unwrap() {
        Waited::Completed(Ok(Outcome::Notified(notification))) => notification,
        other => panic!("expected a notification, got {other:?}"),
    }
}

fn message(channel: &str, payload: &str) -> Notification {
    Notification::Message {
        channel: channel.into(),
        payload: payload.into(),
    }
}

async fn notify(session: &mut PostgresSession, channel: &str, payload: &str) {
    let binds = vec![text(channel), text(payload)];
    session.rows("select pg_notify($1, $2)", binds).await;
}

#[test]
fn notifications_arrive_whatever_the_channel_is_called() {
    block(async {
        let feed = feed();
        let channels = vec!["Jobs \"1\"".to_owned(), "plain".to_owned()];
        let (listening, listens) = oneshot::channel();
        let task = tokio::spawn(driver().listen(channels, Arc::clone(&feed), listening));
        listens.await.unwrap();
        let mut session = driver().connect().await.unwrap();
        notify(&mut session, "Jobs \"1\"", "first").await;
        notify(&mut session, "plain", "").await;
        assert_eq!(next(&feed).await, message("Jobs \"1\"", "first"));
        assert_eq!(next(&feed).await, message("plain", ""));
        let kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity where query like 'LISTEN \"Jobs%'";
        assert_eq!(session.value(kill, vec![]).await, Value::Integer(1));
        assert_eq!(next(&feed).await, Notification::Reconnected);
        notify(&mut session, "plain", "again").await;
        assert_eq!(next(&feed).await, message("plain", "again"));
        feed.close();
        task.await.unwrap().unwrap();
        session.close().await;
    });
}

#[test]
fn a_subscription_that_cannot_begin_says_why() {
    block(async {
        let driver = driver_for("postgres://nobody:s3cret@127.0.0.1:1/x");
        let (listening, _listens) = oneshot::channel();
        let error = driver
            .listen(vec!["a".into()], feed(), listening)
            .await
            .unwrap_err();
        assert_eq!(error.kind, DatabaseErrorKind::Refused);
    });
}
