//! Runs streams through a guard as a connection does, and says what came of it.

use bytes::{Buf, BytesMut};
use fastr_core::http::guard::{Guard, Phase, Rejection, Step};
use fastr_core::http::limits::Limits;

/// What a stream came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What hyper would have read.
    pub output: Vec<u8>,
    /// Why a head or body was refused.
    pub rejection: Option<Rejection>,
    /// Whether it was a body.
    pub is_broken: bool,
    /// The phase at the end.
    pub phase: Phase,
    /// Heads passed.
    pub heads: u64,
    /// Payload bytes passed.
    pub body_bytes: u64,
    /// Bytes that wait for more.
    pub held: usize,
}

/// Limits small enough to reach in a test.
pub fn small_limits() -> Limits {
    Limits {
        request_line: 60,
        header_block: 200,
        header_count: 5,
        chunk_line: 20,
        chunk_extensions: 40,
        trailer_block: 60,
        max_body: 1000,
        ..Limits::default()
    }
}

/// Feeds `pieces` one after the other.
pub fn feed<'a>(limits: &Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut guard = Guard::new(limits);
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        feed_all(&mut guard, &mut input, &mut output);
    }
    finish(guard, input, output)
}

/// Reads `pieces` as a connection does: straight into the output while nothing is held.
pub fn pass_and_feed<'a>(limits: &Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut guard = Guard::new(limits);
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    for mut piece in pieces {
        if input.is_empty() {
            let passed = guard.pass(piece);
            output.extend_from_slice(&piece[..passed]);
            piece.advance(passed);
        }
        input.extend_from_slice(piece);
        feed_all(&mut guard, &mut input, &mut output);
    }
    finish(guard, input, output)
}

fn feed_all(guard: &mut Guard, input: &mut BytesMut, output: &mut BytesMut) {
    while guard.feed(input, output) == Step::Upgrade {}
}

fn finish(mut guard: Guard, mut input: BytesMut, mut output: BytesMut) -> Outcome {
    let step = guard.feed(&mut input, &mut output);
    Outcome {
        output: output.to_vec(),
        rejection: guard.take_rejection(),
        is_broken: matches!(step, Step::BrokenBody(_)),
        phase: guard.phase(),
        heads: guard.heads(),
        body_bytes: guard.body_bytes(),
        held: input.len(),
    }
}

/// Feeds `stream` whole, with the default limits.
pub fn run(stream: impl AsRef<[u8]>) -> Outcome {
    feed(&Limits::default(), [stream.as_ref()])
}

/// A head with `line` as its only field beside Host, and nothing behind it.
pub fn with_field(line: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n")
}

/// The stream passes unchanged and leaves the connection idle.
#[track_caller]
pub fn assert_passes(stream: impl AsRef<[u8]>) {
    let outcome = run(&stream);
    assert_eq!(outcome.rejection, None, "{}", show(&stream));
    assert_eq!(outcome.output, stream.as_ref(), "{}", show(&stream));
    assert_eq!(
        (outcome.phase, outcome.held),
        (Phase::Idle, 0),
        "{}",
        show(&stream)
    );
}

/// The stream's only request is refused with `status`, and nothing of it is seen behind the guard.
#[track_caller]
pub fn assert_refused(status: u16, stream: impl AsRef<[u8]>) {
    let outcome = run(&stream);
    let rejection = outcome
        .rejection
        .unwrap_or_else(|| panic!("passed: {}", show(&stream)));
    assert_eq!(rejection.status, status, "{}: {rejection}", show(&stream));
    assert_eq!(outcome.output, stand_in(&rejection), "{}", show(&stream));
    assert!(!outcome.is_broken);
    assert_eq!((outcome.phase, outcome.held), (Phase::Closed, 0));
}

/// The body in `stream` is refused with `status`.
#[track_caller]
pub fn assert_broken(status: u16, stream: impl AsRef<[u8]>) {
    let outcome = run(&stream);
    let rejection = outcome
        .rejection
        .unwrap_or_else(|| panic!("passed: {}", show(&stream)));
    assert_eq!(rejection.status, status, "{}: {rejection}", show(&stream));
    assert!(outcome.is_broken, "{}", show(&stream));
    assert!(
        stream.as_ref().starts_with(&outcome.output),
        "{}",
        show(&stream)
    );
    assert_eq!((outcome.phase, outcome.held), (Phase::Closed, 0));
}

/// The request that carries `rejection`, as it is promised to the service.
pub fn stand_in(rejection: &Rejection) -> Vec<u8> {
    let Rejection { status, reason } = rejection;
    format!(
        "GET * HTTP/1.1\r\nHost: rejected\r\nConnection: close\r\nFastr-Rejected: {status} {reason}\r\n\r\n"
    )
    .into_bytes()
}

fn show(stream: &impl AsRef<[u8]>) -> String {
    stream.as_ref().escape_ascii().to_string()
}
