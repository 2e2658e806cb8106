//! The body of a static file: bytes in memory, or spans of an open file read as the client takes them.
//!
//! One chunk is read at a time, on a blocking thread, and only when the connection asks for it. A file that shrinks
//! while it is being sent ends in an error, so that the client sees a cut and no shortened body.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::range::Span;
use super::source::Content;

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
}

impl StaticBody {
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
                let length = span.length.min(CHUNK);
                let rest = Span {
                    start: span.start + length,
                    length: span.length - length,
                };
                if rest.length > 0 {
                    self.pieces.push_front(Piece::Span(Arc::clone(&file), rest));
                }
                let now = Span {
                    start: span.start,
                    length,
                };
                self.reading = Some(tokio::task::spawn_blocking(move || read(&file, now)));
                None
            }
        }
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

/// Reads exactly this span. Blocks.
fn read(file: &File, span: Span) -> io::Result<Bytes> {
    let mut bytes = vec![0; usize::try_from(span.length).map_err(io::Error::other)?];
    let shrank = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "the file shrank while it was being sent")
        }
        _ => error,
    };
    file.read_exact_at(&mut bytes, span.start).map_err(shrank)?;
    Ok(bytes.into())
}
