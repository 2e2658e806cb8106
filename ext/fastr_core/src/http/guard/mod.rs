//! The guard: every byte that a plaintext HTTP/1.1 connection reads passes through it before hyper sees it.
//!
//! It owns the framing of messages: head, body by length or in chunks, trailers, next head. It refuses what two
//! programs could read differently, which hyper alone does not (missing or bad Host, `gzip, chunked`, endless chunk
//! sizes), applies the sizes of [`Limits`] and tells which phase the connection is in, so that its timers can be set.
//!
//! It does no I/O, holds no bytes and measures no time. It never repairs: bytes pass as they are or not at all, with
//! two exceptions of field lines that are left out whole because of `_` in their name.
//!
//! - [`Guard::pass`] judges bytes where they are, for reads straight into hyper's buffer.
//! - [`Guard::feed`] takes what `pass` left over: heads in pieces, and everything that is not passed unchanged.
//!
//! A refused head is replaced by a request that carries the [`Rejection`] to the service, behind the requests before
//! it; a refused body ends the connection's reads with an error.

mod chunked;
mod field;
mod head;
mod judge;
mod line;
mod rejection;
mod request_line;
mod syntax;

use bytes::{Buf, BytesMut};

use self::field::copy_without_underscores;
use self::head::Head;
use self::judge::{Move, Place};
pub use self::rejection::Rejection;
use super::limits::Limits;

/// What the next byte from the client belongs to. Each phase has its timer in [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing of the next request was seen: `keep_alive_timeout`.
    Idle,
    /// A head has begun: `head_timeout`.
    Head,
    /// A body is being received: `body_timeout` and `body_rate`.
    Body,
    /// The connection left HTTP/1.1 by [`Guard::disable`].
    Tunnel,
    /// Something was refused; whatever comes is discarded.
    Closed,
}

/// What [`Guard::feed`] came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Everything was judged. What is left in the input is the beginning of something, and needs more bytes.
    More,
    /// A request that asks for an upgrade is complete in the output. What is left in the input is not judged yet: it
    /// belongs to the new protocol after [`Guard::disable`], and to the next request if `feed` is called again.
    Upgrade,
    /// A head was refused: the output ends with the request that carries the rejection, and nothing will follow it.
    Rejected,
    /// A body was refused: when the output is drained, the read fails with this, and so does every later one.
    BrokenBody(Rejection),
}

/// The framing guard of one connection.
#[derive(Debug)]
pub struct Guard {
    limits: Limits,
    head: Head,
    place: Place,
    /// What `pass` found to be more than passing; `feed` does it.
    pending: Option<Move>,
    /// Whether the input begins with a part that was looked at but not passed.
    is_holding: bool,
    wants_upgrade: bool,
    heads: u64,
    body_bytes: u64,
    rejection: Option<Rejection>,
}

impl Guard {
    /// A guard for a new connection, which refuses what is over `limits`.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            head: Head::default(),
            place: Place::Head,
            pending: None,
            is_holding: false,
            wants_upgrade: false,
            heads: 0,
            body_bytes: 0,
            rejection: None,
        }
    }

    /// Judges bytes just read from the socket, and returns how many from the start may go to hyper as they are.
    ///
    /// To be called only while the input of [`Guard::feed`] is empty. The caller moves the rest into that input, and
    /// feeds it: at once if nothing passed, at the next read otherwise.
    pub fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while passed < bytes.len() && self.pending.is_none() && !self.is_holding {
            match self.judge(&bytes[passed..]) {
                Move::Pass(length) => passed += length,
                Move::Wait => self.is_holding = true,
                other => self.pending = Some(other),
            }
            if self.take_upgrade() {
                break;
            }
        }
        passed
    }

    /// Moves what is valid from `input`, the raw bytes, to the end of `output`, the bytes for hyper.
    ///
    /// Between two calls the caller may only append to `input`. However the stream is cut into pieces, the output
    /// and the outcome are the same.
    pub fn feed(&mut self, input: &mut BytesMut, output: &mut BytesMut) -> Step {
        while !input.is_empty() {
            self.is_holding = false;
            let next = match self.pending.take() {
                Some(pending) => pending,
                None => self.judge(input),
            };
            if matches!(next, Move::Wait) {
                self.is_holding = true;
                break;
            }
            self.do_move(next, input, output);
            if self.take_upgrade() {
                return Step::Upgrade;
            }
        }
        self.step()
    }

    /// Ends the connection for a reason the guard cannot see, such as 408 from a timer: like a bad head between or in
    /// heads, like a bad body within one. Discards `input`. Without effect on a closed connection or a tunnel.
    pub fn refuse(
        &mut self,
        rejection: Rejection,
        input: &mut BytesMut,
        output: &mut BytesMut,
    ) -> Step {
        match self.phase() {
            Phase::Idle | Phase::Head => self.refuse_head(rejection, output),
            Phase::Body => self.refuse_body(rejection),
            Phase::Tunnel | Phase::Closed => return self.step(),
        }
        self.pending = None;
        self.is_holding = false;
        input.clear();
        self.step()
    }

    /// The rejection of a refused head or body, once.
    ///
    /// The service does not need it: it finds a head's rejection by [`Rejection::carried_by`], and a body's in the
    /// error of the read. It serves counters and logs.
    pub fn take_rejection(&mut self) -> Option<Rejection> {
        self.rejection.take()
    }

    /// Lets every further byte through: the connection speaks another protocol from here on.
    pub fn disable(&mut self) {
        self.place = Place::Tunnel;
        self.pending = None;
        self.is_holding = false;
    }

    /// What the next byte from the client belongs to.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.place {
            Place::Head if self.head.has_begun() => Phase::Head,
            Place::Head => Phase::Idle,
            Place::Length(_) | Place::Chunked(_) => Phase::Body,
            Place::Tunnel => Phase::Tunnel,
            Place::Rejected | Place::Broken(_) => Phase::Closed,
        }
    }

    /// How many bytes would pass whatever they are: the rest of a body with a length, without end in a tunnel. A
    /// read of at most so many bytes into hyper's buffer leaves nothing over when [`Guard::pass`] is told of it.
    #[must_use]
    pub fn passthrough(&self) -> Option<u64> {
        match self.place {
            Place::Length(left) => Some(left),
            Place::Tunnel => Some(u64::MAX),
            _ => None,
        }
    }

    /// Payload bytes of all bodies of this connection so far, without the framing of chunks. A timer takes the
    /// difference of two readings.
    #[must_use]
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Heads passed so far, the one that carries a rejection included. Less the responses finished, it is the number
    /// of requests in progress or queued in hyper's buffer: while that is not zero the client is not idle.
    #[must_use]
    pub fn heads(&self) -> u64 {
        self.heads
    }

    fn do_move(&mut self, next: Move, input: &mut BytesMut, output: &mut BytesMut) {
        match next {
            Move::Wait => {}
            Move::Pass(length) => move_front(input, output, length),
            Move::Drop(length) => input.advance(length),
            Move::PassWithoutUnderscores(length) => {
                copy_without_underscores(&input[..length], output);
                input.advance(length);
            }
            Move::RefuseHead(rejection) => self.refuse_head(rejection, output),
            Move::RefuseBody(rejection) => self.refuse_body(rejection),
        }
    }

    fn refuse_head(&mut self, rejection: Rejection, output: &mut BytesMut) {
        rejection.write_stand_in(output);
        self.heads += 1;
        self.place = Place::Rejected;
        self.rejection = Some(rejection);
    }

    fn refuse_body(&mut self, rejection: Rejection) {
        self.place = Place::Broken(rejection.clone());
        self.rejection = Some(rejection);
    }

    /// Whether a message that asks for an upgrade has just ended.
    fn take_upgrade(&mut self) -> bool {
        let ended =
            self.wants_upgrade && self.pending.is_none() && matches!(self.place, Place::Head);
        self.wants_upgrade &= !ended;
        ended
    }

    fn step(&self) -> Step {
        match &self.place {
            Place::Rejected => Step::Rejected,
            Place::Broken(rejection) => Step::BrokenBody(rejection.clone()),
            _ => Step::More,
        }
    }
}

/// Moves the front of `input` to the end of `output`; by exchanging the buffers where that is all there is to move.
fn move_front(input: &mut BytesMut, output: &mut BytesMut, length: usize) {
    if output.is_empty() && length == input.len() {
        std::mem::swap(input, output);
        return;
    }
    output.extend_from_slice(&input[..length]);
    input.advance(length);
}
