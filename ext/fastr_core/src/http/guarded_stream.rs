//! The stream between the socket and hyper: every byte read passes the guard, every phase has its timer, and a client
//! that closes its sending side is told from one that left.
//!
//! TCP does not tell the two apart. A client that half-closes and waits is answered if that takes no longer than
//! [`HALF_CLOSE_GRACE`]; during a streamed answer, which can take for ever, a closed sending side counts as gone.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::http::connection::ConnectionState;
use crate::http::guard::{Guard, Phase, Rejection, Step};
use crate::http::lazy_timer::LazyTimer;
use crate::http::server::Shared;

/// How long a client that closed its sending side is believed to wait for its answer.
const HALF_CLOSE_GRACE: Duration = Duration::from_secs(1);
/// So much is read at once. One buffer serves all connections of the thread.
const SCRATCH: usize = 64 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
}

pub(crate) struct GuardedStream {
    stream: TcpStream,
    state: Arc<ConnectionState>,
    shared: Arc<Shared>,
    guard: Guard,
    /// Read, but not judged to the end.
    input: BytesMut,
    /// Judged good, but not taken by hyper.
    output: BytesMut,
    broken: Option<Rejection>,
    rejected: bool,
    /// When the client closed its sending side.
    ended: Option<Instant>,
    /// The last time something moved: bytes came, or an answer was flushed.
    active: Instant,
    /// Which head is being received, and when it began.
    head: Option<(u64, Instant)>,
    /// Since when a body that the application wants more of does not come.
    waiting: Option<Instant>,
    /// Bytes of all bodies before the present one came to be waited for, and how long it was waited for since.
    body: Option<(u64, Duration)>,
    reader: Option<Waker>,
    read_timer: LazyTimer,
    /// Whether written bytes may still be on their way to the socket.
    writing: bool,
    stalled: Option<Instant>,
    write_timer: LazyTimer,
}

impl GuardedStream {
    pub(crate) fn new(stream: TcpStream, state: Arc<ConnectionState>, shared: Arc<Shared>) -> Self {
        Self {
            stream,
            state,
            guard: Guard::new(&shared.limits),
            shared,
            input: BytesMut::new(),
            output: BytesMut::new(),
            broken: None,
            rejected: false,
            ended: None,
            active: Instant::now(),
            head: None,
            waiting: None,
            body: None,
            reader: None,
            read_timer: LazyTimer::default(),
            writing: false,
            stalled: None,
            write_timer: LazyTimer::default(),
        }
    }

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

    /// A head has one deadline, however many pieces it comes in.
    fn note_head(&mut self) {
        if self.guard.phase() != Phase::Head {
            self.head = None;
        } else if self
            .head
            .is_none_or(|(number, _)| number != self.guard.heads())
        {
            self.head = Some((self.guard.heads(), self.active));
        }
    }

    /// Only the time that the application waited for the client counts against a slow body.
    fn count_waiting(&mut self) {
        let waited = self.waiting.take().map(|since| self.active - since);
        if self.guard.phase() != Phase::Body {
            self.body = None;
            return;
        }
        let before = self.guard.body_bytes();
        let (_, total) = self.body.get_or_insert((before, Duration::ZERO));
        *total += waited.unwrap_or_default();
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

    /// The client closed its sending side: ready once it counts as gone.
    fn poll_gone(&mut self, ended: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.writing && !self.state.is_streaming() {
            return self.park(context);
        }
        let is_whole = self.guard.phase() == Phase::Idle;
        if !is_whole || !self.is_answering() || self.state.is_streaming() {
            return Poll::Ready(());
        }
        let deadline = ended.max(self.active) + HALF_CLOSE_GRACE;
        ready!(self.read_timer.poll(deadline, context));
        Poll::Ready(())
    }

    /// Whether a request that hyper was given is not answered yet.
    fn is_answering(&self) -> bool {
        self.guard.heads() > self.state.answered()
    }

    fn park<T>(&mut self, context: &Context<'_>) -> Poll<T> {
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Nothing came: ready with what to do when the phase took too long.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Late> {
        let limits = &self.shared.limits;
        match self.guard.phase() {
            Phase::Idle if self.is_answering() || self.writing => Poll::Pending,
            Phase::Idle => {
                ready!(
                    self.read_timer
                        .poll(self.active + limits.keep_alive_timeout, context)
                );
                Poll::Ready(Late::Idle)
            }
            Phase::Head => {
                let since = self.head.map_or(self.active, |(_, since)| since);
                ready!(self.read_timer.poll(since + limits.head_timeout, context));
                Poll::Ready(Late::Refuse("the request head did not arrive in time"))
            }
            Phase::Body => {
                let since = *self.waiting.get_or_insert_with(Instant::now);
                ready!(self.read_timer.poll(since + limits.body_timeout, context));
                Poll::Ready(Late::Refuse("the request body did not arrive in time"))
            }
            Phase::Tunnel | Phase::Closed => Poll::Pending,
        }
    }

    /// Whether a body that keeps dripping comes slower than the rate the limits ask for.
    fn is_dripping(&self) -> bool {
        let Some((before, waited)) = self.body.filter(|_| self.guard.phase() == Phase::Body) else {
            return false;
        };
        let limits = &self.shared.limits;
        let received = self.guard.body_bytes() - before;
        waited > limits.body_grace && received < limits.body_rate * waited.as_secs()
    }

    fn refuse(&mut self, reason: &'static str) {
        let step = self.guard.refuse(
            Rejection::new(408, reason),
            &mut self.input,
            &mut self.output,
        );
        self.follow(step);
    }

    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.writing = true;
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let since = *self.stalled.get_or_insert_with(Instant::now);
        ready!(
            self.write_timer
                .poll(since + self.shared.limits.write_timeout, context)
        );
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client takes nothing",
        )))
    }
}

enum Late {
    Idle,
    Refuse(&'static str),
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

impl Write for GuardedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.wrote(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.wrote(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper flushes when everything it had was written. It does not read again then if reading was pending before:
    /// so the idle timer starts here, and a client that closed its sending side is seen to here.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if std::mem::take(&mut this.writing) {
            this.active = Instant::now();
            let idle_until = this.active + this.shared.limits.keep_alive_timeout;
            let is_idle = this.guard.phase() == Phase::Idle;
            let is_over = is_idle && this.read_timer.poll(idle_until, context).is_ready();
            if is_over || this.ended.is_some() {
                context.waker().wake_by_ref();
            }
            if let Some(reader) = this.reader.take() {
                reader.wake();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// A refused client, and one whose body nobody wanted, is read from a little longer, so that a reset does not
    /// destroy its answer (RFC 9112 9.6).
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        let is_unread = matches!(this.guard.phase(), Phase::Body | Phase::Closed);
        if !is_unread || this.ended.is_some() {
            return Poll::Ready(Ok(()));
        }
        let deadline = this.active + this.shared.limits.linger;
        loop {
            if this.read_timer.poll(deadline, context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let discarded = BUFFER.with_borrow_mut(|scratch| {
                let mut filled = ReadBuf::new(scratch);
                let read = Pin::new(&mut this.stream).poll_read(context, &mut filled);
                read.map_ok(|()| filled.filled().len())
            });
            if ready!(discarded)? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
