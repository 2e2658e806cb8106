//! The body of a streamed answer: its writing end, held by the Ruby side, and its sending end, read by the connection.
//!
//! A stream dropped unfinished is cut visibly, so that no half answer looks whole; so is one of another length than its
//! head declares.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc;

use crate::error::Error;
use crate::event::{Completer, Outcome};
use crate::http::declared_length::DeclaredLength;
use crate::http::responder::{Delivery, Piece};

/// Below this many queued bytes a waiting writer goes on.
const LOW_WATER: usize = 64 * 1024;

#[derive(Debug, Default)]
struct StreamState {
    queued: AtomicUsize,
    closed: AtomicBool,
    writer: Mutex<Option<Completer>>,
}

impl StreamState {
    fn wake(&self, result: Result<Outcome, Error>) {
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writer) = writer {
            writer.complete(result);
        }
    }

    fn sent(&self, length: usize) {
        let before = self.queued.fetch_sub(length, Ordering::AcqRel);
        if before - length <= LOW_WATER {
            self.wake(Ok(Outcome::Done));
        }
    }
}

/// The writing end of a streamed answer.
#[derive(Debug)]
pub struct ResponseStream {
    pieces: mpsc::UnboundedSender<Piece>,
    state: Arc<StreamState>,
    length: DeclaredLength,
}

impl ResponseStream {
    /// Both ends of a body.
    pub(crate) fn open(length: DeclaredLength) -> (StreamBody, Self) {
        let (pieces, receiver) = mpsc::unbounded_channel();
        let state = Arc::new(StreamState::default());
        let body = StreamBody {
            pieces: receiver,
            state: Arc::clone(&state),
            finished: false,
            broken: false,
        };
        let stream = Self {
            pieces,
            state,
            length,
        };
        (body, stream)
    }

    /// What is wrong with appending so many bytes: more than the head declares.
    #[must_use]
    pub fn excess(&self, bytes: usize) -> Option<Error> {
        self.length.excess(bytes)
    }

    /// Appends bytes, as far as the head's length lets them through. The number of queued bytes is [`ResponseStream::queued`]; waiting is up to the caller.
    ///
    /// # Errors
    /// [`Error::Disconnected`] once the client left.
    pub fn write(&self, mut bytes: Bytes) -> Result<Option<Delivery>, Error> {
        if !self.is_open() {
            return Err(Error::Disconnected);
        }
        bytes.truncate(self.length.take(bytes.len()));
        if bytes.is_empty() {
            return Ok(None);
        }
        self.state.queued.fetch_add(bytes.len(), Ordering::AcqRel);
        let piece = Piece::Data(bytes);
        Ok(Some(Delivery::Piece(self.pieces.clone(), piece, None)))
    }

    /// Ends the body, or breaks it off.
    #[must_use]
    pub fn end(&self, complete: bool) -> Delivery {
        let piece = if complete { Piece::End } else { Piece::Abort };
        Delivery::Piece(self.pieces.clone(), piece, None)
    }

    /// What is wrong with ending the body here: fewer bytes than the head declares.
    #[must_use]
    pub fn shortfall(&self) -> Option<Error> {
        self.length.shortfall()
    }

    /// Completes once less than the low-water mark is queued, or the client left.
    pub fn drain(&self, completer: Completer) {
        let mut writer = self
            .state
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let previous = writer.replace(completer);
        drop(writer);
        if let Some(previous) = previous {
            previous.complete(Ok(Outcome::Done));
        }
        // The body may have been sent or dropped before the writer was entered.
        if self.state.closed.load(Ordering::Acquire) {
            self.state.wake(Err(Error::Disconnected));
        } else if self.queued() <= LOW_WATER {
            self.state.wake(Ok(Outcome::Done));
        }
    }

    /// Bytes written and not yet taken by the connection.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.state.queued.load(Ordering::Acquire)
    }

    /// Whether the client is still there.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.state.closed.load(Ordering::Acquire)
    }
}

/// The sending end of a streamed answer, read by the connection.
#[derive(Debug)]
pub struct StreamBody {
    pieces: mpsc::UnboundedReceiver<Piece>,
    state: Arc<StreamState>,
    finished: bool,
    broken: bool,
}

impl StreamBody {
    /// Whether the whole body was taken by the connection.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Body for StreamBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let body = self.get_mut();
        if body.finished {
            return Poll::Ready(None);
        }
        if body.broken {
            return Poll::Ready(Some(Err(io::Error::other("the answer broke off"))));
        }
        match ready!(body.pieces.poll_recv(context)) {
            Some(Piece::Data(bytes)) => {
                body.state.sent(bytes.len());
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Piece::End) => {
                body.finished = true;
                Poll::Ready(None)
            }
            // The connection gets a turn to send what came before: an error makes it drop that.
            Some(Piece::Abort) | None => {
                body.broken = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Release);
        self.state.wake(Err(Error::Disconnected));
    }
}
