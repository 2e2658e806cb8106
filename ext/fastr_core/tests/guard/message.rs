//! RFC 9112 section 2: the message and its lines.

use crate::support::{assert_passes, assert_refused, feed, run, small_limits};
use fastr_core::http::guard::Phase;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_plain_request_passes_unchanged() {
    assert_passes(GET);
    assert_passes("GET /a/b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\n\r\n");
}

#[test]
fn nothing_of_a_head_passes_before_it_is_complete() {
    let outcome = run("GET / HTTP/1.1\r\nHost: a\r\n\r");
    assert_eq!(outcome.output, b"");
    assert_eq!((outcome.phase, outcome.held), (Phase::Head, 26));
}

#[test]
fn one_empty_line_before_a_request_is_left_out() {
    let outcome = run(format!("\r\n{GET}"));
    assert_eq!(
        (outcome.rejection, outcome.output.as_slice()),
        (None, GET.as_bytes())
    );
    let outcome = run(format!("{GET}\r\n{GET}"));
    assert_eq!(
        (outcome.rejection, outcome.output),
        (None, GET.repeat(2).into_bytes())
    );
}

#[test]
fn more_empty_lines_before_a_request_are_400() {
    assert_refused(400, format!("\r\n\r\n{GET}"));
}

#[test]
fn an_empty_line_begins_a_head_for_the_timers() {
    assert_eq!(run("\r\n").phase, Phase::Head);
}

// Puma CVE-2021-41136: line ends that a proxy reads differently.
#[test]
fn a_bare_line_feed_is_400_wherever_it_stands() {
    assert_refused(400, "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\n\n");
    assert_refused(
        400,
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\nTransfer-Encoding: chunked\r\n\r\n",
    );
}

#[test]
fn a_bare_carriage_return_is_400_wherever_it_stands() {
    assert_refused(400, "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\rHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n");
    assert_refused(
        400,
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rTransfer-Encoding: chunked\r\n\r\n",
    );
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n");
}

#[test]
fn a_nul_is_400_wherever_it_stands() {
    assert_refused(400, "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\0\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n");
}

#[test]
fn space_between_the_request_line_and_the_first_field_is_400() {
    assert_refused(400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\n\tX: b\r\nHost: a\r\n\r\n");
}

#[test]
fn what_can_never_be_a_request_is_400_at_its_first_byte() {
    for start in ["\x16\x03\x01", " ", "\0", "{", "\u{80}", "<"] {
        assert_refused(400, start);
    }
    let reason = run("\x16").rejection.unwrap().reason;
    assert!(reason.contains("TLS"), "{reason}");
}

#[test]
fn a_head_up_to_its_limits_passes_and_one_byte_more_does_not() {
    let limits = small_limits();
    let status = |stream: String| {
        feed(&limits, [stream.as_bytes()])
            .rejection
            .map(|why| why.status)
    };
    let line = |length: usize| {
        format!(
            "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
            "p".repeat(length - 14)
        )
    };
    assert_eq!(status(line(60)), None);
    assert_eq!(status(line(61)), Some(414));
    let block = |length: usize| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "v".repeat(length - 16)
        )
    };
    assert_eq!(status(block(200)), None);
    assert_eq!(status(block(201)), Some(431));
    let count = |count: usize| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "X: y\r\n".repeat(count - 1)
        )
    };
    assert_eq!(status(count(5)), None);
    assert_eq!(status(count(6)), Some(431));
}

#[test]
fn a_head_without_end_is_refused_as_soon_as_it_is_over_a_limit() {
    let limits = small_limits();
    let status = |stream: String| {
        feed(&limits, [stream.as_bytes()])
            .rejection
            .map(|why| why.status)
    };
    assert_eq!(status("G".repeat(62)), None);
    assert_eq!(status("G".repeat(63)), Some(414));
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\n{}", "x".repeat(200))),
        None
    );
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\n{}", "x".repeat(201))),
        Some(431)
    );
}

#[test]
fn a_request_in_the_form_of_the_stand_in_is_refused() {
    assert_refused(
        400,
        "GET * HTTP/1.1\r\nHost: rejected\r\nConnection: close\r\nFastr-Rejected: 200 x\r\n\r\n",
    );
}
