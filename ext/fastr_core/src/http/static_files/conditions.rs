//! Conditional requests (RFC 9110, section 13): validators against the request's preconditions.

use std::time::{Duration, SystemTime};

use http::header::{
    AsHeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
};
use http::{HeaderMap, HeaderValue};

/// What the preconditions say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Send the file.
    Proceed,
    /// The client has it: 304.
    NotModified,
    /// The client wants another version: 412.
    Failed,
}

/// Evaluates the preconditions in the order of section 13.2.2. A date counts only where there is no list of tags.
pub(super) fn evaluate(
    headers: &HeaderMap,
    etag: &HeaderValue,
    modified: Option<SystemTime>,
) -> Verdict {
    let lists = |name, weak| lists(headers, name, etag, weak);
    let is_newer = |date: SystemTime| modified.is_some_and(|modified| modified > date);
    let is_failed = match lists(IF_MATCH, false) {
        Some(listed) => !listed,
        None => date(headers, IF_UNMODIFIED_SINCE).is_some_and(is_newer),
    };
    if is_failed {
        return Verdict::Failed;
    }
    let is_unmodified = match lists(IF_NONE_MATCH, true) {
        Some(listed) => listed,
        None => {
            modified.is_some()
                && date(headers, IF_MODIFIED_SINCE).is_some_and(|date| !is_newer(date))
        }
    };
    if is_unmodified {
        Verdict::NotModified
    } else {
        Verdict::Proceed
    }
}

/// Whether `If-Range` lets the `Range` header count (section 13.1.5). Only strong validators do: a weak tag never
/// does, nor does a date within a second of the modification.
pub(super) fn allows_range(
    headers: &HeaderMap,
    etag: &HeaderValue,
    modified: Option<SystemTime>,
) -> bool {
    let Some(value) = headers.get(IF_RANGE) else {
        return true;
    };
    if value == etag {
        return true;
    }
    let is_settled = |time: SystemTime| {
        SystemTime::now()
            .duration_since(time)
            .is_ok_and(|age| age >= Duration::from_secs(1))
    };
    match (modified, date(headers, IF_RANGE)) {
        (Some(modified), Some(date)) => modified == date && is_settled(modified),
        _ => false,
    }
}

/// Whether a list of tags holds this one or `*`; none when there is no such header.
fn lists(
    headers: &HeaderMap,
    name: impl AsHeaderName,
    etag: &HeaderValue,
    weak: bool,
) -> Option<bool> {
    let mut values = headers.get_all(name).into_iter().peekable();
    values.peek()?;
    let is_meant = |tag: &[u8]| {
        let tag = tag.trim_ascii();
        let bare = tag.strip_prefix(b"W/").filter(|_| weak).unwrap_or(tag);
        bare == etag.as_bytes() || tag == b"*"
    };
    // Our tags hold no comma, so that a list may be split at each of them.
    Some(values.any(|value| value.as_bytes().split(|byte| *byte == b',').any(is_meant)))
}

fn date(headers: &HeaderMap, name: impl AsHeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_header_makes_the_preconditions_panic(
            values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 5),
            near in "(W/|\"|etag|[*, ]|Mon, 30 Nov 2026 1[0-9]:00:0[0-9] GMT){0,6}",
        ) {
            let etag = HeaderValue::from_static("\"etag\"");
            let modified = Some(SystemTime::UNIX_EPOCH);
            for bytes in values.iter().map(Vec::as_slice).chain([near.as_bytes()]) {
                let Ok(value) = HeaderValue::from_bytes(bytes) else { continue };
                for name in [IF_MATCH, IF_NONE_MATCH, IF_RANGE, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE] {
                    let headers = HeaderMap::from_iter([(name, value.clone())]);
                    let _ = (evaluate(&headers, &etag, modified), allows_range(&headers, &etag, modified));
                }
            }
        }

        #[test]
        fn our_tag_is_found_among_any_others(
            others in prop::collection::vec("(W/)?\"[a-z]{0,5}\"", 0..6),
            blanks in " {0,3}",
        ) {
            let list = [others.join(","), "\"etag-1\"".to_owned()].join(&format!("{blanks},{blanks}"));
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, list.parse().unwrap())]);
            let verdict = evaluate(&headers, &HeaderValue::from_static("\"etag-1\""), None);
            prop_assert_eq!(verdict, Verdict::NotModified);
        }
    }
}
