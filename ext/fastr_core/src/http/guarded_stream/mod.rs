//! The stream between the socket and hyper: every byte read passes the guard, every phase has its timer, and a client
//! that closes its sending side is told from one that left.
//!
//! This file owns what a connection's stream is made of. What is read is in `reading`, the times in `patience`, what
//! is written and how the connection ends in `writing`.

mod patience;
mod reading;
mod writing;

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio::net::TcpStream;

use crate::http::connection::ConnectionState;
use crate::http::guard::{Guard, Rejection};
use crate::http::lazy_timer::LazyTimer;
use crate::http::sendfile::Transfer;
use crate::http::server::Shared;

/// So much is read at once. One buffer serves all connections of the thread.
pub(crate) const SCRATCH: usize = 64 * 1024;

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
    /// The piece of a file that is being sent.
    transfer: Option<Box<Transfer>>,
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
            transfer: None,
            write_timer: LazyTimer::default(),
        }
    }

    /// Puts bytes that were read and judged back in front of the others.
    pub(crate) fn put_back(&mut self, judged: &[u8]) {
        let behind = std::mem::replace(&mut self.output, BytesMut::from(judged));
        self.output.extend_from_slice(&behind);
    }

    /// Something moves now.
    pub(crate) fn touch(&mut self) -> Instant {
        self.active = Instant::now();
        self.active
    }

    fn park<T>(&mut self, context: &Context<'_>) -> Poll<T> {
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }
}
