//! A subscription: a connection of its own that listens until nobody wants to hear more, and connects again when it
//! broke. What was notified in between is lost, which the subscriber is told.

use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::oneshot;

use super::error;
use super::location::Location;
use super::wire::{self, Fault, Frame, Parser, Report, Wire, messages};
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

/// A connection that listens.
async fn open(location: &Location, channels: &[String]) -> Result<Wire, DatabaseError> {
    let timely = tokio::time::timeout(location.connect_timeout, attempt(location, channels));
    match timely.await {
        Ok(opened) => opened.map_err(|fault| error::of_connecting(fault, &location.describe())),
        Err(_) => {
            let message = format!("{} does not answer", location.describe());
            Err(DatabaseError::new(DatabaseErrorKind::Connection, message))
        }
    }
}

async fn attempt(location: &Location, channels: &[String]) -> Result<Wire, Fault> {
    let (mut wire, _) = wire::open(&location.options).await?;
    let listens: Vec<String> = channels
        .iter()
        .map(|channel| format!("LISTEN \"{}\"", channel.replace('"', "\"\"")))
        .collect();
    let is_small = messages::query(&mut wire.output, &listens.join("; "));
    debug_assert!(is_small, "names of channels are short");
    wire.send().await?;
    loop {
        let Frame { tag, body } = wire.next().await?;
        match tag {
            b'Z' => return Ok(wire),
            b'E' => return Err(Fault::Server(Box::new(Report::parse(body)?))),
            _ => {}
        }
    }
}

/// Until the connection breaks or the feed is closed.
async fn deliver(wire: &mut Wire, feed: &Feed<Notification>) {
    while let Ok(Frame { tag, body }) = wire.next().await {
        let message = match tag {
            b'A' => message(body),
            // The server says why it ends the connection.
            _ => return,
        };
        let Ok(message) = message else {
            return;
        };
        if feed.push(message).await.is_err() {
            return;
        }
    }
}

fn message(body: &[u8]) -> Result<Notification, Fault> {
    let mut parser = Parser::new(body, "a notification");
    // The process that notified.
    parser.u32()?;
    Ok(Notification::Message {
        channel: parser.text()?.to_owned(),
        payload: parser.text()?.to_owned(),
    })
}
