//! What comes from the client: it is judged by the guard before hyper sees it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use hyper::rt::{Read, ReadBufCursor};
use tokio::io::{AsyncRead, ReadBuf};

use super::patience::Late;
use super::{BUFFER, GuardedStream, SCRATCH};
use crate::http::guard::{Rejection, Step};

impl GuardedStream {
    /// Moves judged bytes into hyper's buffer.
    fn hand_over(&mut self, buffer: &mut ReadBufCursor<'_>) {
        let length = self.output.len().min(buffer.remaining());
        buffer.put_slice(&self.output[..length]);
        self.output.advance(length);
        if self.output.is_empty() {
            self.output = BytesMut::new();
        }
    }

    /// Reads once and judges what came. Ready with false at the end of the stream.
    fn fill(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBufCursor<'_>,
    ) -> Poll<io::Result<bool>> {
        BUFFER.with_borrow_mut(|scratch| {
            // What passes unchanged goes straight on, so it must fit.
            let room = buffer.remaining().min(SCRATCH);
            let mut filled = ReadBuf::new(&mut scratch[..room]);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut filled))?;
            let bytes = filled.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(false));
            }
            self.judge(bytes, buffer);
            Poll::Ready(Ok(true))
        })
    }

    fn judge(&mut self, bytes: &[u8], buffer: &mut ReadBufCursor<'_>) {
        self.active = Instant::now();
        self.count_waiting();
        let passed = if self.input.is_empty() {
            self.guard.pass(bytes)
        } else {
            0
        };
        buffer.put_slice(&bytes[..passed]);
        if passed < bytes.len() {
            self.input.extend_from_slice(&bytes[passed..]);
            let step = self.guard.feed(&mut self.input, &mut self.output);
            self.follow(step);
        }
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
        self.note_head();
    }

    fn follow(&mut self, step: Step) {
        match step {
            // No upgrade is accepted yet: the next bytes are the next request's.
            Step::Upgrade if !self.input.is_empty() => {
                let step = self.guard.feed(&mut self.input, &mut self.output);
                self.follow(step);
            }
            Step::More | Step::Upgrade => {}
            Step::Rejected => self.rejected = true,
            Step::BrokenBody(rejection) => self.broken = Some(rejection),
        }
    }

    fn refuse(&mut self, reason: &'static str) {
        let step = self.guard.refuse(
            Rejection::new(408, reason),
            &mut self.input,
            &mut self.output,
        );
        self.follow(step);
    }
}

impl Read for GuardedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let room = buffer.remaining();
        loop {
            if !this.output.is_empty() {
                this.hand_over(&mut buffer);
            }
            if buffer.remaining() < room {
                return Poll::Ready(Ok(()));
            }
            if let Some(rejection) = &this.broken {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    rejection.clone(),
                )));
            }
            if this.rejected {
                return this.park(context);
            }
            if let Some(ended) = this.ended {
                return this.poll_gone(ended, context).map(Ok);
            }
            match this.fill(context, &mut buffer)? {
                Poll::Ready(true) if this.is_dripping() => {
                    this.refuse("the request body comes too slowly")
                }
                Poll::Ready(true) => {}
                Poll::Ready(false) => this.ended = Some(Instant::now()),
                Poll::Pending => match ready!(this.poll_late(context)) {
                    Late::Idle => return Poll::Ready(Ok(())),
                    Late::Refuse(reason) => this.refuse(reason),
                },
            }
        }
    }
}
