//! The scalars of JSON as bytes: strings, numbers, ISO 8601 times, base64. It knows nothing of rows and columns.

use serde_core::de::IgnoredAny;

/// Appends a string with its quotes. Only what JSON demands is escaped, the rest stays UTF-8.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut clean = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[clean..index]);
        clean = index + 1;
        escape(out, byte);
    }
    out.extend_from_slice(&bytes[clean..]);
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
    }
}

/// Appends a whole number.
pub(crate) fn integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a finite floating-point number in its shortest form that reads back the same.
pub(crate) fn float(out: &mut Vec<u8>, number: f64) {
    debug_assert!(number.is_finite(), "JSON has no NaN and no infinities");
    out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
}

/// Whether a text is one complete JSON document.
pub(crate) fn is_valid(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Appends a point in time as ISO 8601: `2024-02-29 12:30:00.5` becomes `2024-02-29T12:30:00.5Z`. A zone that is there
/// stays. Text of any other form is an ordinary string.
pub(crate) fn date_time(out: &mut Vec<u8>, text: &str) {
    let Some((date, clock, zone)) = split_date_time(text) else {
        return string(out, text);
    };
    out.push(b'"');
    out.extend_from_slice(date.as_bytes());
    out.push(b'T');
    out.extend_from_slice(clock.as_bytes());
    if clock.len() == 5 {
        out.extend_from_slice(b":00");
    }
    out.extend_from_slice(zone.as_bytes());
    out.push(b'"');
}

fn split_date_time(text: &str) -> Option<(&str, &str, &str)> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix([' ', 'T', 't'])?;
    let end = rest.find(|c: char| !matches!(c, '0'..='9' | ':' | '.'));
    let (clock, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let zone = match zone.trim_start() {
        "" | "Z" | "z" | "UTC" | "+00:00" => "Z",
        zone if fits(zone, "+00:00") || fits(zone, "-00:00") => zone,
        _ => return None,
    };
    let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let whole = fits(seconds, "00:00:00") || clock.len() == 5 && fits(clock, "00:00");
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    (fits(date, "0000-00-00") && whole && digits).then_some((date, clock, zone))
}

/// Whether a text has this pattern, in which 0 stands for any digit.
fn fits(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(byte, model)| match model {
                b'0' => byte.is_ascii_digit(),
                _ => byte == model,
            })
}

/// Appends bytes as base64 (RFC 4648, padded), without quotes.
pub(crate) fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |group, &byte| group << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for position in 0..4 {
            if position > chunk.len() {
                out.push(b'=');
            } else {
                out.push(ALPHABET[(group >> (18 - 6 * position) & 63) as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_escape_what_json_demands() {
        let rendered = text(|out| string(out, "a\"\\\n\r\t\u{1}\0ü€😀/"));
        assert_eq!(rendered, "\"a\\\"\\\\\\n\\r\\t\\u0001\\u0000ü€😀/\"");
    }

    #[test]
    fn times_become_iso_8601_or_stay_text() {
        for (stored, rendered) in [
            ("2024-02-29 12:30:00", "2024-02-29T12:30:00Z"),
            ("2024-02-29 12:30", "2024-02-29T12:30:00Z"),
            ("2024-02-29T12:30:00.123456", "2024-02-29T12:30:00.123456Z"),
            ("2024-02-29 12:30:00 UTC", "2024-02-29T12:30:00Z"),
            ("2024-02-29 12:30:00+02:00", "2024-02-29T12:30:00+02:00"),
            ("2024-02-29 12:30:00 -05:30", "2024-02-29T12:30:00-05:30"),
            ("2024-02-29T12:30:00Z", "2024-02-29T12:30:00Z"),
            ("2024-02-29", "2024-02-29"),
            ("2024-02-29 12:30:00.", "2024-02-29 12:30:00."),
            ("2024-02-29 1.:30", "2024-02-29 1.:30"),
            ("soon", "soon"),
            ("ééééééé 12:00", "ééééééé 12:00"),
        ] {
            assert_eq!(
                text(|out| date_time(out, stored)),
                format!("\"{rendered}\"")
            );
        }
    }

    #[test]
    fn base64_matches_the_vectors_of_rfc_4648() {
        for (bytes, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(text(|out| base64(out, bytes.as_bytes())), encoded);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn a_number_reads_back_as_itself(
            number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO
        ) {
            let rendered = text(|out| float(out, number));
            assert_eq!(rendered.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
            assert!(is_valid(&rendered), "{rendered}");
        }
    }

    #[test]
    fn a_deep_document_is_judged_without_recursion() {
        let depth = 200_000;
        assert!(is_valid(&("[".repeat(depth) + &"]".repeat(depth))));
        assert!(!is_valid(&"[".repeat(depth)));
        assert!(!is_valid("NaN"));
        assert!(!is_valid("{} {}"));
        assert!(!is_valid(""));
    }
}
