//! The direct way of a connection: requests without a body whose answer is whole and small, parsed, answered and
//! written here. They are most of all requests, and hyper's general machinery costs more than such an answer.
//!
//! It decides nothing itself: the stream's guard has judged the bytes, the [`Service`] answers. Whatever is not that
//! simple (another method, several requests at once, an answer in pieces) goes to hyper with the bytes it came in, and
//! with its answer if it has one already; the connection stays there.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBuf, Write};

use crate::http::guarded_stream::{GuardedStream, SCRATCH};
use crate::http::plain_request;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;

thread_local! {
    static JUDGED: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
}

/// How the direct way ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With the connection.
    Closed,
    /// hyper goes on, with the bytes that were put back into the stream.
    Handed,
}

/// Serves requests until one is not simple enough or the connection ends. `closing` resolves when the server stops.
pub(crate) async fn serve(
    stream: &mut GuardedStream,
    service: &Arc<Service>,
    closing: impl Future<Output = ()>,
) -> io::Result<End> {
    let mut closing = pin!(closing);
    let mut is_told = false;
    let mut next = Bytes::new();
    loop {
        if next.is_empty() {
            next = poll_fn(|context| {
                if let Poll::Ready(head) = poll_read(stream, context) {
                    return Poll::Ready(head);
                }
                // Once asked, it wakes this task; so it is not asked with every request.
                if is_told && !service.is_closing() {
                    return Poll::Pending;
                }
                is_told = true;
                closing.as_mut().poll(context).map(|()| Ok(Bytes::new()))
            })
            .await?;
        }
        let head = std::mem::take(&mut next);
        if head.is_empty() {
            shutdown(stream).await?;
            return Ok(End::Closed);
        }
        let Some(request) = plain_request::parse(&head, service.peer()) else {
            stream.put_back(&head);
            return Ok(End::Handed);
        };
        let Some(reply) = answer(stream, service, request, &mut next).await? else {
            return Ok(End::Closed);
        };
        let is_last = service.is_closing();
        let bytes = match reply.into_written() {
            Ok(written) => written.into_bytes(stream.touch(), is_last),
            Err(reply) => {
                service.prepare(reply);
                stream.put_back(&[&head[..], &next[..]].concat());
                return Ok(End::Handed);
            }
        };
        write(stream, &bytes).await?;
        if is_last {
            shutdown(stream).await?;
            return Ok(End::Closed);
        }
    }
}

/// The answer; none if the client left before it. What the client sends meanwhile is read once, as hyper does.
async fn answer(
    stream: &mut GuardedStream,
    service: &Arc<Service>,
    request: Box<Request>,
    next: &mut Bytes,
) -> io::Result<Option<Reply>> {
    let mut answering = service.answer(request, None);
    poll_fn(|context| {
        if let Poll::Ready(reply) = Pin::new(&mut answering).poll(context) {
            return Poll::Ready(Ok(Some(reply)));
        }
        if !next.is_empty() {
            return Poll::Pending;
        }
        *next = ready!(poll_read(stream, context))?;
        if next.is_empty() {
            return Poll::Ready(Ok(None));
        }
        Poll::Pending
    })
    .await
}

/// Judged bytes, none at the end of the connection.
fn poll_read(stream: &mut GuardedStream, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
    JUDGED.with_borrow_mut(|judged| {
        let mut buffer = ReadBuf::new(judged);
        ready!(Pin::new(stream).poll_read(context, buffer.unfilled()))?;
        Poll::Ready(Ok(Bytes::copy_from_slice(buffer.filled())))
    })
}

async fn write(stream: &mut GuardedStream, mut left: &[u8]) -> io::Result<()> {
    while !left.is_empty() {
        let written = poll_fn(|context| Pin::new(&mut *stream).poll_write(context, left)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        left = &left[written..];
    }
    stream.flushed();
    Ok(())
}

async fn shutdown(stream: &mut GuardedStream) -> io::Result<()> {
    poll_fn(|context| Pin::new(&mut *stream).poll_shutdown(context)).await
}
