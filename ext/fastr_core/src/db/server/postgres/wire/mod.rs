//! One connection to a PostgreSQL server as its protocol describes it: messages out in one write, messages in out of one
//! buffer, parsed where they lie. It knows which message is which and nothing of statements and values.
//!
//! [`socket`] and [`tls`] are what lies below, [`frame`] the form of what comes, [`messages`] of what goes, [`login`]
//! how a session begins, [`cancel`] how one is interrupted from outside, [`fault`] what may go wrong.

mod cancel;
mod fault;
mod frame;
mod login;
pub(super) mod messages;
mod socket;
#[cfg(test)]
mod tests;
mod tls;

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(super) use self::cancel::{Interrupt, Secret, cancel};
pub(super) use self::fault::{Fault, Report};
pub(super) use self::frame::{Cells, Frame, Parser, Row, affected};
pub(super) use self::login::open;

/// So much is read at once, at first; a result that fills it is read in ever larger pieces.
const CHUNK: usize = 8 * 1024;
const LARGEST_CHUNK: usize = 64 * 1024;
/// So much is asked for at once, at most, whatever length a message claims.
const STEP: usize = 1024 * 1024;
/// Buffers that grew beyond this are given back once they are empty.
const KEPT: usize = 256 * 1024;

/// What the server says about transactions with every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// None is open.
    Idle,
    /// One is open.
    Open,
    /// One is open, and failed.
    Failed,
}

/// A connection. `S` is a socket, except in tests.
pub(super) struct Wire<S = socket::Socket> {
    socket: S,
    input: BytesMut,
    /// So much is read at once.
    chunk: usize,
    /// How long the message is that was lent last.
    lent: usize,
    /// What is to be sent next; whoever appends to it appends whole messages.
    pub(super) output: Vec<u8>,
    status: Status,
    /// Nothing more can be said on it.
    is_broken: bool,
}

impl<S: tokio::io::AsyncRead + AsyncWrite + Unpin> Wire<S> {
    fn new(socket: S) -> Self {
        Self {
            socket,
            input: BytesMut::with_capacity(CHUNK),
            chunk: CHUNK,
            lent: 0,
            output: Vec::new(),
            status: Status::Idle,
            is_broken: false,
        }
    }

    pub(super) fn status(&self) -> Status {
        self.status
    }

    /// The next message; sleeps until it is here. Notices and changes of settings are passed over.
    pub(super) async fn next(&mut self) -> Result<Frame<'_>, Fault> {
        match self.whole().await {
            Ok(length) => {
                self.lent = length;
                let tag = self.input[0];
                let body = &self.input[frame::HEAD..length];
                Ok(Frame { tag, body })
            }
            Err(fault) => Err(self.broken(fault)),
        }
    }

    /// Whether the connection is still there, as far as that can be told without asking: a server that ended it while
    /// nobody listened has said so. It costs a system call only if something came.
    pub(super) async fn check(&mut self) -> Result<(), Fault> {
        if self.is_broken {
            return Err(Fault::Io(io::ErrorKind::NotConnected.into()));
        }
        let checked = std::future::poll_fn(|context| Poll::Ready(self.unasked(context))).await;
        checked.map_err(|fault| self.broken(fault))
    }

    /// Sends what was appended. A server that does not take it because it waits for its own answers to be taken gets
    /// rid of them meanwhile.
    pub(super) async fn send(&mut self) -> Result<(), Fault> {
        if self.is_broken {
            return Err(Fault::Io(io::ErrorKind::NotConnected.into()));
        }
        match self.send_all().await {
            Ok(()) => Ok(()),
            Err(error) => {
                let fault = self.last_words().await.unwrap_or(Fault::Io(error));
                Err(self.broken(fault))
            }
        }
    }

    /// The same, for who finds out by the answers how far the server came.
    pub(super) async fn send_as_far_as_possible(&mut self) {
        let _ = self.send_all().await;
    }

    async fn send_all(&mut self) -> io::Result<()> {
        let mut sent = 0;
        let result = std::future::poll_fn(|context| self.poll_send(context, &mut sent)).await;
        self.output.clear();
        if self.output.capacity() > KEPT {
            self.output = Vec::new();
        }
        result
    }

    /// Says good-bye.
    pub(super) async fn close(mut self) {
        self.output.clear();
        messages::terminate(&mut self.output);
        if self.send().await.is_ok() {
            let _ = self.socket.shutdown().await;
        }
    }

    /// Makes the first message of the buffer the next one, whole; its length.
    async fn whole(&mut self) -> Result<usize, Fault> {
        if self.is_broken {
            return Err(Fault::Io(io::ErrorKind::NotConnected.into()));
        }
        loop {
            self.input.advance(std::mem::take(&mut self.lent));
            match self.first()? {
                Some(length) if self.passes_over(length)? => self.lent = length,
                Some(length) => return Ok(length),
                None => self.read().await?,
            }
        }
    }

    /// The length of the first message, if it is here to its end.
    fn first(&self) -> Result<Option<usize>, Fault> {
        let length = frame::length(&self.input)?;
        Ok(length.filter(|&length| length <= self.input.len()))
    }

    /// Notes what a message says about the session, and whether that is all there is to it.
    fn passes_over(&mut self, length: usize) -> Result<bool, Fault> {
        let body = &self.input[frame::HEAD..length];
        match self.input[0] {
            b'N' => Ok(true),
            b'S' => login::check_setting(body).map(|()| true),
            b'Z' => {
                self.status = match body {
                    b"I" => Status::Idle,
                    b"T" => Status::Open,
                    b"E" => Status::Failed,
                    _ => return Err(Fault::malformed("the state of the session")),
                };
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    async fn read(&mut self) -> Result<(), Fault> {
        match std::future::poll_fn(|context| self.poll_read(context)).await? {
            0 => Err(Fault::Io(io::ErrorKind::UnexpectedEof.into())),
            _ => Ok(()),
        }
    }

    /// Reads once, into room for what is missing of the first message.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.input.is_empty() && self.input.capacity() > KEPT {
            self.input = BytesMut::new();
        }
        let length = frame::length(&self.input).ok().flatten().unwrap_or(0);
        let missing = length.saturating_sub(self.input.len());
        self.input.reserve(missing.clamp(self.chunk, STEP));
        let read = ready!(pin!(self.socket.read_buf(&mut self.input)).poll(context));
        if self.input.len() == self.input.capacity() {
            self.chunk = (self.chunk * 2).min(LARGEST_CHUNK);
        }
        Poll::Ready(read)
    }

    fn poll_send(&mut self, context: &mut Context<'_>, sent: &mut usize) -> Poll<io::Result<()>> {
        while *sent < self.output.len() {
            let rest = &self.output[*sent..];
            match Pin::new(&mut self.socket).poll_write(context, rest)? {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(count) => *sent += count,
                Poll::Pending => {
                    if ready!(self.poll_read(context))? == 0 {
                        return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
                    }
                }
            }
        }
        Pin::new(&mut self.socket).poll_flush(context)
    }

    /// Takes what came while nobody listened.
    fn unasked(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        self.input.advance(std::mem::take(&mut self.lent));
        let mut ended = Ok(());
        while ended.is_ok()
            && let Poll::Ready(read) = self.poll_read(context)
        {
            ended = match read {
                Ok(0) => Err(Fault::Io(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => Ok(()),
                Err(error) => Err(error.into()),
            };
        }
        while let Some(length) = self.first()? {
            let tag = self.input[0];
            match tag {
                b'E' => return Err(self.reported(length)),
                // Somebody else's LISTEN is no business of a session.
                b'A' => {}
                _ if self.passes_over(length)? => {}
                _ => return Err(Fault::malformed("an answer that nobody asked for")),
            }
            self.input.advance(length);
        }
        ended
    }

    /// Why the server ended a connection that takes nothing more, if it said so.
    async fn last_words(&mut self) -> Option<Fault> {
        loop {
            match self.whole().await {
                Ok(length) if self.input[0] == b'E' => return Some(self.reported(length)),
                Ok(length) => self.lent = length,
                Err(_) => return None,
            }
        }
    }

    fn reported(&self, length: usize) -> Fault {
        match Report::parse(&self.input[frame::HEAD..length]) {
            Ok(report) => Fault::Server(Box::new(report)),
            Err(fault) => fault,
        }
    }

    /// Nothing that comes can be trusted any more.
    pub(super) fn give_up(&mut self) {
        self.is_broken = true;
    }

    fn broken(&mut self, fault: Fault) -> Fault {
        self.is_broken |= fault.is_final();
        fault
    }
}
