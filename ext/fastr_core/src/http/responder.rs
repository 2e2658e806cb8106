//! The responder: the one-shot right to answer a request, and the stream that a streamed answer is written to.
//!
//! Every path answers exactly once. A responder dropped unanswered is a 500; a stream dropped unfinished is cut
//! visibly, so that no half answer looks whole.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::event::{Completer, Outcome};
use crate::http::request::Request;
use crate::http::written::Written;

/// Above this many queued bytes a writer should wait until the client took some.
pub const HIGH_WATER: usize = 256 * 1024;
/// Below this many queued bytes a waiting writer goes on.
const LOW_WATER: usize = 64 * 1024;

/// What the Ruby side gives for one request.
#[derive(Debug)]
pub enum Answer {
    /// Head and whole body.
    Whole(http::Response<Bytes>),
    /// The same as bytes.
    Written(Written),
    /// A head whose body follows in pieces.
    Streamed(http::Response<StreamBody>),
}

/// One thing for the reactor to do with an answer.
#[derive(Debug)]
pub enum Delivery {
    /// Give this answer to the waiting connection, and the request back, to be dropped where it was made.
    Answer(oneshot::Sender<Answer>, Answer, Option<Box<Request>>),
    /// Append a piece to a streamed answer; the last one brings the request back.
    Piece(mpsc::UnboundedSender<Piece>, Piece, Option<Box<Request>>),
}

impl Delivery {
    /// Lets the request travel along, see [`crate::http::request`].
    #[must_use]
    pub fn with(mut self, request: Box<Request>) -> Self {
        match &mut self {
            Delivery::Answer(_, _, spent) | Delivery::Piece(_, _, spent) => *spent = Some(request),
        }
        self
    }

    pub(crate) fn perform(self) {
        // A receiver that is gone means that the client is: its own guard reports that.
        match self {
            Delivery::Answer(sender, answer, spent) => {
                drop(spent);
                drop(sender.send(answer));
            }
            Delivery::Piece(sender, piece, spent) => {
                drop(spent);
                drop(sender.send(piece));
            }
        }
    }
}

/// A piece of a streamed answer.
#[derive(Debug)]
pub enum Piece {
    /// Bytes of the body.
    Data(Bytes),
    /// The body is complete.
    End,
    /// The body is broken: cut the connection where the client can see it.
    Abort,
}

/// The one-shot right to answer.
#[derive(Debug)]
pub struct Responder(Option<oneshot::Sender<Answer>>);

impl Responder {
    pub(crate) fn new() -> (Self, oneshot::Receiver<Answer>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Some(sender)), receiver)
    }

    /// Whether an answer was given.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the client still waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// Answers with a whole response, in one of its two forms.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn whole(&mut self, answer: Answer) -> Result<Delivery, Error> {
        let sender = self.0.take().ok_or(Error::AlreadySent)?;
        Ok(Delivery::Answer(sender, answer, None))
    }

    /// Answers with a head; the body goes through the returned stream.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn streamed(
        &mut self,
        head: http::Response<()>,
    ) -> Result<(Delivery, ResponseStream), Error> {
        let sender = self.0.take().ok_or(Error::AlreadySent)?;
        let (pieces, receiver) = mpsc::unbounded_channel();
        let state = Arc::new(StreamState::default());
        let body = StreamBody {
            pieces: receiver,
            state: Arc::clone(&state),
            finished: false,
            broken: false,
        };
        Ok((
            Delivery::Answer(sender, Answer::Streamed(head.map(|()| body)), None),
            ResponseStream { pieces, state },
        ))
    }
}

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
}

impl ResponseStream {
    /// Appends bytes. The number of queued bytes is [`ResponseStream::queued`]; waiting is up to the caller.
    ///
    /// # Errors
    /// [`Error::Disconnected`] once the client left.
    pub fn write(&self, bytes: Bytes) -> Result<Delivery, Error> {
        if !self.is_open() {
            return Err(Error::Disconnected);
        }
        self.state.queued.fetch_add(bytes.len(), Ordering::AcqRel);
        Ok(Delivery::Piece(
            self.pieces.clone(),
            Piece::Data(bytes),
            None,
        ))
    }

    /// Ends the body, or breaks it off.
    #[must_use]
    pub fn end(&self, complete: bool) -> Delivery {
        let piece = if complete { Piece::End } else { Piece::Abort };
        Delivery::Piece(self.pieces.clone(), piece, None)
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
