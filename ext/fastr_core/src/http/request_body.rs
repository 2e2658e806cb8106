//! A request's body: read piece by piece and only on demand, by one reader at a time.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;

use crate::error::Error;
use crate::event::{Completer, Outcome};
use crate::http::guard::Rejection;
use crate::http::multipart::{self, MultipartLimits};
use crate::reactor::Reactor;

enum Source {
    /// Everything is here.
    Buffered(Bytes),
    /// Some bytes are here, the rest comes from the connection when asked for.
    Incoming(Bytes, Box<Incoming>),
    /// A reader is waiting for the connection.
    Reading,
    /// The end was reached, or reading failed.
    Ended,
}

/// A request's body. Cheap to clone; one reader at a time.
#[derive(Clone)]
pub struct RequestBody {
    /// None: there never was a body.
    source: Option<Arc<Mutex<Source>>>,
    limit: u64,
}

impl RequestBody {
    pub(crate) fn empty() -> Self {
        Self {
            source: None,
            limit: u64::MAX,
        }
    }

    pub(crate) fn buffered(bytes: Bytes) -> Self {
        Self::new(Source::Buffered(bytes), u64::MAX)
    }

    pub(crate) fn incoming(incoming: Incoming, limit: u64) -> Self {
        Self::new(Source::Incoming(Bytes::new(), Box::new(incoming)), limit)
    }

    fn new(source: Source, limit: u64) -> Self {
        Self {
            source: Some(Arc::new(Mutex::new(source))),
            limit,
        }
    }

    /// The whole body if it is here already; otherwise nothing is taken.
    #[must_use]
    pub fn take_buffered(&self) -> Option<Bytes> {
        let Some(mut source) = self.lock() else {
            return Some(Bytes::new());
        };
        let Source::Buffered(bytes) = &mut *source else {
            return None;
        };
        let bytes = std::mem::take(bytes);
        *source = Source::Ended;
        Some(bytes)
    }

    /// Completes with up to `max` bytes, none at the end of the body.
    pub fn read(&self, reactor: &Reactor, max: usize, completer: Completer) {
        let body = self.clone();
        self.operate(reactor, completer, move |taken| async move {
            body.next(taken, max).await
        });
    }

    /// Completes with everything that is left; a body beyond `limit` bytes ends with status 413.
    pub fn read_all(&self, reactor: &Reactor, limit: u64, completer: Completer) {
        let body = self.clone();
        let limit = limit.min(self.limit);
        self.operate(reactor, completer, move |taken| async move {
            body.rest(taken, limit).await
        });
    }

    /// Completes with the parts of a multipart body.
    pub fn read_parts(&self, reactor: &Reactor, content_type: String, completer: Completer) {
        let body = self.clone();
        self.operate(reactor, completer, move |taken| async move {
            let limits = MultipartLimits {
                total: body.limit,
                ..MultipartLimits::default()
            };
            let frames = StreamBody::new(body.stream(taken).map_ok(Frame::data));
            let parts =
                multipart::parse(&content_type, frames, &limits, &std::env::temp_dir()).await?;
            Ok(Outcome::Parts(parts))
        });
    }

    fn operate<F, R>(&self, reactor: &Reactor, completer: Completer, read: F)
    where
        F: FnOnce(Source) -> R,
        R: Future<Output = Result<Outcome, Error>> + Send + 'static,
    {
        let Some(taken) = self.take() else {
            let message = "this body is being read by another fiber";
            return completer.complete(Err(Error::Invalid(message.into())));
        };
        reactor.operate(completer, read(taken));
    }

    /// Takes what there is for one reader; none while another one reads.
    fn take(&self) -> Option<Source> {
        let Some(mut source) = self.lock() else {
            return Some(Source::Ended);
        };
        match std::mem::replace(&mut *source, Source::Reading) {
            Source::Reading => None,
            Source::Ended => {
                *source = Source::Ended;
                Some(Source::Ended)
            }
            taken => Some(taken),
        }
    }

    async fn next(&self, taken: Source, max: usize) -> Result<Outcome, Error> {
        let (mut here, incoming) = match taken {
            Source::Buffered(bytes) => (bytes, None),
            Source::Incoming(bytes, incoming) => (bytes, Some(incoming)),
            Source::Reading | Source::Ended => (Bytes::new(), None),
        };
        let mut incoming = incoming;
        if here.is_empty()
            && let Some(body) = incoming.as_mut()
        {
            match data(body).await? {
                Some(bytes) => here = bytes,
                None => incoming = None,
            }
        }
        let piece = here.split_to(here.len().min(max));
        self.put_back(match incoming {
            Some(body) => Source::Incoming(here, body),
            None if here.is_empty() => Source::Ended,
            None => Source::Buffered(here),
        });
        Ok(Outcome::Bytes(piece))
    }

    async fn rest(&self, taken: Source, limit: u64) -> Result<Outcome, Error> {
        let (here, incoming) = match taken {
            Source::Buffered(bytes) => (bytes, None),
            Source::Incoming(bytes, incoming) => (bytes, Some(incoming)),
            Source::Reading | Source::Ended => (Bytes::new(), None),
        };
        self.put_back(Source::Ended);
        let Some(mut incoming) = incoming else {
            return within(here, limit).map(Outcome::Bytes);
        };
        let expected = usize::try_from(incoming.size_hint().lower().min(limit)).unwrap_or(0);
        let mut whole = BytesMut::with_capacity(here.len() + expected.min(1 << 20));
        whole.extend_from_slice(&here);
        while let Some(bytes) = data(&mut incoming).await? {
            if (whole.len() + bytes.len()) as u64 > limit {
                return Err(too_large(limit));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(Outcome::Bytes(whole.freeze()))
    }

    fn stream(
        &self,
        taken: Source,
    ) -> impl futures_util::Stream<Item = Result<Bytes, Error>> + Send + use<> {
        let (here, incoming) = match taken {
            Source::Buffered(bytes) => (Some(bytes), None),
            Source::Incoming(bytes, incoming) => (Some(bytes), Some(incoming)),
            Source::Reading | Source::Ended => (None, None),
        };
        self.put_back(Source::Ended);
        let state = (
            here.filter(|bytes| !bytes.is_empty()),
            incoming,
            0u64,
            self.limit,
        );
        futures_util::stream::try_unfold(state, |(here, incoming, total, limit)| async move {
            if let Some(bytes) = here {
                let total = total + bytes.len() as u64;
                return Ok(Some((bytes, (None, incoming, total, limit))));
            }
            let Some(mut incoming) = incoming else {
                return Ok(None);
            };
            let Some(bytes) = data(&mut incoming).await? else {
                return Ok(None);
            };
            let total = total + bytes.len() as u64;
            if total > limit {
                return Err(too_large(limit));
            }
            Ok(Some((bytes, (None, Some(incoming), total, limit))))
        })
    }

    /// The request is answered: what was not read of its body is not wanted any more, whoever still holds the
    /// request. A reader that is waiting gets its piece, and no other.
    pub(crate) fn abandon(&self) {
        let left = self
            .lock()
            .map(|mut source| std::mem::replace(&mut *source, Source::Ended));
        drop(left);
    }

    /// Whether bytes of it may still have to come from the client.
    pub(crate) fn is_unread(&self) -> bool {
        self.lock()
            .is_some_and(|source| matches!(*source, Source::Incoming(..) | Source::Reading))
    }

    /// After a read. A body that was abandoned meanwhile stays so.
    fn put_back(&self, source: Source) {
        if let Some(mut present) = self.lock()
            && matches!(*present, Source::Reading)
        {
            *present = source;
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Source>> {
        let source = self.source.as_ref()?;
        Some(source.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for RequestBody {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("RequestBody")
    }
}

/// The next bytes of the body; trailers are passed over.
pub(crate) async fn data(body: &mut Incoming) -> Result<Option<Bytes>, Error> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        if let Ok(bytes) = frame.into_data()
            && !bytes.is_empty()
        {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// A body that failed: refused by the guard, or broken off by the client.
fn broken(error: &hyper::Error) -> Error {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let refusal = inner
            .downcast_ref::<io::Error>()
            .and_then(|error| error.get_ref()?.downcast_ref::<Rejection>());
        if let Some(refusal) = refusal {
            return Error::BadRequest {
                status: refusal.status,
                reason: refusal.reason.clone().into_owned(),
            };
        }
        cause = inner.source();
    }
    Error::BadRequest {
        status: 400,
        reason: "the request body broke off".into(),
    }
}

fn within(bytes: Bytes, limit: u64) -> Result<Bytes, Error> {
    if bytes.len() as u64 > limit {
        Err(too_large(limit))
    } else {
        Ok(bytes)
    }
}

fn too_large(limit: u64) -> Error {
    Error::BadRequest {
        status: 413,
        reason: format!("the request body is larger than {limit} bytes"),
    }
}
