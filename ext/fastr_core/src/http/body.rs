//! What a response's body can be made of.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};

use crate::http::connection::Activity;
use crate::http::static_files::StaticBody;
use crate::http::tracked::TrackedStream;
use crate::http::written::Written;

/// What a response can be made of.
pub(crate) enum Content {
    Whole(Bytes),
    /// The answer with its head; hyper is given it as a whole body and a head.
    Written(Written),
    Streamed(TrackedStream),
    File(StaticBody),
}

impl Content {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Content::Whole(bytes.into())
    }
}

/// A response's body. Its connection counts as busy while it lives.
pub(crate) struct ResponseBody {
    content: Content,
    activity: Option<Activity>,
}

impl ResponseBody {
    pub(crate) fn new(content: Content, activity: Option<Activity>) -> Self {
        Self { content, activity }
    }

    /// What it is made of, and what it keeps busy.
    pub(crate) fn into_parts(self) -> (Content, Option<Activity>) {
        (self.content, self.activity)
    }
}

/// The answer as bytes; none, and the response unchanged, if hyper has to write it.
pub(crate) fn written(response: &mut Response<ResponseBody>) -> Option<Written> {
    let content = &mut response.body_mut().content;
    match std::mem::replace(content, Content::whole(Bytes::new())) {
        Content::Written(written) => Some(written),
        other => {
            *content = other;
            let Content::Whole(body) = &response.body().content else {
                return None;
            };
            Written::of(response, body)
        }
    }
}

/// The response as hyper takes it.
pub(crate) fn for_hyper(response: Response<ResponseBody>) -> Response<ResponseBody> {
    let (head, body) = response.into_parts();
    let (content, activity) = body.into_parts();
    match content {
        Content::Written(written) => {
            let response = written.into_response().map(Content::Whole);
            response.map(|content| ResponseBody::new(content, activity))
        }
        other => Response::from_parts(head, ResponseBody::new(other, activity)),
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut self.get_mut().content {
            Content::Whole(body) if body.is_empty() => Poll::Ready(None),
            Content::Whole(body) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(body))))),
            // `for_hyper` leaves none: a body without its head would be half an answer.
            Content::Written(_) => Poll::Ready(Some(Err(io::ErrorKind::InvalidInput.into()))),
            Content::Streamed(body) => Pin::new(body).poll_frame(context),
            Content::File(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(body) => body.is_empty(),
            Content::Written(_) => false,
            Content::Streamed(body) => body.is_finished(),
            Content::File(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(body) => SizeHint::with_exact(body.len() as u64),
            Content::Written(_) => SizeHint::default(),
            Content::Streamed(body) => body.size_hint(),
            Content::File(body) => body.size_hint(),
        }
    }
}
