//! What a response's body can be made of.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::connection::Activity;
use crate::http::static_files::StaticBody;
use crate::http::tracked::TrackedStream;

/// What a response can be made of.
pub(crate) enum Content {
    Whole(Bytes),
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
    _activity: Option<Activity>,
}

impl ResponseBody {
    pub(crate) fn new(content: Content, activity: Option<Activity>) -> Self {
        Self {
            content,
            _activity: activity,
        }
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
            Content::Streamed(body) => Pin::new(body).poll_frame(context),
            Content::File(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(body) => body.is_empty(),
            Content::Streamed(body) => body.is_finished(),
            Content::File(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(body) => SizeHint::with_exact(body.len() as u64),
            Content::Streamed(body) => body.size_hint(),
            Content::File(body) => body.size_hint(),
        }
    }
}
