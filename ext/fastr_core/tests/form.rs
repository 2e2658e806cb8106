//! Forms, cookies and nested names, as a client may send them.

#![allow(clippy::unwrap_used)]

use fastr_core::Error;
use fastr_core::http::form::{Segment, parse_cookies, parse_query, split_name};
use proptest::prelude::*;

fn query(text: &str) -> Vec<(String, String)> {
    parse_query(text.as_bytes()).unwrap()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn refusal(input: &[u8]) -> String {
    match parse_query(input) {
        Err(Error::BadRequest {
            status: 400,
            reason,
        }) => reason,
        other => panic!("expected a 400, got {other:?}"),
    }
}

#[test]
fn pairs_come_in_order_with_repeats_kept() {
    assert_eq!(
        query("a=1&b=2&a=3"),
        pairs(&[("a", "1"), ("b", "2"), ("a", "3")])
    );
}

#[test]
fn a_name_without_a_value_has_the_empty_value_and_empty_pieces_are_skipped() {
    assert_eq!(
        query("&&a&b=&=c&"),
        pairs(&[("a", ""), ("b", ""), ("", "c")])
    );
    assert_eq!(query(""), pairs(&[]));
}

#[test]
fn only_the_first_equals_sign_separates_and_a_semicolon_never_does() {
    assert_eq!(query("a=b=c;d=e"), pairs(&[("a", "b=c;d=e")]));
}

#[test]
fn plus_and_percent_escapes_are_decoded_in_names_and_values() {
    assert_eq!(query("a+b%5B%5d=%C3%A9+%2B"), pairs(&[("a b[]", "é +")]));
}

#[test]
fn a_malformed_escape_is_a_400_that_names_the_parameter() {
    for input in ["a=%", "a=%4", "a=%zz", "a=%%41"] {
        assert!(
            refusal(input.as_bytes())
                .contains("malformed percent-encoding in the form parameter \"a\"")
        );
    }
    assert!(refusal(b"%a").contains("name"));
}

#[test]
fn invalid_utf8_and_nul_are_400() {
    for input in [b"a=\xff".as_slice(), b"a=%ff", b"a=%c3", b"\xc3=1"] {
        assert!(refusal(input).contains("invalid UTF-8"));
    }
    for input in [b"a=%00".as_slice(), b"a=\0", b"%00=a"] {
        assert!(refusal(input).contains("NUL"));
    }
}

#[test]
fn the_4097th_parameter_is_refused() {
    assert_eq!(query(&"a&".repeat(4096)).len(), 4096);
    assert!(refusal("a&".repeat(4097).as_bytes()).contains("4096"));
}

#[test]
fn cookies_keep_equals_signs_lose_quotes_and_are_decoded() {
    let read = parse_cookies("a=b=c; quoted=\"x y\";\tspace = 1 ;u=%C3%A9;plus=a+b");
    let expected = [
        ("a", "b=c"),
        ("quoted", "x y"),
        ("space", "1"),
        ("u", "é"),
        ("plus", "a+b"),
    ];
    assert_eq!(read, pairs(&expected));
}

#[test]
fn the_first_cookie_of_a_name_wins() {
    assert_eq!(
        parse_cookies("sid=longer_path; sid=shorter_path"),
        pairs(&[("sid", "longer_path")])
    );
}

#[test]
fn a_cookie_that_cannot_be_decoded_is_kept_raw() {
    let read = parse_cookies("a=100%; b=%zz; c=%ff; d=%00; e=%C3%A9%");
    let expected = [
        ("a", "100%"),
        ("b", "%zz"),
        ("c", "%ff"),
        ("d", "%00"),
        ("e", "%C3%A9%"),
    ];
    assert_eq!(read, pairs(&expected));
}

#[test]
fn an_escaped_cookie_name_cannot_pose_as_a_host_cookie() {
    assert_eq!(
        parse_cookies("%5F%5FHost-sid=evil"),
        pairs(&[("%5F%5FHost-sid", "evil")])
    );
}

#[test]
fn pieces_without_a_name_or_an_equals_sign_are_no_cookies() {
    assert_eq!(parse_cookies("; ;flag;=x; =y;a=\""), pairs(&[("a", "\"")]));
}

#[test]
fn nested_names_become_paths() {
    use Segment::{Append, Key};
    assert_eq!(split_name("a").unwrap(), [Key("a")]);
    assert_eq!(split_name("a[b][]").unwrap(), [Key("a"), Key("b"), Append]);
    assert_eq!(
        split_name("a[][b c]").unwrap(),
        [Key("a"), Append, Key("b c")]
    );
}

#[test]
fn a_name_with_unpaired_brackets_is_one_key() {
    for name in [
        "", "[", "]", "[]", "[a]", "a[", "a]", "a[b", "a[b]c", "a[[b]]", "a[b]]", "a][b",
    ] {
        assert_eq!(split_name(name).unwrap(), [Segment::Key(name)], "{name}");
    }
}

#[test]
fn nesting_beyond_32_levels_is_a_400() {
    assert_eq!(
        split_name(&format!("a{}", "[b]".repeat(32))).unwrap().len(),
        33
    );
    let deep = format!("a{}", "[]".repeat(33));
    let refused = split_name(&deep);
    assert!(matches!(
        refused,
        Err(Error::BadRequest { status: 400, .. })
    ));
}

#[test]
fn hostile_megabytes_take_linear_time() {
    let started = std::time::Instant::now();
    for pattern in ["%", "%41", "a=", "[", "[]", "=", ";", "a=\"", " ", "&", "+"] {
        let text = pattern.repeat(2_000_000 / pattern.len());
        let _ = parse_query(text.as_bytes());
        let _ = parse_cookies(&text);
        let _ = split_name(&text);
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte == b' ' {
                "+".to_owned()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        near in "([%&=;+\\[\\]\" ]|%[0-9a-f]{2}|[a-z]|é){0,60}",
        text in "\\PC{0,60}",
    ) {
        let _ = (parse_query(near.as_bytes()), parse_cookies(&near), split_name(&near));
        let _ = parse_query(&bytes);
        let _ = parse_cookies(&text);
        let _ = split_name(&text);
    }

    #[test]
    fn what_was_encoded_is_decoded(list in proptest::collection::vec(("[^\0]{1,8}", "[^\0]{0,8}"), 0..8)) {
        let text: Vec<String> = list.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        prop_assert_eq!(parse_query(text.join("&").as_bytes()).unwrap(), list);
    }

    #[test]
    fn segments_joined_again_are_the_name(keys in proptest::collection::vec("[a-z ]{0,3}", 1..32)) {
        let tail: String = keys[1..].iter().map(|key| format!("[{key}]")).collect();
        let name = format!("k{}{tail}", keys[0]);
        let segments = split_name(&name).unwrap();
        prop_assert_eq!(segments.len(), keys.len());
        let joined: String = segments[1..].iter().map(|segment| match segment {
            Segment::Key(key) => format!("[{key}]"),
            Segment::Append => "[]".to_owned(),
        }).collect();
        prop_assert_eq!(joined, tail);
    }
}
