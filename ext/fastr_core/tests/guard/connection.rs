//! RFC 9112 section 9: pipelining, phases, upgrades, and the end of a connection.

use bytes::{BufMut, BytesMut};
use fastr_core::http::guard::{Guard, Phase, Rejection, Step};
use fastr_core::http::limits::Limits;

use crate::support::{run, stand_in, with_field};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const UPGRADE: &str =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

struct Stream {
    guard: Guard,
    input: BytesMut,
    output: BytesMut,
}

impl Stream {
    fn new() -> Self {
        Self {
            guard: Guard::new(&Limits::default()),
            input: BytesMut::new(),
            output: BytesMut::new(),
        }
    }

    fn feed(&mut self, bytes: &str) -> Step {
        self.input.put_slice(bytes.as_bytes());
        self.guard.feed(&mut self.input, &mut self.output)
    }

    fn refuse(&mut self, rejection: Rejection) -> Step {
        self.guard
            .refuse(rejection, &mut self.input, &mut self.output)
    }
}

const TIMEOUT: Rejection = Rejection::new(408, "the request took too long");

#[test]
fn pipelined_requests_pass_in_order() {
    let stream = [
        GET,
        &with_field("Content-Length: 3"),
        "abc",
        GET,
        &with_field("Transfer-Encoding: chunked"),
        "1\r\na\r\n0\r\n\r\n",
        GET,
    ]
    .concat();
    let outcome = run(&stream);
    assert_eq!(
        (outcome.rejection, outcome.heads, outcome.body_bytes),
        (None, 5, 4)
    );
    assert_eq!(outcome.output, stream.into_bytes());
}

#[test]
fn a_refusal_stands_behind_the_requests_before_it_and_ends_the_stream() {
    let outcome = run([GET, GET, "GET / HTTP/3.0\r\n", GET].concat());
    let rejection = outcome.rejection.unwrap();
    assert_eq!(rejection.status, 505);
    assert_eq!(
        outcome.output,
        [GET.repeat(2).as_bytes(), &stand_in(&rejection)].concat()
    );
    assert_eq!(
        (outcome.phase, outcome.heads, outcome.held),
        (Phase::Closed, 3, 0)
    );
}

#[test]
fn a_refusal_is_told_once_and_what_follows_it_is_swallowed() {
    let mut stream = Stream::new();
    assert_eq!(stream.feed("GET /\r\n"), Step::Rejected);
    assert_eq!(
        stream.guard.take_rejection().map(|why| why.status),
        Some(400)
    );
    assert_eq!(stream.guard.take_rejection(), None);
    let length = stream.output.len();
    assert_eq!(stream.feed(GET), Step::Rejected);
    assert_eq!(stream.guard.pass(GET.as_bytes()), 0);
    assert_eq!((stream.output.len(), stream.input.len()), (length, 0));
}

#[test]
fn a_broken_body_stays_broken() {
    let mut stream = Stream::new();
    stream.feed(&with_field("Transfer-Encoding: chunked"));
    let step = stream.feed("x\r\n");
    assert!(matches!(step, Step::BrokenBody(_)));
    assert_eq!(stream.feed(GET), step);
    assert_eq!(
        (stream.guard.phase(), stream.input.len()),
        (Phase::Closed, 0)
    );
}

// Async-h1 RUSTSEC-2020-0093: a body that nobody read became the next request.
#[test]
fn a_body_belongs_to_its_request_whoever_reads_it() {
    let body = GET.repeat(3);
    let outcome = run(with_field(&format!("Content-Length: {}", body.len())) + &body);
    assert_eq!((outcome.heads, outcome.body_bytes), (1, body.len() as u64));
}

#[test]
fn the_phase_follows_the_stream() {
    let mut stream = Stream::new();
    let mut phase_after = |bytes: &str| {
        assert_eq!(stream.feed(bytes), Step::More);
        stream.guard.phase()
    };
    assert_eq!(phase_after(""), Phase::Idle);
    assert_eq!(phase_after("G"), Phase::Head);
    assert_eq!(
        phase_after("ET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"),
        Phase::Body
    );
    assert_eq!(phase_after("a"), Phase::Body);
    assert_eq!(phase_after("b"), Phase::Idle);
    assert_eq!(phase_after("\r"), Phase::Head);
    assert_eq!(
        phase_after("\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Phase::Body
    );
    assert_eq!(phase_after("1\r\na\r\n0\r\nX: y\r\n"), Phase::Body);
    assert_eq!(phase_after("\r\n"), Phase::Idle);
}

#[test]
fn a_body_with_a_length_may_be_read_past_the_guard() {
    let mut stream = Stream::new();
    assert_eq!(stream.guard.passthrough(), None);
    stream.feed(&with_field("Content-Length: 10"));
    assert_eq!(stream.guard.passthrough(), Some(10));
    assert_eq!(stream.guard.pass(b"0123"), 4);
    assert_eq!(stream.guard.passthrough(), Some(6));
    assert_eq!(stream.guard.pass(b"456789"), 6);
    assert_eq!(
        (stream.guard.passthrough(), stream.guard.phase()),
        (None, Phase::Idle)
    );
    assert_eq!(stream.guard.body_bytes(), 10);
}

#[test]
fn passing_stops_in_front_of_what_is_not_passed_unchanged() {
    let incomplete = [GET, GET, "GET / HT"].concat();
    assert_eq!(
        Guard::new(&Limits::default()).pass(incomplete.as_bytes()),
        2 * GET.len()
    );
    for other in [
        "\r\n",
        "GET / HTTP/9.9\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX_Y: z\r\n\r\n",
    ] {
        let stream = [GET, other, GET].concat();
        assert_eq!(
            Guard::new(&Limits::default()).pass(stream.as_bytes()),
            GET.len(),
            "{other:?}"
        );
    }
}

#[test]
fn nothing_passes_while_something_is_held() {
    let mut stream = Stream::new();
    stream.feed("GET / HTTP/1.1\r\n");
    assert_eq!(stream.guard.pass(GET.as_bytes()), 0);
    assert_eq!(stream.feed("Host: a\r\n\r\n"), Step::More);
    assert_eq!(stream.output, GET);
}

#[test]
fn a_timeout_in_a_head_is_answered_in_its_turn() {
    let mut stream = Stream::new();
    stream.feed(GET);
    stream.feed("GET / HT");
    assert_eq!(stream.refuse(TIMEOUT), Step::Rejected);
    assert_eq!(
        stream.output,
        [GET.as_bytes(), &stand_in(&TIMEOUT)].concat()
    );
    assert_eq!(
        (stream.guard.take_rejection(), stream.input.len()),
        (Some(TIMEOUT), 0)
    );
    assert_eq!(stream.refuse(Rejection::new(400, "again")), Step::Rejected);
    assert_eq!(stream.guard.take_rejection(), None);
}

#[test]
fn a_timeout_in_a_body_breaks_it() {
    let mut stream = Stream::new();
    stream.feed(&with_field("Content-Length: 10"));
    assert_eq!(stream.refuse(TIMEOUT), Step::BrokenBody(TIMEOUT));
    assert_eq!(stream.guard.phase(), Phase::Closed);
}

#[test]
fn what_follows_a_request_for_an_upgrade_waits_for_the_answer() {
    for declined in [true, false] {
        let mut stream = Stream::new();
        assert_eq!(
            stream.feed(&[UPGRADE, "\u{1}\u{2}"].concat()),
            Step::Upgrade
        );
        assert_eq!(
            (&stream.output[..], &stream.input[..]),
            (UPGRADE.as_bytes(), b"\x01\x02".as_slice())
        );
        if declined {
            assert_eq!(stream.feed(""), Step::Rejected);
            continue;
        }
        stream.guard.disable();
        assert_eq!(stream.feed("\u{3}"), Step::More);
        assert!(stream.output.ends_with(b"\x01\x02\x03"));
        assert_eq!(
            (stream.guard.phase(), stream.guard.passthrough()),
            (Phase::Tunnel, Some(u64::MAX))
        );
        assert_eq!(stream.guard.pass(b"\0\0"), 2);
    }
}

#[test]
fn a_request_for_an_upgrade_ends_with_its_body() {
    let mut stream = Stream::new();
    let head = with_field("Upgrade: h2c\r\nContent-Length: 2");
    assert_eq!(stream.feed(&head), Step::More);
    assert_eq!(stream.feed("ab\0"), Step::Upgrade);
    assert_eq!(&stream.input[..], b"\0");
}

#[test]
fn passing_stops_behind_a_request_for_an_upgrade() {
    let mut guard = Guard::new(&Limits::default());
    assert_eq!(
        guard.pass([UPGRADE, "\0"].concat().as_bytes()),
        UPGRADE.len()
    );
}

#[test]
fn http_1_0_cannot_ask_for_an_upgrade() {
    let mut stream = Stream::new();
    assert_eq!(
        stream.feed("GET / HTTP/1.0\r\nUpgrade: websocket\r\n\r\n"),
        Step::More
    );
}
