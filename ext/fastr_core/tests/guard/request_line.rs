//! RFC 9112 section 3: method, request-target and version.

use crate::support::{assert_passes, assert_refused};

fn request(line: &str) -> String {
    format!("{line}\r\nHost: a\r\n\r\n")
}

#[test]
fn every_token_is_a_method() {
    for method in [
        "GET",
        "HEAD",
        "POST",
        "OPTIONS",
        "PROPFIND",
        "BASELINE-CONTROL",
        "get",
        "!#$%&'*+-.^_`|~1",
    ] {
        assert_passes(request(&format!("{method} / HTTP/1.1")));
    }
}

// Passenger CVE-2025-26803: a bad method stopped the parser.
#[test]
fn a_method_that_is_no_token_is_400() {
    for method in ["", "G ET", "GET\t", "G\"", "G{", "G(T", "GÄT", "G/T", "G:T"] {
        assert_refused(400, request(&format!("{method} / HTTP/1.1")));
    }
}

#[test]
fn a_method_longer_than_any_known_is_501() {
    assert_passes(request(&format!("{} / HTTP/1.1", "M".repeat(32))));
    assert_refused(501, request(&format!("{} / HTTP/1.1", "M".repeat(33))));
}

#[test]
fn connect_is_501() {
    assert_refused(501, request("CONNECT a:443 HTTP/1.1"));
    assert_refused(501, request("CONNECT / HTTP/1.1"));
}

#[test]
fn anything_but_single_spaces_between_the_parts_is_400() {
    for line in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        " GET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET / a HTTP/1.1",
        "GET/ HTTP/1.1",
        "GET /HTTP/1.1",
        "GET HTTP/1.1",
        "GET  HTTP/1.1",
        "HTTP/1.1",
        "GET",
        "GET /",
        "GET / HTTP",
    ] {
        assert_refused(400, request(line));
    }
}

#[test]
fn origin_form_is_a_path_with_an_optional_query() {
    for target in [
        "/",
        "//",
        "/a/../b",
        "/%",
        "/%zz",
        "/a?b?c",
        "/?",
        "/a;b=c,d",
        "/a?q={x:[1]}",
        "/a?b`c",
        "/a|b^c\\d",
    ] {
        assert_passes(request(&format!("GET {target} HTTP/1.1")));
    }
}

#[test]
fn a_target_with_a_byte_that_must_be_escaped_is_400() {
    for target in [
        "/ä", "/a#b", "/a?b#c", "/<a>", "/a?<b>", "/a\u{1}", "/a\u{7f}", "/a`b", "/a\"b", "#",
        "?a", "a", "a/b",
    ] {
        assert_refused(400, request(&format!("GET {target} HTTP/1.1")));
    }
}

#[test]
fn absolute_form_needs_a_web_scheme_and_a_sound_authority() {
    for target in [
        "http://a",
        "http://a/",
        "HTTP://a/b?c",
        "https://a:443/b",
        "http://[::1]:80/",
        "http://a?b",
        "http://a:/",
    ] {
        assert_passes(request(&format!("GET {target} HTTP/1.1")));
    }
    for target in [
        "http://",
        "http:///",
        "http://u@a/",
        "http://u:p@a/",
        "http://a:b/",
        "http://a:65536/",
        "http://[::1/",
        "http:/a",
        "http:a",
        "ftp://a/",
        "file:///a",
        "javascript:x",
        "http://a b/",
        "http://a#b",
        "http://a/#b",
        "http://a%2fb/",
    ] {
        assert_refused(400, request(&format!("GET {target} HTTP/1.1")));
    }
}

#[test]
fn absolute_form_needs_a_host_field_too() {
    assert_refused(400, "GET http://a/ HTTP/1.1\r\n\r\n");
    assert_refused(400, "GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n");
    assert_passes("GET http://a/ HTTP/1.0\r\n\r\n");
}

#[test]
fn authority_form_belongs_to_connect_only() {
    assert_refused(400, request("GET a:80 HTTP/1.1"));
    assert_refused(400, request("GET [::1]:80 HTTP/1.1"));
}

#[test]
fn asterisk_form_belongs_to_options_only() {
    assert_passes(request("OPTIONS * HTTP/1.1"));
    for line in [
        "GET * HTTP/1.1",
        "options * HTTP/1.1",
        "OPTIONS ** HTTP/1.1",
        "OPTIONS *?a HTTP/1.1",
        "GET *a HTTP/1.1",
    ] {
        assert_refused(400, request(line));
    }
}

#[test]
fn the_version_is_exactly_1_0_or_1_1() {
    assert_passes(request("GET / HTTP/1.0"));
    assert_passes(request("GET / HTTP/1.1"));
    for version in ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9.9"] {
        assert_refused(505, request(&format!("GET / {version}")));
    }
    for version in [
        "http/1.1",
        "HTTP/1.",
        "HTTP/11",
        "HTTP/1.10",
        "HTTP/01.1",
        "HTTP/+1.1",
        "HTTP/1,1",
        "HTPP/1.1",
        "HTTP/a.b",
    ] {
        assert_refused(400, request(&format!("GET / {version}")));
    }
}

#[test]
fn the_preface_of_http_2_is_505() {
    assert_refused(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
}

#[test]
fn a_request_of_http_0_9_is_400() {
    assert_refused(400, "GET /\r\n");
}
