//! A request's head, from its first byte to its empty line (RFC 9112 sections 2, 3, 5 and 6).
//!
//! It reads line by line and remembers how far it came, so that a head that trickles in is scanned once. It decides
//! how the body is framed, and refuses every head about which two programs could disagree: two hosts, two lengths, a
//! length with a transfer coding. It keeps no field: hyper parses the head again, for the application.

use super::field::Field;
use super::line::{LINE_END, Search, find_end};
use super::rejection::{Rejection, bad};
use super::request_line::{self, Version};
use super::syntax::{TOKEN, decimal, is, is_authority, trim};
use crate::http::limits::Limits;

/// How the body behind a head ends (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// After this many bytes; none without Content-Length.
    Length(u64),
    /// With the last chunk.
    Chunked,
}

/// How far the reading of a head came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More bytes are needed.
    Partial,
    /// An empty line stands in front of the head: two bytes to skip.
    EmptyLine,
    /// The head is these many bytes long.
    Complete(usize),
}

/// The head that is being read. Offsets count from its first byte.
#[derive(Debug, Default)]
pub(super) struct Head {
    has_begun: bool,
    /// Bytes already searched for a line end.
    searched: usize,
    /// Where the current line begins.
    line: usize,
    /// Where the field lines begin; zero while the request line is read.
    fields: usize,
    field_count: usize,
    after_empty_line: bool,
    version: Option<Version>,
    has_host: bool,
    content_length: Option<u64>,
    is_chunked: bool,
    /// Whether a field name holds `_`.
    pub(super) has_underscores: bool,
    has_upgrade: bool,
}

impl Head {
    /// Whether any byte of it was seen.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether it asks to leave HTTP/1.1 (RFC 9110 section 7.8: HTTP/1.0 cannot).
    pub(super) fn asks_for_upgrade(&self) -> bool {
        self.has_upgrade && self.version == Some(Version::Http11)
    }

    /// Reads on. `bytes` begins where the head begins, and holds what it held at the last call.
    pub(super) fn read(&mut self, bytes: &[u8], limits: &Limits) -> Result<Progress, Rejection> {
        if self.searched == 0 {
            self.has_begun = true;
            check_first_byte(bytes)?;
        }
        loop {
            let end = match self.find_line_end(bytes, limits)? {
                Search::Ends(end) => end,
                Search::Partial(searched) => {
                    self.searched = searched;
                    return Ok(Progress::Partial);
                }
            };
            if let Some(progress) =
                self.read_line(&bytes[self.line..end], end + LINE_END, limits)?
            {
                return Ok(progress);
            }
        }
    }

    /// Reads one line, behind which the next begins at `next`; the empty line is the last.
    #[inline]
    fn read_line(
        &mut self,
        line: &[u8],
        next: usize,
        limits: &Limits,
    ) -> Result<Option<Progress>, Rejection> {
        match (self.fields, line) {
            (0, []) => return self.skip_empty_line().map(Some),
            (0, _) => {
                self.version = Some(request_line::check(line)?);
                self.fields = next;
            }
            (_, []) => return Ok(Some(Progress::Complete(next))),
            _ => self.read_field(line, limits)?,
        }
        self.searched = next;
        self.line = next;
        Ok(None)
    }

    /// What the complete head says about the body.
    pub(super) fn framing(&self, limits: &Limits) -> Result<Framing, Rejection> {
        let is_http10 = self.version == Some(Version::Http10);
        match (self.content_length, self.is_chunked) {
            _ if !self.has_host && !is_http10 => Err(bad("a request needs one Host field")),
            (Some(_), true) => Err(bad(
                "Content-Length and Transfer-Encoding exclude each other",
            )),
            (None, true) if is_http10 => Err(bad("HTTP/1.0 has no Transfer-Encoding")),
            (None, true) => Ok(Framing::Chunked),
            (Some(length), false) if length > limits.max_body => Err(too_large()),
            (length, false) => Ok(Framing::Length(length.unwrap_or(0))),
        }
    }

    /// RFC 9112 section 2.2: one empty line before a request is ignored.
    fn skip_empty_line(&mut self) -> Result<Progress, Rejection> {
        if self.after_empty_line {
            return Err(bad("more than one empty line before a request"));
        }
        *self = Self {
            has_begun: true,
            after_empty_line: true,
            ..Self::default()
        };
        Ok(Progress::EmptyLine)
    }

    #[inline]
    fn find_line_end(&self, bytes: &[u8], limits: &Limits) -> Result<Search, Rejection> {
        let room = match self.fields {
            0 => limits.request_line.saturating_add(LINE_END),
            fields => fields.saturating_add(limits.header_block),
        };
        find_end(bytes, self.searched, room).map_err(|fault| fault.reject(self.too_long()))
    }

    fn too_long(&self) -> Rejection {
        match self.fields {
            0 => Rejection::new(414, "the request line is too long"),
            _ => Rejection::new(431, "the header fields are too large"),
        }
    }

    #[inline]
    fn read_field(&mut self, line: &[u8], limits: &Limits) -> Result<(), Rejection> {
        self.field_count += 1;
        if self.field_count > limits.header_count {
            return Err(Rejection::new(431, "too many header fields"));
        }
        let field = Field::parse(line)?;
        self.has_underscores |= field.underscored;
        match field.name.len() {
            4 if field.is(b"host") => self.read_host(field.value()),
            6 if field.is(b"expect") => check_expectation(field.value()),
            7 if field.is(b"upgrade") => {
                self.has_upgrade = true;
                Ok(())
            }
            14 if field.is(b"content-length") => self.read_content_length(field.value()),
            17 if field.is(b"transfer-encoding") => self.read_transfer_encoding(field.value()),
            _ => Ok(()),
        }
    }

    /// RFC 9112 section 3.2: one Host field, whatever the form of the target.
    fn read_host(&mut self, value: &[u8]) -> Result<(), Rejection> {
        if self.has_host {
            return Err(bad("more than one Host field"));
        }
        if !is_authority(value) {
            return Err(bad("the Host field is not a host with an optional port"));
        }
        self.has_host = true;
        Ok(())
    }

    /// RFC 9112 section 6.3. Repeats are refused even if they agree, and so is the list form, which the RFC allows a
    /// server to do: no client sends them.
    fn read_content_length(&mut self, value: &[u8]) -> Result<(), Rejection> {
        if self.content_length.is_some() {
            return Err(bad("more than one Content-Length field"));
        }
        match decimal(value) {
            Some(length) => self.content_length = Some(length),
            None => return Err(bad("the Content-Length is not a decimal number")),
        }
        Ok(())
    }

    /// RFC 9112 section 6.1.
    fn read_transfer_encoding(&mut self, value: &[u8]) -> Result<(), Rejection> {
        if self.is_chunked {
            return Err(bad("more than one Transfer-Encoding field"));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(transfer_coding_fault(value));
        }
        self.is_chunked = true;
        Ok(())
    }
}

/// The refusal of a body over `max_body`.
pub(super) fn too_large() -> Rejection {
    Rejection::new(413, "the body is too large")
}

/// Answers at once what can never become a head, where waiting for a line end would take until the timeout.
fn check_first_byte(bytes: &[u8]) -> Result<(), Rejection> {
    match bytes.first() {
        Some(0x16) => Err(bad("this port speaks plain HTTP, but TLS was begun")),
        Some(&byte) if !is(byte, TOKEN) && byte != b'\r' && byte != b'\n' => {
            Err(bad("a request begins with a method"))
        }
        _ => Ok(()),
    }
}

/// RFC 9110 section 10.1.1.
fn check_expectation(value: &[u8]) -> Result<(), Rejection> {
    if value.eq_ignore_ascii_case(b"100-continue") {
        return Ok(());
    }
    Err(Rejection::new(
        417,
        "the only expectation known here is 100-continue",
    ))
}

/// RFC 9112 section 6.1: 501 for a coding that could be removed if it were known, because `chunked` ends it. Section
/// 6.3: 400 where the end of the body cannot be told.
fn transfer_coding_fault(value: &[u8]) -> Rejection {
    let mut codings = value.rsplit(|&byte| byte == b',').map(trim);
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let ends_chunked = codings.next().is_some_and(is_chunked);
    let is_known_kind = |coding: &[u8]| {
        !coding.is_empty() && !is_chunked(coding) && coding.iter().all(|&byte| is(byte, TOKEN))
    };
    if ends_chunked && codings.all(is_known_kind) {
        return Rejection::new(501, "the only transfer coding known here is chunked");
    }
    bad("the Transfer-Encoding is not exactly chunked")
}
