//! RFC 9112 section 6: Transfer-Encoding, Content-Length and the length of the body.

use crate::support::{assert_passes, assert_refused, run, with_field};
use fastr_core::http::guard::Phase;

const CHUNKED: &str = "Transfer-Encoding: chunked";

// CVE-2020-11076, -11077 (Puma), CVE-2020-25613 (WEBrick), CVE-2023-38697 (protocol-http1), RUSTSEC-2021-0081.
#[test]
fn a_length_together_with_a_transfer_coding_is_400_in_either_order() {
    assert_refused(400, with_field(&format!("Content-Length: 5\r\n{CHUNKED}")));
    assert_refused(400, with_field(&format!("{CHUNKED}\r\nContent-Length: 5")));
    assert_refused(400, with_field(&format!("{CHUNKED}\r\nContent-Length: 0")));
}

#[test]
fn the_name_of_the_chunked_coding_has_no_case() {
    for line in [
        CHUNKED,
        "transfer-encoding:CHUNKED",
        "TRANSFER-ENCODING: \tChunked\t",
    ] {
        assert_passes(with_field(line) + "0\r\n\r\n");
    }
}

// RUSTSEC-2021-0020: the last of many Transfer-Encoding fields decided.
#[test]
fn two_transfer_encoding_fields_are_400() {
    assert_refused(400, with_field(&format!("{CHUNKED}\r\n{CHUNKED}")));
    assert_refused(
        400,
        with_field(&format!("{CHUNKED}\r\nTransfer-Encoding: identity")),
    );
}

// Puma CVE-2022-24790.
#[test]
fn a_transfer_encoding_whose_end_cannot_be_told_is_400() {
    for value in [
        "",
        ",",
        "identity",
        "gzip",
        "xchunked",
        "chunkedx",
        "chunked, chunked",
        "chunked, gzip",
        "chunked,",
        ",chunked",
        "chunked;q=1",
        "\"chunked\"",
        "chu nked",
        "gzip chunked",
        "gzip, chunked, chunked",
        "chunked chunked",
        "\u{e4}, chunked",
    ] {
        assert_refused(400, with_field(&format!("Transfer-Encoding: {value}")));
    }
    assert_refused(400, with_field("Transfer-Encoding: \u{b}chunked"));
    assert_refused(400, with_field("Transfer-Encoding: chunked\0"));
}

#[test]
fn another_transfer_coding_that_ends_in_chunked_is_501() {
    assert_refused(501, with_field("Transfer-Encoding: gzip, chunked"));
    assert_refused(501, with_field("Transfer-Encoding: gzip,deflate ,CHUNKED"));
}

#[test]
fn a_transfer_encoding_in_http_1_0_is_400() {
    assert_refused(
        400,
        format!("POST / HTTP/1.0\r\n{CHUNKED}\r\n\r\n0\r\n\r\n"),
    );
}

#[test]
fn a_body_of_a_length_passes_whatever_its_bytes() {
    assert_passes(with_field("Content-Length: 5") + "a\r\n\0b");
    assert_passes(with_field("Content-Length: 0"));
    assert_passes(with_field("content-length:\t005 ") + "GET /");
    assert_passes("POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello");
}

// RUSTSEC-2020-0008: the body of a GET was read as the next request.
#[test]
fn a_request_of_any_method_may_have_a_body() {
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        let smuggled = "GET /x HTTP/1.1\r\n\r\n";
        let head = format!(
            "{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
            smuggled.len()
        );
        let outcome = run(head + smuggled);
        assert_eq!(
            (outcome.rejection, outcome.heads, outcome.body_bytes),
            (None, 1, smuggled.len() as u64)
        );
    }
}

// RUSTSEC-2021-0078: a length with a sign. Puma CVE-2023-40175: an empty length.
#[test]
fn a_length_that_is_no_decimal_number_is_400() {
    for value in [
        "",
        "+5",
        "-5",
        "-0",
        "0x5",
        "5a",
        "5 5",
        "5.0",
        "5e1",
        "a",
        "5;",
        "\"5\"",
        "٣",
        "18446744073709551616",
        "99999999999999999999999",
        "5\u{b}",
    ] {
        assert_refused(
            400,
            with_field(&format!("Content-Length: {value}")) + "hello",
        );
    }
}

// Bandit CVE-2026-39805: two lengths. RFC 9110 section 8.6 allows to refuse equal ones, and they are.
#[test]
fn a_repeated_length_is_400_even_if_it_agrees() {
    assert_refused(400, with_field("Content-Length: 5\r\nContent-Length: 6"));
    assert_refused(400, with_field("Content-Length: 5\r\nContent-Length: 5"));
    assert_refused(400, with_field("Content-Length: 5, 5"));
    assert_refused(400, with_field("Content-Length: 5,6"));
}

#[test]
fn a_declared_length_over_the_limit_is_413_before_any_of_the_body() {
    let sixteen_mib = 16 * 1024 * 1024;
    let outcome = run(with_field(&format!("Content-Length: {sixteen_mib}")));
    assert_eq!((outcome.rejection, outcome.phase), (None, Phase::Body));
    assert_refused(
        413,
        with_field(&format!("Content-Length: {}", sixteen_mib + 1)),
    );
    assert_refused(413, with_field("Content-Length: 18446744073709551615"));
}

#[test]
fn an_unfinished_body_keeps_the_connection_in_its_phase() {
    let outcome = run(with_field("Content-Length: 5") + "hell");
    assert_eq!(
        (outcome.phase, outcome.body_bytes, outcome.held),
        (Phase::Body, 4, 0)
    );
    assert!(outcome.output.ends_with(b"\r\n\r\nhell"));
}

#[test]
fn a_request_without_length_and_coding_has_no_body() {
    let outcome = run("POST / HTTP/1.1\r\nHost: a\r\n\r\nhello");
    assert_eq!((outcome.heads, outcome.body_bytes), (1, 0));
    assert_eq!((outcome.phase, outcome.held), (Phase::Head, 5));
}
