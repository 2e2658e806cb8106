//! An answer as the bytes that go to the client, in one piece: written where it is made, sent without another copy.
//!
//! Only answers whose framing is the usual one are written so: with a body of known length, without fields that speak
//! of the connection. The others are a `Response`, and so is one of these for hyper, by [`Written::into_response`].

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

/// Answers with a larger body are not copied into one piece.
const BODY: usize = 16 * 1024;
/// What a head takes, mostly.
const HEAD: usize = 192;
/// A date, to be replaced when the answer is sent.
const NO_DATE: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
const CLOSE: &[u8] = b"connection: close\r\n";

/// A whole answer with head and body.
#[derive(Debug)]
pub struct Written {
    bytes: Vec<u8>,
    status: StatusCode,
    /// Where the value of Date begins.
    date: usize,
    /// Where the fields behind the length begin.
    fields: usize,
    body: usize,
}

impl Written {
    /// The head up to its own fields; none for an answer that is framed in another way or too large.
    #[must_use]
    pub fn begin(status: StatusCode, length: usize) -> Option<Self> {
        let is_bodiless = status.is_informational()
            || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let reason = status.canonical_reason()?;
        if is_bodiless || length > BODY {
            return None;
        }
        let mut bytes = Vec::with_capacity(HEAD + length);
        for part in ["HTTP/1.1 ", status.as_str(), " ", reason, "\r\ndate: "] {
            bytes.extend_from_slice(part.as_bytes());
        }
        let date = bytes.len();
        for part in [
            NO_DATE,
            "\r\ncontent-length: ",
            itoa::Buffer::new().format(length),
            "\r\n",
        ] {
            bytes.extend_from_slice(part.as_bytes());
        }
        Some(Self {
            date,
            status,
            fields: bytes.len(),
            body: 0,
            bytes,
        })
    }

    /// Appends a field; false if it is none, or one that such an answer cannot have.
    #[must_use]
    pub fn field(&mut self, name: &[u8], value: &[u8]) -> bool {
        let Ok(name) = HeaderName::from_bytes(name) else {
            return false;
        };
        let speaks_of_framing = matches!(
            name,
            CONNECTION | CONTENT_LENGTH | DATE | TRANSFER_ENCODING | UPGRADE
        );
        let is_value = |&byte: &u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
        if speaks_of_framing || !value.iter().all(is_value) {
            return false;
        }
        for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
            self.bytes.extend_from_slice(part);
        }
        true
    }

    /// Appends fields that were [written](Self::since) into another answer.
    pub fn fields(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How much is written.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // It never is.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What was written since it was so long.
    #[must_use]
    pub fn since(&self, length: usize) -> &[u8] {
        &self.bytes[length..]
    }

    /// Appends the body, whose length was told in the beginning.
    #[must_use]
    pub fn end(mut self, body: &[u8]) -> Self {
        self.bytes.extend_from_slice(b"\r\n");
        self.body = self.bytes.len();
        self.bytes.extend_from_slice(body);
        self
    }

    /// The same answer in this form; none if it has to be sent in another.
    pub(crate) fn of<B>(response: &Response<B>, body: &[u8]) -> Option<Self> {
        let mut written = Self::begin(response.status(), body.len())?;
        for (name, value) in response.headers() {
            if !written.field(name.as_str().as_bytes(), value.as_bytes()) {
                return None;
            }
        }
        Some(written.end(body))
    }

    /// The bytes to send now; the last answer of a connection says so.
    pub(crate) fn into_bytes(mut self, now: Instant, is_last: bool) -> Vec<u8> {
        DATES.with_borrow_mut(|date| {
            let place = self.date..self.date + NO_DATE.len();
            self.bytes[place].copy_from_slice(date.at(now).as_bytes());
        });
        if is_last {
            let place = self.fields..self.fields;
            self.bytes.splice(place, CLOSE.iter().copied());
        }
        self.bytes
    }

    /// The same answer for hyper, which writes date and length itself.
    pub(crate) fn into_response(self) -> Response<Bytes> {
        let bytes = Bytes::from(self.bytes);
        let mut response = Response::new(bytes.slice(self.body..));
        *response.status_mut() = self.status;
        let mut at = self.fields;
        while let Some(length) = memchr::memchr(b'\n', &bytes[at..self.body]) {
            let line = bytes.slice(at..(at + length).saturating_sub(1));
            at += length + 1;
            let Some(colon) = memchr::memchr(b':', &line) else {
                break;
            };
            let name = HeaderName::from_bytes(&line[..colon]);
            let value = HeaderValue::from_maybe_shared(line.slice(colon + 2..));
            if let (Ok(name), Ok(value)) = (name, value) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

thread_local! {
    static DATES: RefCell<Date> = const { RefCell::new(Date { text: String::new(), until: None }) };
}

/// The present second as HTTP writes it.
struct Date {
    text: String,
    until: Option<Instant>,
}

impl Date {
    fn at(&mut self, now: Instant) -> &str {
        if self.until.is_none_or(|until| now >= until) {
            let time = SystemTime::now();
            let since = time.duration_since(SystemTime::UNIX_EPOCH);
            let into_second = since.unwrap_or_default().subsec_nanos();
            self.text = httpdate::fmt_http_date(time);
            self.until =
                Some(now + (Duration::from_secs(1) - Duration::from_nanos(into_second.into())));
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Written {
        let mut written = Written::begin(StatusCode::OK, 5).expect("the usual framing");
        assert!(written.field(b"Content-Type", b"text/plain"));
        assert!(written.field(b"set-cookie", b"a=1"));
        assert!(written.field(b"Set-Cookie", b"b=2"));
        written.end(b"hello")
    }

    #[test]
    fn the_bytes_are_a_whole_answer_with_the_present_date() {
        let text = String::from_utf8(hello().into_bytes(Instant::now(), false)).expect("text");
        let date = httpdate::fmt_http_date(SystemTime::now());
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let lines: Vec<&str> = head.split("\r\n").collect();
        assert_eq!(lines[0], "HTTP/1.1 200 OK");
        assert_eq!(
            lines[1][..lines[1].len() - 6],
            format!("date: {date}")[..lines[1].len() - 6]
        );
        assert_eq!(
            lines[2..],
            [
                "content-length: 5",
                "content-type: text/plain",
                "set-cookie: a=1",
                "set-cookie: b=2"
            ]
        );
        assert_eq!(body, "hello");
    }

    #[test]
    fn the_last_answer_of_a_connection_says_so_once() {
        let text = String::from_utf8(hello().into_bytes(Instant::now(), true)).expect("text");
        assert_eq!(text.matches("\r\nconnection: close\r\n").count(), 1);
        assert!(text.ends_with("\r\n\r\nhello"));
    }

    #[test]
    fn fields_of_one_answer_are_those_of_another() {
        let mut first = Written::begin(StatusCode::OK, 5).expect("the usual framing");
        let begin = first.len();
        for (name, value) in [
            ("Content-Type", "text/plain"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ] {
            assert!(first.field(name.as_bytes(), value.as_bytes()));
        }
        let mut second = Written::begin(StatusCode::OK, 5).expect("the usual framing");
        second.fields(first.since(begin));
        assert_eq!(second.end(b"hello").bytes, hello().bytes);
    }

    #[test]
    fn hyper_gets_the_same_answer_without_date_and_length() {
        let response = hello().into_response();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.body(), "hello");
        let fields: Vec<_> = response
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        assert_eq!(
            fields,
            [
                "content-type=\"text/plain\"",
                "set-cookie=\"a=1\"",
                "set-cookie=\"b=2\""
            ]
        );
    }

    #[test]
    fn framing_and_what_is_no_field_is_left_to_others() {
        for status in [
            StatusCode::NO_CONTENT,
            StatusCode::NOT_MODIFIED,
            StatusCode::CONTINUE,
        ] {
            assert!(Written::begin(status, 0).is_none());
        }
        assert!(Written::begin(StatusCode::OK, BODY + 1).is_none());
        let mut written = Written::begin(StatusCode::OK, 0).expect("the usual framing");
        let refused: [(&[u8], &[u8]); 6] = [
            (b"Content-Length", b"0"),
            (b"Transfer-Encoding", b"chunked"),
            (b"Connection", b"close"),
            (b"a b", b"c"),
            (b"x", b"a\r\nb: c"),
            (b"x", b"\0"),
        ];
        for (name, value) in refused {
            assert!(!written.field(name, value), "{name:?}: {value:?}");
        }
        assert!(written.field(b"x", "\u{fc}\t".as_bytes()));
    }
}
