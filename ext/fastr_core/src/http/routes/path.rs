//! The path of a request, decoded for matching.
//!
//! It owns the percent-decoding and refuses what no route may see: malformed escapes, NUL, invalid UTF-8. An encoded
//! slash is data and never separates segments; it travels as a NUL, which cannot occur otherwise, until the captures
//! are handed out.

use std::borrow::Cow;

use memchr::memchr2;

/// Stands for an encoded slash during matching.
pub(super) const ENCODED_SLASH: char = '\0';

/// Decodes a raw path; the error is the reason for the 400.
pub(super) fn decode(raw: &str) -> Result<Cow<'_, str>, &'static str> {
    if raw.len() > usize::from(u16::MAX) - 1 {
        return Err("the path is too long");
    }
    let Some(first) = memchr2(b'%', 0, raw.as_bytes()) else {
        return Ok(Cow::Borrowed(raw));
    };
    let mut bytes = Vec::with_capacity(raw.len());
    bytes.extend_from_slice(&raw.as_bytes()[..first]);
    unescape(&raw.as_bytes()[first..], &mut bytes)?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| "the path is not valid UTF-8")
}

fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut bytes = raw.iter();
    while let Some(&byte) = bytes.next() {
        let decoded = match byte {
            b'%' => match escaped(bytes.next(), bytes.next()) {
                Some(b'/') => ENCODED_SLASH as u8,
                Some(0) => return Err("the path holds a NUL byte"),
                Some(other) => other,
                None => return Err("the path holds a malformed percent-encoding"),
            },
            0 => return Err("the path holds a NUL byte"),
            other => other,
        };
        out.push(decoded);
    }
    Ok(())
}

fn escaped(high: Option<&u8>, low: Option<&u8>) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high?)? * 16 + digit(low?)?).ok()
}
