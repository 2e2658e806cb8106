//! RFC 9112 section 5: field lines; and the fields the guard itself reads, Host and Expect.

use crate::support::{assert_passes, assert_refused, feed, run, with_field};
use fastr_core::http::limits::Limits;

#[test]
fn any_token_is_a_field_name() {
    for name in ["X", "x-y", "!#$%&'*+-.^`|~1"] {
        assert_passes(with_field(&format!("{name}: y")));
    }
}

#[test]
fn a_bad_field_name_is_400() {
    for line in [
        ": y",
        "X",
        "X Y: z",
        "Xä: y",
        "X(: y",
        "X\"Y: z",
        "X/Y: z",
        "X\u{1}: y",
        "X;Y: z",
        "X=y",
    ] {
        assert_refused(400, with_field(line));
    }
}

#[test]
fn a_space_before_the_colon_is_400() {
    assert_refused(400, with_field("X : y"));
    assert_refused(400, with_field("X\t: y"));
    assert_refused(400, with_field("Transfer-Encoding : chunked"));
    assert_refused(400, with_field("Content-Length : 5"));
}

#[test]
fn a_folded_line_is_400() {
    assert_refused(400, with_field("X: y\r\n z"));
    assert_refused(400, with_field("X: y\r\n\tz"));
    assert_refused(400, with_field("Transfer-Encoding:\r\n chunked"));
    assert_refused(400, with_field("X: y\r\n "));
}

#[test]
fn a_value_may_be_empty_spaced_and_non_ascii() {
    for line in [
        "X:",
        "X: ",
        "X:y",
        "X: \t y \t ",
        "X: a\tb",
        "X: a: b",
        "X: \"q\" (c) {j}",
    ] {
        assert_passes(with_field(line));
    }
    assert_passes(with_field("X: schön"));
    assert_passes(
        [
            b"GET / HTTP/1.1\r\nHost: a\r\nX: ",
            [0x80, 0xff].as_slice(),
            b"\r\n\r\n",
        ]
        .concat(),
    );
}

#[test]
fn a_control_character_in_a_value_is_400() {
    for control in (0..=0x1f_u8)
        .chain([0x7f])
        .filter(|byte| !matches!(byte, b'\t' | b'\n'))
    {
        assert_refused(400, with_field(&format!("X: a{}b", char::from(control))));
    }
}

// Puma CVE-2024-45614, Passenger CVE-2015-7519: a name with `_` replaces a proxy's name with `-`.
#[test]
fn fields_with_an_underscore_are_left_out() {
    let outcome = run(
        "GET /a_b HTTP/1.1\r\nX_Forwarded_For: 1\r\nHost: a\r\nX: _\r\n_: 2\r\nY-Z_: 3\r\nLast: 4\r\n\r\n",
    );
    assert_eq!(outcome.rejection, None);
    let kept = "GET /a_b HTTP/1.1\r\nHost: a\r\nX: _\r\nLast: 4\r\n\r\n";
    assert_eq!(String::from_utf8(outcome.output).unwrap(), kept);
}

#[test]
fn fields_with_an_underscore_frame_nothing() {
    let outcome = run(with_field(
        "Content_Length: 5\r\nTransfer_Encoding: chunked",
    ));
    assert_eq!(outcome.rejection, None);
    assert_eq!(outcome.output, b"POST / HTTP/1.1\r\nHost: a\r\n\r\n");
}

#[test]
fn fields_with_an_underscore_are_still_checked_and_counted() {
    assert_refused(400, with_field("X_Y : z"));
    assert_refused(400, with_field("X_Y: \u{1}"));
    assert_refused(431, with_field(&"X_Y: z\r\n".repeat(100)));
}

#[test]
fn fields_with_an_underscore_pass_if_asked_for() {
    let limits = Limits {
        keep_underscores: true,
        ..Limits::default()
    };
    let stream = with_field("X_Y: z");
    let outcome = feed(&limits, [stream.as_bytes()]);
    assert_eq!(
        (outcome.rejection, outcome.output),
        (None, stream.into_bytes())
    );
}

#[test]
fn http_1_1_needs_exactly_one_host() {
    assert_refused(400, "GET / HTTP/1.1\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nX-Host: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: b\r\n\r\n");
}

#[test]
fn http_1_0_may_go_without_host_but_not_with_two() {
    assert_passes("GET / HTTP/1.0\r\n\r\n");
    assert_passes("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n");
    assert_refused(400, "GET / HTTP/1.0\r\nHost: a b\r\n\r\n");
}

// Rack CVE-2026-34835: a Host with characters that end a host for someone else.
#[test]
fn a_host_that_is_not_a_host_with_an_optional_port_is_400() {
    for host in [
        "", " ", ":80", "a b", "a\tb", "u@a", "a/b", "/", "a?b", "a#b", "a\\b", "a:b", "a:80:80",
        "a:65536", "a:-1", "a,b c", "a%00", "a%2fb", "<a>", "a\"", "[::1", "::1", "[::g]",
        "[::1]a", "http://a", "ä",
    ] {
        assert_refused(400, format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    }
}

#[test]
fn hosts_are_names_addresses_and_ports() {
    for host in [
        "a",
        "a.b",
        "A-1.b_c",
        "127.0.0.1",
        "[::1]",
        "[2001:db8::1]:443",
        "a:",
        "a:0",
        "a:65535",
        "\ta \t",
    ] {
        assert_passes(format!("GET / HTTP/1.1\r\nHost:{host}\r\n\r\n"));
    }
}

#[test]
fn an_expectation_other_than_100_continue_is_417() {
    assert_passes(with_field("Expect: 100-continue"));
    assert_passes(with_field("expect:100-Continue"));
    for value in ["", "200-ok", "100-continue, x", "100-continue=1", "100"] {
        assert_refused(417, with_field(&format!("Expect: {value}")));
    }
}
