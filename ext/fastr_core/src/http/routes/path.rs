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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_path_makes_the_decoder_panic(raw in "/(\\PC|[%0-9a-fA-F/]|%[0-9a-fA-F]{2}){0,40}") {
            let Ok(decoded) = decode(&raw) else { return Ok(()) };
            // Only an encoded slash becomes NUL, so that no capture can hold a slash that the client did not encode.
            let encoded = raw.to_ascii_lowercase().matches("%2f").count();
            prop_assert!(decoded.matches(ENCODED_SLASH).count() <= encoded);
            prop_assert_eq!(decoded.matches('/').count(), raw.matches('/').count());
        }

        #[test]
        fn what_was_encoded_is_decoded(text in "[^/\0]{0,20}") {
            let raw: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            prop_assert_eq!(decode(&raw).unwrap(), text);
        }
    }
}
