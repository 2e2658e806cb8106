//! What goes to the client, how long it may refuse to take it, and the end of the connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::BufMut;
use hyper::rt::Write;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::{BUFFER, GuardedStream, SCRATCH};
use crate::http::guard::Phase;
use crate::http::sendfile;

/// Answers up to this size are joined before they are written.
const JOINED: usize = 8 * 1024;

impl GuardedStream {
    /// An answer is out, and whoever wrote it reads on.
    pub(crate) fn flushed(&mut self) {
        self.writing = false;
    }

    /// Writes what comes first: bytes, or the piece of a file that a placeholder stands for.
    fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let files = slices
            .iter()
            .position(|slice| sendfile::position(slice).is_some());
        match files {
            None if slices.iter().map(|slice| slice.len()).sum::<usize>() <= JOINED => {
                self.poll_send_joined(context, slices)
            }
            None => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
            Some(0) => self.poll_send_file(context, &slices[0]),
            Some(count) => self.poll_send_before_file(context, &slices[..count]),
        }
    }

    /// Copying a small body behind its head costs less than the kernel's way through a vector.
    fn poll_send_joined(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        BUFFER.with_borrow_mut(|scratch| {
            let mut left = &mut scratch[..];
            for slice in slices {
                left.put_slice(slice);
            }
            let length = SCRATCH - left.len();
            Pin::new(&mut self.stream).poll_write(context, &scratch[..length])
        })
    }

    fn poll_send_before_file(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            let send = || sendfile::send_before_file(&self.stream, slices);
            match self.stream.try_io(Interest::WRITABLE, send) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    fn poll_send_file(
        &mut self,
        context: &mut Context<'_>,
        placeholder: &[u8],
    ) -> Poll<io::Result<usize>> {
        let transfer = match &mut self.transfer {
            Some(transfer) => transfer,
            none => none.insert(Box::new(self.state.files().begin(placeholder)?)),
        };
        let done = sendfile::position(placeholder).unwrap_or_default();
        if done + placeholder.len() != transfer.length() {
            return Poll::Ready(Err(sendfile::out_of_order()));
        }
        let sent = ready!(transfer.poll_send(&mut self.stream, done, context))?;
        if sent == placeholder.len() {
            self.transfer = None;
        }
        Poll::Ready(Ok(sent))
    }

    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.writing = true;
        let is_fetching = self
            .transfer
            .as_ref()
            .is_some_and(|transfer| transfer.is_fetching());
        if written.is_ready() || is_fetching {
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

impl Write for GuardedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // Only vectored writes show placeholders: these bytes may be copies of one.
        if this.transfer.is_some() || !this.state.files().is_empty() {
            return Poll::Ready(Err(sendfile::out_of_order()));
        }
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.wrote(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.poll_send(context, slices);
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
