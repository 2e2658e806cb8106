//! The responder: the one-shot right to answer a request. What a streamed answer is written to is
//! `response_stream`'s.
//!
//! Every path answers exactly once. A responder dropped unanswered is a 500.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Method, StatusCode};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::http::declared_length::DeclaredLength;
use crate::http::request::Request;
pub use crate::http::response_stream::{ResponseStream, StreamBody};
use crate::http::sent_file::SentFile;
use crate::http::written::Written;

/// What the Ruby side gives for one request.
#[derive(Debug)]
pub enum Answer {
    /// Head and whole body.
    Whole(Box<http::Response<Bytes>>),
    /// The same as bytes.
    Written(Written),
    /// Head and a whole file.
    File(Box<http::Response<SentFile>>),
    /// A head whose body follows in pieces.
    Streamed(Box<http::Response<StreamBody>>),
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
    /// The right of a request that the dispatcher does not have yet.
    pub(crate) fn none() -> Self {
        Self(None)
    }

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

    /// Answers with a whole response, in one of its forms.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn whole(&mut self, answer: Answer) -> Result<Delivery, Error> {
        let sender = self.0.take().ok_or(Error::AlreadySent)?;
        Ok(Delivery::Answer(sender, answer, None))
    }

    /// Answers with a file; none, and the right is kept, if the head names another length or has no body.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn file(
        &mut self,
        head: http::Response<()>,
        file: SentFile,
        method: &Method,
    ) -> Result<Option<Delivery>, Error> {
        let status = head.status();
        let is_bodiless = method == Method::HEAD
            || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let length = head.headers().get(CONTENT_LENGTH);
        if is_bodiless || length.is_some_and(|length| *length != HeaderValue::from(file.size())) {
            return Ok(None);
        }
        let answer = Answer::File(Box::new(head.map(|()| file)));
        self.whole(answer).map(Some)
    }

    /// Answers with a head; the body goes through the returned stream.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn streamed(
        &mut self,
        head: http::Response<()>,
        method: &Method,
    ) -> Result<(Delivery, ResponseStream), Error> {
        self.begin(head, method, false)
    }

    /// Like [`Responder::streamed`], but the head may wait a moment for the first piece, to leave with it.
    ///
    /// # Errors
    /// [`Error::AlreadySent`] on the second answer.
    pub fn deferred(
        &mut self,
        head: http::Response<()>,
        method: &Method,
    ) -> Result<(Delivery, ResponseStream), Error> {
        self.begin(head, method, true)
    }

    fn begin(
        &mut self,
        head: http::Response<()>,
        method: &Method,
        patient: bool,
    ) -> Result<(Delivery, ResponseStream), Error> {
        let length = DeclaredLength::of(&head, method);
        let sender = self.0.take().ok_or(Error::AlreadySent)?;
        let (body, stream) = ResponseStream::open(length, patient);
        let answer = Answer::Streamed(Box::new(head.map(|()| body)));
        Ok((Delivery::Answer(sender, answer, None), stream))
    }
}
