//! Stops what another connection runs, over a connection that exists only for that: it tells the server the secret that
//! the session got at its beginning, and the server closes it.
//!
//! Once it is closed, nothing of the request can reach a later statement. The process that takes the request sends the
//! signal before it ends, and its end is what closes the connection; from then on the signal is pending in the backend
//! and is taken before the backend reads anything more. If the backend waits for a statement by then, it forgets it. So
//! a session that sends nothing before both the end of its statement and this closing are here is safe. A pooler that
//! passes the request on closes in the same order (pgbouncer since 1.18).

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::options::{Options, SslMode};
use super::fault::Fault;
use super::messages;
use super::socket::Socket;

/// How long the server may take to close it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What stops a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Secret {
    /// The backend's process, or what a pooler says instead.
    pub(in super::super) process: u32,
    pub(in super::super) key: u32,
    /// Whether the session was told it over an encrypted connection: then it is told only over one.
    pub(in super::super) is_encrypted: bool,
}

/// What became of a request to stop something.
#[derive(Debug)]
pub(in super::super) enum Interrupt {
    /// It was delivered, and cannot strike anything later.
    Delivered,
    /// It was not even sent.
    Unsent(Fault),
    /// It was sent, and when it will be delivered is unknown: the session is not to be used any more.
    Unknown,
}

/// Stops what the session runs.
pub(in super::super) async fn cancel(options: &Options, secret: Secret) -> Interrupt {
    let mode = match (secret.is_encrypted, options.ssl_mode) {
        (true, SslMode::Allow | SslMode::Prefer) => SslMode::Require,
        (false, _) => SslMode::Disable,
        (true, mode) => mode,
    };
    let mut request = Vec::new();
    messages::cancel_request(&mut request, secret.process, secret.key);
    let opened = tokio::time::timeout(PATIENCE, Socket::open(options, mode)).await;
    let mut socket = match opened {
        Ok(Ok(socket)) => socket,
        Ok(Err(fault)) => return Interrupt::Unsent(fault),
        Err(_) => return Interrupt::Unsent(Fault::Io(io::ErrorKind::TimedOut.into())),
    };
    let delivery = async {
        socket.write_all(&request).await?;
        socket.flush().await?;
        // It says nothing; whichever way this ends, the other side is closed.
        while matches!(socket.read(&mut [0; 16]).await, Ok(1..)) {}
        Ok::<(), io::Error>(())
    };
    match tokio::time::timeout(PATIENCE, delivery).await {
        Ok(_) => Interrupt::Delivered,
        Err(_) => Interrupt::Unknown,
    }
}
