//! What a pattern's parameters matched.
//!
//! The values of one match share one string, the decoded path, so that a match costs one allocation however many
//! parameters it has, and none when it has no parameters.

use std::borrow::Cow;
use std::fmt;

use super::path::ENCODED_SLASH;

/// The most parameters one pattern may have.
pub const MAX_PARAMS: usize = 16;

/// Where one value lies in the decoded path; `start > end` means that the optional part was absent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u16,
    end: u16,
}

impl Span {
    const ABSENT: Span = Span { start: 1, end: 0 };

    /// The caller has checked that a path is shorter than 64 KiB.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn new(start: usize, end: usize) -> Self {
        Span {
            start: start as u16,
            end: end as u16,
        }
    }

    /// The value in the path; empty when absent.
    pub(super) fn of(self, path: &str) -> &str {
        path.get(usize::from(self.start)..usize::from(self.end))
            .unwrap_or_default()
    }
}

/// The spans of a match under way, by the number of the parameter.
pub(super) type Spans = [Span; MAX_PARAMS];

/// No parameter matched yet.
pub(super) const NO_SPANS: Spans = [Span::ABSENT; MAX_PARAMS];

/// The decoded values of a match, in the order of the pattern's names. A parameter in an optional part that was
/// absent from the path has no value.
#[derive(Clone)]
pub struct Captures {
    text: String,
    spans: Spans,
    len: usize,
}

impl Captures {
    pub(in crate::http) fn none() -> Self {
        Captures {
            text: String::new(),
            spans: NO_SPANS,
            len: 0,
        }
    }

    pub(super) fn new(path: Cow<'_, str>, spans: &Spans, len: usize) -> Self {
        if len == 0 {
            return Self::none();
        }
        // Only a path that held an escape was copied, and only such a path can hold an encoded slash.
        let text = match path {
            Cow::Borrowed(plain) => plain.to_owned(),
            Cow::Owned(decoded) => decoded.replace(ENCODED_SLASH, "/"),
        };
        Captures {
            text,
            spans: *spans,
            len,
        }
    }

    /// How many parameters the pattern has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the pattern has no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of the parameter with this number; none when it was absent or there is no such parameter.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let span = self.spans[..self.len].get(index)?;
        self.text
            .get(usize::from(span.start)..usize::from(span.end))
    }

    /// The values in the order of the pattern's names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        (0..self.len).map(|index| self.get(index))
    }
}

impl fmt::Debug for Captures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Captures {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Captures {}
