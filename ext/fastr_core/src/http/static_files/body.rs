//! The body of a static file: bytes in memory, or spans of an open file that leave as the client takes them.
//!
//! On a plain connection a span goes to the socket by sendfile, see [`crate::http::sendfile`]. Elsewhere one chunk is
//! read at a time, on a blocking thread, and only when it is asked for. A file that shrinks while it is being sent
//! ends in an error, so that the client sees a cut and no shortened body.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::range::Span;
use super::source::Content;
use crate::http::sendfile::{self, FileQueue, LONGEST_PIECE};

/// How much is read at once.
const CHUNK: u64 = 256 << 10;

#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    Span(Arc<File>, Span),
}

/// The body of a response of [`StaticFiles`](super::StaticFiles).
#[derive(Debug, Default)]
pub struct StaticBody {
    pieces: VecDeque<Piece>,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
    remaining: u64,
    /// The way past hyper, if the connection has one.
    queue: Option<FileQueue>,
}

impl StaticBody {
    /// Lets the spans go to the socket by this queue.
    pub(crate) fn through(mut self, queue: &FileQueue) -> Self {
        self.queue = Some(queue.clone());
        self
    }

    /// A whole file.
    pub(crate) fn of_file(file: File, size: u64) -> Self {
        let mut body = Self::default();
        if size > 0 {
            let whole = Span {
                start: 0,
                length: size,
            };
            body.push_span(&Content::File(Arc::new(file)), whole);
        }
        body
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: Bytes) {
        self.remaining += bytes.len() as u64;
        self.pieces.push_back(Piece::Bytes(bytes));
    }

    /// Appends a span of a file.
    pub(super) fn push_span(&mut self, content: &Content, span: Span) {
        match content {
            Content::Memory(bytes) => {
                let start = usize::try_from(span.start)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                let end = usize::try_from(span.start + span.length)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                self.push(bytes.slice(start..end));
            }
            Content::File(file) => {
                self.remaining += span.length;
                self.pieces.push_back(Piece::Span(Arc::clone(file), span));
            }
        }
    }

    /// How many bytes are still to come.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The next bytes in memory, or none after a read was started or at the end.
    fn next(&mut self) -> Option<Bytes> {
        match self.pieces.pop_front()? {
            Piece::Bytes(bytes) => Some(bytes),
            Piece::Span(file, span) => {
                let longest = self.queue.as_ref().map_or(CHUNK, |_| LONGEST_PIECE as u64);
                let now = Span {
                    start: span.start,
                    length: span.length.min(longest),
                };
                let rest = Span {
                    start: now.start + now.length,
                    length: span.length - now.length,
                };
                if rest.length > 0 {
                    self.pieces.push_front(Piece::Span(Arc::clone(&file), rest));
                }
                self.begin(file, now)
            }
        }
    }

    /// Queues a span that is not too long for one piece, or starts to read it.
    fn begin(&mut self, file: Arc<File>, span: Span) -> Option<Bytes> {
        let length = usize::try_from(span.length).expect("a chunk or a piece");
        let start = span.start;
        if let Some(queue) = &self.queue {
            return Some(queue.push(sendfile::Piece {
                file,
                start,
                length,
            }));
        }
        let read = move || sendfile::read(&file, start, length);
        self.reading = Some(tokio::task::spawn_blocking(read));
        None
    }

    fn deliver(&mut self, read: io::Result<Bytes>) -> Option<io::Result<Frame<Bytes>>> {
        match read {
            Ok(bytes) => {
                self.remaining -= bytes.len() as u64;
                Some(Ok(Frame::data(bytes)))
            }
            Err(error) => {
                self.pieces.clear();
                Some(Err(error))
            }
        }
    }
}

impl Body for StaticBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if let Some(reading) = &mut self.reading {
                let read =
                    ready!(Pin::new(reading).poll(context)).unwrap_or_else(|lost| Err(lost.into()));
                self.reading = None;
                return Poll::Ready(self.deliver(read));
            }
            if let Some(bytes) = self.next() {
                return Poll::Ready(self.deliver(Ok(bytes)));
            }
            if self.reading.is_none() {
                return Poll::Ready(None);
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
