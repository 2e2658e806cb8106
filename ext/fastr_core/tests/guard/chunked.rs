//! RFC 9112 section 7.1: chunks, their extensions and the trailer section.

use crate::support::{Outcome, assert_broken, assert_passes, feed, run, small_limits, with_field};

fn post(body: &str) -> String {
    with_field("Transfer-Encoding: chunked") + body
}

fn run_small(body: &str) -> Outcome {
    feed(&small_limits(), [post(body).as_bytes()])
}

fn status(body: &str) -> Option<u16> {
    run_small(body).rejection.map(|why| why.status)
}

#[test]
fn chunks_pass_unchanged() {
    for body in [
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "a\r\n0123456789\r\nA\r\n0123456789\r\n00\r\n\r\n",
        "2\r\n\r\n\r\n0\r\n\r\n",
    ] {
        assert_passes(post(body));
    }
    assert_eq!(
        run(post("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")).body_bytes,
        11
    );
}

#[test]
fn what_follows_the_last_chunk_is_the_next_request() {
    assert_passes(post("1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"));
}

// Puma CVE-2022-24790: decoders that stop at the first byte they do not know.
#[test]
fn a_size_of_anything_but_hexadecimal_digits_is_400() {
    for size in [
        "", "g", "+5", "-5", "0x5", " 5", "5 ", "5\t", "5 ;a", "\t5", "5\0", "5g", "5,", "5.0",
        "5\u{b}", "٣",
    ] {
        assert_broken(400, post(&format!("{size}\r\nhello\r\n0\r\n\r\n")));
    }
}

// RUSTSEC-2021-0079: a size that wraps.
#[test]
fn a_size_that_does_not_fit_64_bits_is_refused() {
    assert_broken(400, post("10000000000000005\r\nhello\r\n0\r\n\r\n"));
    assert_broken(413, post("ffffffffffffffff\r\nhello\r\n0\r\n\r\n"));
    assert_broken(
        413,
        post("5\r\nhello\r\nffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
    );
}

#[test]
fn leading_zeros_are_limited_to_sixteen_digits() {
    assert_passes(post(
        "0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n",
    ));
    assert_broken(400, post("00000000000000005\r\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post(&"0".repeat(1000)));
}

#[test]
fn a_size_line_that_does_not_end_in_cr_lf_is_400() {
    assert_broken(400, post("5\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post("5\rhello\r\n0\r\n\r\n"));
    assert_broken(400, post("5\r\r\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post("0\n\r\n"));
}

#[test]
fn data_that_is_not_followed_by_cr_lf_is_400() {
    assert_broken(400, post("5\r\nhello!\r\n0\r\n\r\n"));
    assert_broken(400, post("5\r\nhello\n0\r\n\r\n"));
    assert_broken(400, post("5\r\nhello\r0\r\n\r\n"));
    assert_broken(400, post("5\r\nhello0\r\n\r\n"));
}

#[test]
fn extensions_pass_unread() {
    assert_passes(post("5;a=b;c=\"d;e\"; f\r\nhello\r\n0;x\r\n\r\n"));
    assert_passes(post("5;\r\nhello\r\n0\r\n\r\n"));
}

// Extensions with a bare line end, which one side takes for the end of the line.
#[test]
fn an_extension_with_a_control_character_is_400() {
    assert_broken(400, post("5;a\nb\r\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post("5;a\rb\r\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post("5;\n\r\nhello\r\n0\r\n\r\n"));
    assert_broken(400, post("5;a\0\r\nhello\r\n0\r\n\r\n"));
}

// Puma CVE-2024-21647, GHSA-c2f4: extensions without bound.
#[test]
fn extensions_are_limited_in_each_line_and_together() {
    assert_eq!(
        status(&format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(18))),
        None
    );
    assert_eq!(
        status(&format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(19))),
        Some(400)
    );
    assert_eq!(status(&format!("5;{}", "x".repeat(1000))), Some(400));
    let chunk = format!("1;{}\r\na\r\n", "x".repeat(9));
    assert_eq!(status(&(chunk.repeat(4) + "0\r\n\r\n")), None);
    assert_eq!(status(&(chunk.repeat(4) + "0;\r\n\r\n")), Some(400));
}

// Rack CVE-2026-34829: a chunked upload past the limit.
#[test]
fn a_counted_length_over_the_limit_is_413_at_the_size_that_passes_it() {
    let part = format!("1f4\r\n{}\r\n", "a".repeat(500));
    assert_eq!(status(&(part.repeat(2) + "0\r\n\r\n")), None);
    let outcome = run_small(&(part.repeat(2) + "1\r\na\r\n0\r\n\r\n"));
    assert_eq!(outcome.rejection.map(|why| why.status), Some(413));
    assert_eq!((outcome.is_broken, outcome.body_bytes), (true, 1000));
    assert_eq!(status("3e9\r\n"), Some(413));
}

#[test]
fn trailer_fields_pass_unchanged() {
    assert_passes(post(
        "1\r\na\r\n0\r\nX-Checksum: 1\r\nServer-Timing: x;dur=1\r\n\r\n",
    ));
}

// Puma CVE-2023-40175: trailers read as the next request, or the other way round.
#[test]
fn a_trailer_that_is_no_field_line_is_400() {
    for line in [
        "GET / HTTP/1.1",
        "X",
        "X : y",
        " X: y",
        ": y",
        "X: a\u{1}",
        "X: a\nY: b",
        "X: a\rY: b",
    ] {
        assert_broken(400, post(&format!("0\r\n{line}\r\n\r\n")));
    }
    assert_broken(400, post("0\r\nX: y\n\r\n"));
    assert_broken(400, post("0\r\nX: y\r\n\n"));
}

#[test]
fn a_trailer_that_frames_routes_or_authenticates_is_400() {
    for name in [
        "Content-Length",
        "transfer-encoding",
        "HOST",
        "Connection",
        "Authorization",
        "Cookie",
        "X-Forwarded-For",
        "x-forwarded-proto",
        "Trailer",
    ] {
        assert_broken(400, post(&format!("0\r\n{name}: 1\r\n\r\n")));
    }
}

#[test]
fn a_trailer_with_an_underscore_is_left_out() {
    let outcome = run(post("0\r\nA: 1\r\nContent_Length: 5\r\nB: 2\r\n\r\n"));
    assert_eq!(outcome.rejection, None);
    assert_eq!(
        outcome.output,
        post("0\r\nA: 1\r\nB: 2\r\n\r\n").into_bytes()
    );
}

#[test]
fn trailers_are_limited_in_number_and_size() {
    assert_eq!(status(&format!("0\r\n{}\r\n", "X: y\r\n".repeat(5))), None);
    assert_eq!(
        status(&format!("0\r\n{}\r\n", "X: y\r\n".repeat(6))),
        Some(431)
    );
    assert_eq!(status(&format!("0\r\nX: {}\r\n\r\n", "y".repeat(55))), None);
    assert_eq!(
        status(&format!("0\r\nX: {}\r\n\r\n", "y".repeat(58))),
        Some(431)
    );
    assert_eq!(status(&format!("0\r\nX: {}", "y".repeat(1000))), Some(431));
}

#[test]
fn the_bytes_before_a_fault_pass_and_none_behind_it() {
    let outcome = run(post(
        "5\r\nhello\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ));
    assert!(outcome.is_broken);
    assert_eq!(outcome.output, post("5\r\nhello\r\n").into_bytes());
}
