//! Finds the parts in a multipart body (RFC 2046, section 5.1.1), fed in chunks of any size.
//!
//! It owns the delimiters and the caps on what lies outside contents. It never holds more than one part header, or a
//! delimiter's length of content, beyond what it was fed last, and searches no more than that a second time.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memmem::Finder;

use super::{MultipartLimits, malformed, too_large};
use crate::error::Error;

/// The most white space after a delimiter.
const MAX_PADDING: usize = 256;

/// What the scanner found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// A part begins; its header block, without the empty line.
    Header(Bytes),
    /// Content of the part.
    Data(Bytes),
    /// The part is complete.
    PartEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    AfterDelimiter,
    Header,
    Content,
    Epilogue,
}

#[derive(Debug)]
pub(super) struct Scanner {
    state: State,
    buffer: BytesMut,
    /// Line break, dashes and boundary.
    delimiter: Finder<'static>,
    /// How much of a header block was already searched for its end.
    searched: usize,
    /// Bytes seen outside of parts.
    outside: usize,
    max_header: usize,
    max_outside: usize,
}

impl Scanner {
    pub(super) fn new(boundary: &str, limits: &MultipartLimits) -> Self {
        Scanner {
            state: State::Preamble,
            // The first delimiter may lack the line break before it.
            buffer: BytesMut::from("\r\n"),
            delimiter: Finder::new(&format!("\r\n--{boundary}")).into_owned(),
            searched: 0,
            outside: 0,
            max_header: limits.part_header,
            max_outside: limits.preamble,
        }
    }

    /// Adds a chunk of the body.
    pub(super) fn feed(&mut self, data: &[u8]) {
        self.buffer.extend_from_slice(data);
    }

    /// The next find, or none when more data is needed.
    pub(super) fn next(&mut self) -> Result<Option<Scanned>, Error> {
        loop {
            let found = match self.state {
                State::Preamble => self.preamble()?,
                State::AfterDelimiter => self.after_delimiter()?,
                State::Header => return self.header(),
                State::Content => return Ok(self.content()),
                State::Epilogue => {
                    let rest = self.buffer.len();
                    self.buffer.clear();
                    return self.leave_out(rest).map(|()| None);
                }
            };
            if !found {
                return Ok(None);
            }
        }
    }

    /// The body has ended; it must have been closed.
    pub(super) fn finish(&self) -> Result<(), Error> {
        match self.state {
            State::Epilogue => Ok(()),
            State::Preamble => Err(malformed("it does not hold its boundary")),
            _ => Err(malformed("it ends before its closing boundary")),
        }
    }

    fn preamble(&mut self) -> Result<bool, Error> {
        let found = self.delimiter.find(&self.buffer);
        let skipped = found.unwrap_or_else(|| self.certain());
        self.buffer.advance(skipped);
        self.leave_out(skipped)?;
        if found.is_some() {
            self.pass_delimiter();
        }
        Ok(found.is_some())
    }

    /// What follows a delimiter: two dashes close the body, a line break starts a part.
    fn after_delimiter(&mut self) -> Result<bool, Error> {
        if self.buffer.len() < 2 {
            return Ok(false);
        }
        if self.buffer.starts_with(b"--") {
            self.buffer.advance(2);
            self.state = State::Epilogue;
            return Ok(true);
        }
        let padding = self
            .buffer
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        if padding > MAX_PADDING {
            return Err(malformed("a boundary is followed by too much white space"));
        }
        match &self.buffer[padding..] {
            [b'\r', b'\n', ..] => {
                // The line break stays: it begins the empty line of a header block without lines.
                self.buffer.advance(padding);
                self.state = State::Header;
                self.searched = 0;
                Ok(true)
            }
            [] | [b'\r'] => Ok(false),
            _ => Err(malformed("a boundary is not followed by a line break")),
        }
    }

    fn header(&mut self) -> Result<Option<Scanned>, Error> {
        let from = self.searched.saturating_sub(3);
        let end = memchr::memmem::find(&self.buffer[from..], b"\r\n\r\n").map(|at| from + at);
        if end.unwrap_or(self.buffer.len()) > self.max_header {
            return Err(too_large(format!(
                "a part's header is larger than {} bytes",
                self.max_header
            )));
        }
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        let mut block = self.buffer.split_to(end + 2);
        block.advance(2);
        self.buffer.advance(2);
        self.state = State::Content;
        Ok(Some(Scanned::Header(block.freeze())))
    }

    fn content(&mut self) -> Option<Scanned> {
        match self.delimiter.find(&self.buffer) {
            Some(0) => {
                self.pass_delimiter();
                Some(Scanned::PartEnd)
            }
            Some(at) => Some(Scanned::Data(self.buffer.split_to(at).freeze())),
            None => match self.certain() {
                0 => None,
                length => Some(Scanned::Data(self.buffer.split_to(length).freeze())),
            },
        }
    }

    fn pass_delimiter(&mut self) {
        self.buffer.advance(self.delimiter.needle().len());
        self.state = State::AfterDelimiter;
    }

    /// How much of a buffer without a delimiter cannot be the beginning of one.
    fn certain(&self) -> usize {
        (self.buffer.len() + 1).saturating_sub(self.delimiter.needle().len())
    }

    fn leave_out(&mut self, length: usize) -> Result<(), Error> {
        self.outside += length;
        match self.outside > self.max_outside {
            true => Err(too_large(format!(
                "there are more than {} bytes outside of the parts",
                self.max_outside
            ))),
            false => Ok(()),
        }
    }
}
