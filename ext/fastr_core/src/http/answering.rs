//! The future of one request's answer. hyper keeps a place for it in every connection, idle ones too, and moves it
//! there with each request: it is small. What needs a large future (files, bodies that are read first) boxes it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Response, StatusCode, Version};
use tokio::sync::oneshot;
use tokio::time::Sleep;

use crate::http::answers::{busy, closing, framed, internal_error};
use crate::http::body::Content;
use crate::http::connection::Activity;
use crate::http::reply::{Answered, Reply};
use crate::http::responder::Answer;
use crate::http::response_stream::StreamBody;
use crate::http::sent_file::SentFile;
use crate::http::service::Service;
use crate::http::tracked::{InFlight, TrackedStream};

/// How long the head of a deferred answer waits for the first piece of its body. What a query gives comes in this time:
/// one write instead of two, and a length instead of chunks. Who waits for longer has the head almost at once.
const PATIENCE: Duration = Duration::from_millis(10);

/// How far an answer is.
pub(crate) enum Progress {
    /// It is here.
    Done(Answered),
    /// The dispatcher has the request.
    Dispatched(Dispatched),
    /// Its head is here and waits a moment for its body.
    Held(Box<Held>),
    /// Something has to be waited for before that.
    Working(Pin<Box<dyn Future<Output = Progress> + Send>>),
    /// It was given.
    Given,
}

/// A request that the dispatcher has.
pub(crate) struct Dispatched {
    pub(crate) answer: oneshot::Receiver<Answer>,
    pub(crate) in_flight: InFlight,
    pub(crate) deadline: Instant,
    pub(crate) is_head: bool,
    pub(crate) is_http10: bool,
}

/// An answer whose head has not left.
pub(crate) struct Held {
    response: Box<Response<StreamBody>>,
    dispatched: Dispatched,
    patience: Option<Pin<Box<Sleep>>>,
}

/// Resolves to the answer of one request; never fails.
pub(crate) struct Answering {
    service: Arc<Service>,
    progress: Progress,
    activity: Option<Activity>,
    version: Version,
}

impl Answering {
    /// Begins by calling `begin`; a panic in it becomes an answer, as everything does that goes wrong.
    pub(crate) fn new(
        service: Arc<Service>,
        activity: Activity,
        version: Version,
        begin: impl FnOnce(&Arc<Service>) -> Progress,
    ) -> Self {
        let progress = catch_unwind(AssertUnwindSafe(|| begin(&service)));
        Self {
            progress: progress.unwrap_or_else(|_| Progress::broken()),
            service,
            activity: Some(activity),
            version,
        }
    }

    /// An answer that is here already, with the activity it holds.
    pub(crate) fn prepared(service: Arc<Service>, reply: Reply) -> Self {
        Self {
            service,
            progress: Progress::Done(reply.answered),
            activity: reply.activity,
            version: Version::HTTP_11,
        }
    }

    fn advance(&mut self, context: &mut Context<'_>) -> Poll<Answered> {
        loop {
            match &mut self.progress {
                Progress::Working(work) => match work.as_mut().poll(context) {
                    Poll::Ready(next) => self.progress = next,
                    Poll::Pending => return Poll::Pending,
                },
                Progress::Dispatched(dispatched) => {
                    match dispatched.poll_answer(&self.service, context) {
                        Poll::Ready(Some(Ok(Answer::Streamed(response))))
                            if response.body().is_patient() =>
                        {
                            self.hold(response);
                        }
                        answer => return answer.map(|answer| self.answered(answer)),
                    }
                }
                Progress::Held(held) => {
                    return held.poll(context).map(|answer| self.released(answer));
                }
                Progress::Done(_) | Progress::Given => {
                    return Poll::Ready(
                        match std::mem::replace(&mut self.progress, Progress::Given) {
                            Progress::Done(answered) => answered,
                            _ => Answered::response(internal_error()),
                        },
                    );
                }
            }
        }
    }

    fn answered(&mut self, answer: Option<Result<Answer, oneshot::error::RecvError>>) -> Answered {
        match std::mem::replace(&mut self.progress, Progress::Given) {
            Progress::Dispatched(dispatched) => dispatched.respond(&self.service, answer),
            _ => Answered::response(internal_error()),
        }
    }

    fn hold(&mut self, response: Box<Response<StreamBody>>) {
        self.progress = match std::mem::replace(&mut self.progress, Progress::Given) {
            Progress::Dispatched(dispatched) => Progress::Held(Box::new(Held {
                response,
                dispatched,
                patience: None,
            })),
            other => other,
        };
    }

    /// Whole, or as a stream that may have begun.
    fn released(&mut self, whole: Option<Bytes>) -> Answered {
        let Progress::Held(held) = std::mem::replace(&mut self.progress, Progress::Given) else {
            return Answered::response(internal_error());
        };
        let answer = match whole {
            Some(bytes) => Answer::Whole(Box::new(held.response.map(|_| bytes))),
            None => Answer::Streamed(held.response),
        };
        held.dispatched.respond(&self.service, Some(Ok(answer)))
    }

    fn finish(&mut self, mut answered: Answered) -> Reply {
        // An answer that says `close` to HTTP/1.0 must be one of HTTP/1.0: to others hyper adds `keep-alive`.
        if self.version == Version::HTTP_10
            && let Answered::Response(response) = &mut answered
            && response.headers().contains_key(CONNECTION)
        {
            *response.version_mut() = self.version;
        }
        Reply {
            answered,
            activity: self.activity.take(),
        }
    }
}

impl Future for Answering {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let answered = catch_unwind(AssertUnwindSafe(|| this.advance(context)));
        match answered {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(answered)) => Poll::Ready(this.finish(answered)),
            Err(_) => {
                this.progress = Progress::Given;
                Poll::Ready(this.finish(Answered::response(internal_error())))
            }
        }
    }
}

impl Progress {
    pub(crate) fn done(response: Response<Content>) -> Self {
        Progress::Done(Answered::response(response))
    }

    fn broken() -> Self {
        Self::done(internal_error())
    }
}

impl Held {
    /// Ready when the head has to leave: with the whole body, or without.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(whole) = self.response.body_mut().poll_whole(context) {
            return Poll::Ready(whole);
        }
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        patience.as_mut().poll(context).map(|()| None)
    }
}

impl Dispatched {
    /// Ready with the answer, or with nothing once it is too late for one.
    fn poll_answer(
        &mut self,
        service: &Service,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Answer, oneshot::error::RecvError>>> {
        if let Poll::Ready(answer) = Pin::new(&mut self.answer).poll(context) {
            return Poll::Ready(Some(answer));
        }
        let mut timer = service.timer.lock().unwrap_or_else(PoisonError::into_inner);
        timer.poll(self.deadline, context).map(|()| None)
    }

    fn respond(
        self,
        service: &Service,
        answer: Option<Result<Answer, oneshot::error::RecvError>>,
    ) -> Answered {
        let mut in_flight = self.in_flight;
        Answered::response(match answer {
            Some(Ok(Answer::Written(written))) => {
                in_flight.finish();
                if !self.is_head && !self.is_http10 && !in_flight.body().is_unread() {
                    return Answered::Written(written);
                }
                whole(written.into_response(), self.is_head, &in_flight)
            }
            Some(Ok(Answer::Whole(response))) => {
                in_flight.finish();
                whole(*response, self.is_head, &in_flight)
            }
            Some(Ok(Answer::File(response))) => {
                in_flight.finish();
                let queue = service.connection.files();
                let body = |file: SentFile| Content::File(file.into_body().through(queue));
                kept_or_closed(framed(*response, false).map(body), &in_flight)
            }
            Some(Ok(Answer::Streamed(mut response))) => {
                service.connection.answer_streams();
                response.headers_mut().remove(TRANSFER_ENCODING);
                // Without chunks only the end of the connection ends a body of unknown length.
                if self.is_http10 && !response.headers().contains_key(CONTENT_LENGTH) {
                    *response = closing(*response);
                }
                response.map(|body| Content::Streamed(TrackedStream::new(body, in_flight)))
            }
            Some(Err(_)) => {
                in_flight.finish();
                internal_error()
            }
            // Dropping `in_flight` unfinished tells the dispatcher to cancel what runs for this request.
            None => busy("no answer was given in time"),
        })
    }
}

/// A whole answer, framed by the server.
fn whole(response: Response<Bytes>, is_head: bool, in_flight: &InFlight) -> Response<Content> {
    let names_another = is_head || response.status() == StatusCode::NOT_MODIFIED;
    let names_another = names_another && response.body().is_empty();
    kept_or_closed(
        framed(response, names_another).map(Content::whole),
        in_flight,
    )
}

/// The last answer of its connection if nobody read the request's body to its end.
fn kept_or_closed(response: Response<Content>, in_flight: &InFlight) -> Response<Content> {
    if in_flight.body().is_unread() {
        return closing(response);
    }
    response
}
