//! One piece of a file on its way to the socket, without ever making the reactor wait for a disk.
//!
//! A part that is in memory is sent at once. Any other is first brought there by a blocking thread: by sending it to
//! nowhere, which copies nothing either. A file that cannot be sent at all (its file system may know no sendfile) is
//! read by that thread and written like other bytes. What is in memory may be evicted again before a slow client
//! takes it; then the reactor waits for that one read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncWrite, Interest};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::Piece;
use super::system::{is_in_memory, is_unsendable, send_file};

/// How much is read at once when a file has to be read.
const CHUNK: usize = 256 << 10;

/// What a blocking thread did about a part of a file.
#[derive(Debug)]
enum Fetched {
    /// So many bytes are in memory.
    InMemory(usize),
    /// They were read.
    Read(Bytes),
}

#[derive(Debug)]
enum Step {
    Send,
    Fetch(JoinHandle<io::Result<Fetched>>),
    Write(Bytes),
}

/// A piece that is being sent.
#[derive(Debug)]
pub(crate) struct Transfer {
    piece: Piece,
    step: Step,
    /// Up to here the piece is in memory.
    in_memory: usize,
    is_unsendable: bool,
}

impl Transfer {
    pub(super) fn new(piece: Piece) -> Self {
        Self {
            piece,
            step: Step::Send,
            in_memory: 0,
            is_unsendable: false,
        }
    }

    /// The length of the piece.
    pub(crate) fn length(&self) -> usize {
        self.piece.length
    }

    /// Whether the disk is waited for, and not the client.
    pub(crate) fn is_fetching(&self) -> bool {
        matches!(self.step, Step::Fetch(_))
    }

    /// Sends on from `sent`. Ready with how many bytes went out, never none.
    ///
    /// # Errors
    /// When the socket or the disk fails, and when the file ends before the piece does.
    pub(crate) fn poll_send(
        &mut self,
        stream: &mut TcpStream,
        sent: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match &mut self.step {
                Step::Write(bytes) => {
                    let written = ready!(Pin::new(stream).poll_write(context, bytes))?;
                    bytes.advance(written);
                    if bytes.is_empty() {
                        self.step = Step::Send;
                    }
                    return Poll::Ready(Ok(written));
                }
                Step::Fetch(job) => {
                    let fetched = ready!(Pin::new(job).poll(context));
                    self.fetched(sent, fetched.unwrap_or_else(|lost| Err(lost.into()))?);
                }
                Step::Send => {
                    if !self.has_in_memory(sent) {
                        self.fetch(sent);
                        continue;
                    }
                    ready!(stream.poll_write_ready(context))?;
                    if let Some(result) = self.send(stream, sent) {
                        return Poll::Ready(result);
                    }
                }
            }
        }
    }

    fn has_in_memory(&mut self, sent: usize) -> bool {
        if sent >= self.in_memory && !self.is_unsendable {
            let Piece {
                file,
                start,
                length,
            } = &self.piece;
            if is_in_memory(file, start + sent as u64, length - sent) {
                self.in_memory = *length;
            }
        }
        sent < self.in_memory
    }

    /// Sends once; none when that has to be tried again, or in another way.
    fn send(&mut self, stream: &TcpStream, sent: usize) -> Option<io::Result<usize>> {
        let Piece { file, start, .. } = &self.piece;
        let length = self.in_memory - sent;
        let result = stream.try_io(Interest::WRITABLE, || {
            send_file(stream, file, start + sent as u64, length)
        });
        match result {
            Ok(0) => Some(Err(shrank())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) if is_unsendable(&error) => {
                self.is_unsendable = true;
                self.in_memory = 0;
                None
            }
            result => Some(result),
        }
    }

    fn fetch(&mut self, sent: usize) {
        let file = Arc::clone(&self.piece.file);
        let (start, length) = (self.piece.start + sent as u64, self.piece.length - sent);
        let is_unsendable = self.is_unsendable;
        self.step = Step::Fetch(tokio::task::spawn_blocking(move || {
            if is_unsendable {
                return read(&file, start, length.min(CHUNK)).map(Fetched::Read);
            }
            bring_into_memory(&file, start, length)
        }));
    }

    fn fetched(&mut self, sent: usize, fetched: Fetched) {
        self.step = match fetched {
            Fetched::InMemory(length) => {
                self.in_memory = sent + length;
                Step::Send
            }
            Fetched::Read(bytes) => Step::Write(bytes),
        };
    }
}

/// Sends to nowhere, or reads when that is refused. Blocks.
fn bring_into_memory(file: &File, start: u64, length: usize) -> io::Result<Fetched> {
    let sent = nowhere().and_then(|nowhere| send_file(nowhere, file, start, length));
    match sent {
        Ok(0) => Err(shrank()),
        Ok(length) => Ok(Fetched::InMemory(length)),
        Err(_) => read(file, start, length.min(CHUNK)).map(Fetched::Read),
    }
}

fn nowhere() -> io::Result<&'static File> {
    static NOWHERE: OnceLock<File> = OnceLock::new();
    if let Some(file) = NOWHERE.get() {
        return Ok(file);
    }
    let file = File::options().write(true).open("/dev/null")?;
    Ok(NOWHERE.get_or_init(|| file))
}

/// Reads exactly this part. Blocks.
pub(crate) fn read(file: &File, start: u64, length: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; length];
    let read = file.read_exact_at(&mut bytes, start);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => shrank(),
        _ => error,
    })?;
    Ok(bytes.into())
}

fn shrank() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file shrank while it was being sent",
    )
}

#[cfg(test)]
mod tests;
