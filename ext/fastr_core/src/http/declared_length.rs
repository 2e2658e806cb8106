//! The length that a streamed answer's head promises, held against what is written. It owns that count and the words of
//! what is wrong; what then becomes of the connection is the stream's business.

use std::sync::atomic::{AtomicU64, Ordering};

use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};

use crate::error::Error;

/// What the head declared, and how much of it is still to come.
#[derive(Debug)]
pub(crate) struct DeclaredLength(Option<(u64, AtomicU64)>);

impl DeclaredLength {
    /// Answers without a body may name the length of another (RFC 9110 section 8.6).
    pub(crate) fn of(head: &http::Response<()>, method: &Method) -> Self {
        if method == Method::HEAD || head.status() == StatusCode::NOT_MODIFIED {
            return Self(None);
        }
        let declared = head.headers().get(CONTENT_LENGTH);
        let length = declared.and_then(|length| length.to_str().ok()?.parse().ok());
        Self(length.map(|length| (length, AtomicU64::new(length))))
    }

    /// What is wrong with sending so many bytes more.
    pub(crate) fn excess(&self, bytes: usize) -> Option<Error> {
        let (declared, left) = self.0.as_ref()?;
        let excess = (bytes as u64).saturating_sub(left.load(Ordering::Relaxed));
        (excess > 0).then(|| {
            Error::WrongLength(format!(
                "the answer is at least {excess} bytes longer than its Content-Length of {declared}; correct the \
                 header or leave it out"
            ))
        })
    }

    /// Counts bytes that are about to be sent; gives how many of them may be. Only one thread writes.
    pub(crate) fn take(&self, bytes: usize) -> usize {
        let Some((_, left)) = &self.0 else {
            return bytes;
        };
        let before = left.load(Ordering::Relaxed);
        let fitting = before.min(bytes as u64);
        left.store(before - fitting, Ordering::Relaxed);
        usize::try_from(fitting).unwrap_or(bytes)
    }

    /// What is wrong with ending here.
    pub(crate) fn shortfall(&self) -> Option<Error> {
        let (declared, left) = self.0.as_ref()?;
        let missing = left.load(Ordering::Relaxed);
        (missing > 0).then(|| {
            Error::WrongLength(format!(
                "the answer ended {missing} bytes short of its Content-Length of {declared}; it was cut, so that the \
                 client can tell"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(method: &Method, status: u16, length: &str) -> DeclaredLength {
        let head = http::Response::builder()
            .status(status)
            .header(CONTENT_LENGTH, length);
        DeclaredLength::of(&head.body(()).expect("a head"), method)
    }

    #[test]
    fn counts_down_to_nothing() {
        let length = declared(&Method::GET, 200, "5");
        assert_eq!(length.take(2), 2);
        assert!(
            matches!(length.shortfall(), Some(Error::WrongLength(text)) if text.contains("3 bytes short"))
        );
        assert_eq!(length.take(3), 3);
        assert_eq!(length.shortfall(), None);
    }

    #[test]
    fn lets_through_what_was_promised_and_names_the_rest() {
        let length = declared(&Method::GET, 200, "5");
        assert_eq!(length.excess(5), None);
        assert!(
            matches!(length.excess(7), Some(Error::WrongLength(text)) if text.contains("2 bytes longer"))
        );
        assert_eq!([length.take(7), length.take(1)], [5, 0]);
    }

    #[test]
    fn holds_nothing_against_answers_without_a_body_and_lengths_that_are_none() {
        for length in [
            declared(&Method::HEAD, 200, "5"),
            declared(&Method::GET, 304, "5"),
            declared(&Method::GET, 200, "five"),
        ] {
            assert_eq!((length.excess(9), length.take(9)), (None, 9));
            assert_eq!(length.shortfall(), None);
        }
    }
}
