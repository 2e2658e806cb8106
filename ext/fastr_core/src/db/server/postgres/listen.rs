//! A subscription: a connection of its own that listens until nobody wants to hear more, and connects again when it
//! broke. What was notified in between is lost, which the subscriber is told.

use std::time::Duration;

use futures_util::future::{Either, select};
use sqlx::Connection;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::oneshot;

use super::location::Location;
use super::{connect, error};
use crate::db::feed::Feed;
use crate::db::subscription::Notification;
use crate::error::{DatabaseError, DatabaseErrorKind};

/// The first pause before connecting again; each one after it is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Delivers until the feed is closed. A subscription that cannot even begin ends with the reason.
pub(super) async fn run(
    location: &Location,
    channels: &[String],
    feed: &Feed<Notification>,
    listening: oneshot::Sender<()>,
) -> Result<(), DatabaseError> {
    let mut first = Some(listening);
    let mut pause = FIRST_PAUSE;
    loop {
        match unless_closed(feed, open(location, channels)).await {
            None => return Ok(()),
            Some(Ok(mut listener)) => {
                pause = FIRST_PAUSE;
                match first.take() {
                    Some(listening) => drop(listening.send(())),
                    None if feed.push(Notification::Reconnected).await.is_err() => return Ok(()),
                    None => {}
                }
                let delivered = unless_closed(feed, deliver(&mut listener, feed)).await;
                if delivered.is_none() {
                    return Ok(());
                }
            }
            Some(Err(failure)) if first.is_some() => return Err(failure),
            Some(Err(_)) => {}
        }
        let slept = unless_closed(feed, tokio::time::sleep(pause)).await;
        if slept.is_none() {
            return Ok(());
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The result of a future that is dropped as soon as nobody wants to hear more. Only connections of this file are in
/// such futures, and they are thrown away with them.
async fn unless_closed<T>(feed: &Feed<Notification>, future: impl Future<Output = T>) -> Option<T> {
    let closed = std::pin::pin!(feed.closed());
    let future = std::pin::pin!(future);
    match select(closed, future).await {
        Either::Left(_) => None,
        Either::Right((result, _)) => Some(result),
    }
}

/// sqlx lends the notifications of a connection only through its listener, and a listener takes its connection from a
/// pool; this one has a single connection and ends with it. That pool would hide why a server cannot be reached, so it
/// is tried without one first.
async fn open(location: &Location, channels: &[String]) -> Result<PgListener, DatabaseError> {
    let explain = |error| error::of_connecting(error, &location.describe());
    let timely = tokio::time::timeout(location.connect_timeout, connect::open(&location.options));
    let connection = timely.await.map_err(|_| {
        let message = format!("{} does not answer", location.describe());
        DatabaseError::new(DatabaseErrorKind::Connection, message)
    })?;
    let (connection, options) = connection.map_err(explain)?;
    let _ = connection.close().await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(location.connect_timeout)
        .connect_with(options)
        .await
        .map_err(explain)?;
    let mut listener = PgListener::connect_with(&pool).await.map_err(explain)?;
    listener.eager_reconnect(false);
    listener
        .listen_all(channels.iter().map(String::as_str))
        .await
        .map_err(explain)?;
    Ok(listener)
}

/// Until the connection breaks or the feed is closed.
async fn deliver(listener: &mut PgListener, feed: &Feed<Notification>) {
    while let Ok(Some(notification)) = listener.try_recv().await {
        let message = Notification::Message {
            channel: notification.channel().to_owned(),
            payload: notification.payload().to_owned(),
        };
        if feed.push(message).await.is_err() {
            return;
        }
    }
}
