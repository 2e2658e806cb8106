//! Following a request until its answer is out: the count of requests in flight, and the word to the dispatcher when
//! a client leaves before that.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};

use crate::event::{Event, RequestId};
use crate::http::request_body::RequestBody;
use crate::http::responder::StreamBody;
use crate::http::server::Shared;

/// A request between its hand-over and the end of its answer. Dropped early, it reports the client as gone.
pub(crate) struct InFlight {
    shared: Arc<Shared>,
    id: RequestId,
    body: RequestBody,
    finished: bool,
}

impl InFlight {
    pub(crate) fn new(shared: Arc<Shared>, id: RequestId, body: RequestBody) -> Self {
        shared.in_flight.fetch_add(1, Ordering::AcqRel);
        Self {
            shared,
            id,
            body,
            finished: false,
        }
    }

    /// The body of the request.
    pub(crate) fn body(&self) -> &RequestBody {
        &self.body
    }

    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.body.abandon();
        self.shared.in_flight.fetch_sub(1, Ordering::AcqRel);
        if !self.finished {
            self.shared.reactor.emit(Event::Closed(self.id));
        }
    }
}

/// A streamed body that counts as in flight until its end.
pub(crate) struct TrackedStream {
    body: StreamBody,
    in_flight: InFlight,
}

impl TrackedStream {
    pub(crate) fn new(body: StreamBody, in_flight: InFlight) -> Self {
        Self { body, in_flight }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.body.is_finished()
    }
}

impl Body for TrackedStream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let stream = self.get_mut();
        let frame = Pin::new(&mut stream.body).poll_frame(context);
        if stream.body.is_finished() {
            stream.in_flight.finish();
        }
        frame
    }
}
