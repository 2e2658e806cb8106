//! The character classes of RFC 9110 and RFC 3986 as one table, and the two shapes made of nothing but characters:
//! the authority and the path with its query.
//!
//! It answers yes or no about bytes; which status a "no" becomes is decided by its callers.

use std::net::Ipv6Addr;

use memchr::memchr;

/// RFC 9110 section 5.6.2: the characters of a token (method, field name).
pub(super) const TOKEN: u8 = 1;
/// The characters of a path: RFC 3986 section 3.3, and `[]\^{|}`, which clients send unescaped.
pub(super) const PATH: u8 = 2;
/// The characters of a query: those of a path, `?` and the grave accent, which browsers leave unescaped there.
pub(super) const QUERY: u8 = 4;
/// RFC 3986 section 3.2.2: a registered name or IPv4 address. Percent-encoding is left out: no DNS name needs it, and
/// `%2f` in a host is read differently by different programs.
pub(super) const HOST: u8 = 8;
/// The underscore, which has a class of its own because of the names it imitates.
pub(super) const UNDERSCORE: u8 = 16;

/// The classes of each byte. All bytes above 0x7f are in none.
pub(super) static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        if byte.is_ascii_alphanumeric() {
            table[byte as usize] = TOKEN | PATH | QUERY | HOST;
        }
        byte += 1;
    }
    table = add(table, b"!#$%&'*+-.^_`|~", TOKEN);
    table = add(table, b"-._~!$&'()*+,;=", PATH | QUERY | HOST);
    table = add(table, b"/:@%[]\\^{|}", PATH | QUERY);
    table = add(table, b"?`", QUERY);
    add(table, b"_", UNDERSCORE)
}

const fn add(mut table: [u8; 256], bytes: &[u8], class: u8) -> [u8; 256] {
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] |= class;
        index += 1;
    }
    table
}

/// Whether `byte` is of `class`.
#[inline]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASS[usize::from(byte)] & class != 0
}

/// How many bytes `text` begins with that are all of `class`.
#[inline]
pub(super) fn span(text: &[u8], class: u8) -> usize {
    text.iter()
        .position(|&byte| !is(byte, class))
        .unwrap_or(text.len())
}

/// `text` without the spaces and tabs around it (OWS, RFC 9110 section 5.6.3).
#[inline]
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let is_value = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let Some(start) = text.iter().position(is_value) else {
        return &[];
    };
    let end = text
        .iter()
        .rposition(is_value)
        .map_or(start, |last| last + 1);
    &text[start..end]
}

/// A decimal number of nothing but digits that fits 64 bits.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, &byte| {
        if !byte.is_ascii_digit() {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    })
}

/// RFC 3986 section 3.2 without userinfo, as RFC 9110 section 7.2 asks of Host: a name, an IPv4 address or an IPv6
/// address in brackets, and an optional port up to 65535. An empty host is refused (RFC 9110 section 4.2.1).
pub(super) fn is_authority(text: &[u8]) -> bool {
    let Some(after_host) = skip_host(text) else {
        return false;
    };
    match after_host.split_first() {
        None => true,
        Some((b':', [])) => true,
        Some((b':', port)) => decimal(port).is_some_and(|port| port <= u64::from(u16::MAX)),
        Some(_) => false,
    }
}

fn skip_host(text: &[u8]) -> Option<&[u8]> {
    if let Some(bracketed) = text.strip_prefix(b"[") {
        let end = memchr(b']', bracketed)?;
        let address = std::str::from_utf8(&bracketed[..end]).ok()?;
        address.parse::<Ipv6Addr>().ok()?;
        return Some(&bracketed[end + 1..]);
    }
    match span(text, HOST) {
        0 => None,
        end => Some(&text[end..]),
    }
}

/// A path with an optional query, and no fragment. Percent-encoding is the router's to judge.
#[inline]
pub(super) fn is_path_and_query(text: &[u8]) -> bool {
    let query = &text[span(text, PATH)..];
    match query.split_first() {
        None => true,
        Some((b'?', query)) => span(query, QUERY) == query.len(),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_and_query_accepted_here_is_accepted_by_the_http_crate() {
        for byte in 0..=255_u8 {
            for prefix in [b"/a".as_slice(), b"/a?b"] {
                let target = [prefix, &[byte], b"c"].concat();
                if is_path_and_query(&target) {
                    assert!(http::Uri::try_from(target.as_slice()).is_ok(), "{byte:#x}");
                }
            }
        }
    }

    #[test]
    fn authorities_are_names_addresses_and_ports_only() {
        let good = "a a.b a_b a-b.c:80 a: 127.0.0.1:65535 [::1] [::1]:8080 [::ffff:1.2.3.4] a~!$&'()*+,;=b";
        for text in good.split(' ') {
            assert!(is_authority(text.as_bytes()), "{text}");
        }
        let bad = [
            "",
            ":80",
            "a b",
            "u@a",
            "a/b",
            "a?b",
            "a#b",
            "a\\b",
            "a:b",
            "a:65536",
            "a:1:2",
            "a:+1",
            "a%2fb",
            "[::1",
            "::1",
            "[::1]x",
            "[v1.a]",
            "[fe80::1%25eth0]",
            "[]",
            "a:-1",
            "a<b",
            "a\"b",
            "ä",
        ];
        for text in bad {
            assert!(!is_authority(text.as_bytes()), "{text}");
        }
    }
}
