//! From a request's path to a name beneath the root, if it is one that may be served.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The longest path, and the longest name in it, that a file system takes.
const MAX_PATH: usize = 4095;
const MAX_NAME: usize = 255;
/// The one folder with a leading dot that is public (RFC 8615).
const WELL_KNOWN: &str = ".well-known";

/// The name relative to the root, without a leading slash. With `index`, a folder's name stands for its index file.
///
/// Nothing is repaired: empty segments, `.` and `..`, dot files, encoded slashes, NUL and whatever does not decode
/// are no names.
pub(super) fn relative(path: &str, index: bool) -> Option<String> {
    let path = path.strip_prefix('/')?;
    if path.len() > 3 * MAX_PATH {
        return None;
    }
    let decoded = decode(path)?;
    let mut name = decoded.into_owned();
    if index && (name.is_empty() || name.ends_with('/')) {
        name.push_str("index.html");
    }
    let is_public = |(position, segment): (usize, &str)| {
        let is_hidden = segment.starts_with('.') && !(position == 0 && segment == WELL_KNOWN);
        !segment.is_empty() && segment.len() <= MAX_NAME && !is_hidden
    };
    (name.len() <= MAX_PATH && name.split('/').enumerate().all(is_public)).then_some(name)
}

fn decode(path: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'%', path.as_bytes()).is_none() {
        return Some(Cow::Borrowed(path)).filter(|path| !path.contains('\0'));
    }
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let slashes = |text: &str| text.bytes().filter(|byte| *byte == b'/').count();
    let escapes_are_whole = path.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2).unwrap_or_default();
        digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit)
    });
    let usable = escapes_are_whole && slashes(path) == slashes(&decoded) && !decoded.contains('\0');
    usable.then_some(decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_the_path_the_name_stays_beneath_the_root(
            path in "/(\\PC|[./%]|%2[eEfF]|%00|%25|\\.\\.|\\.well-known|\0){0,20}",
            index in any::<bool>(),
        ) {
            if let Some(name) = relative(&path, index) {
                prop_assert!(!name.starts_with('/') && !name.contains('\0'), "{name:?}");
                prop_assert!(name.split('/').all(|segment| !["", ".", ".."].contains(&segment)), "{name:?}");
            }
        }
    }
}
