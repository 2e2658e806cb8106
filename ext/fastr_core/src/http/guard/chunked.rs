//! The chunked transfer coding, RFC 9112 section 7.1: sizes, extensions, data and trailer section.
//!
//! Size lines and trailer lines are judged whole; data passes as it comes. It refuses signs, `0x`, spaces, more than
//! sixteen digits, lines without CRLF, framing out of proportion, and trailer fields that change what the head said.
//! It changes nothing, except that trailer fields with `_` may be left out.

use super::field::Field;
use super::head::too_large;
use super::line::{LINE_END, Search, find_end};
use super::rejection::{Rejection, bad};
use crate::http::limits::Limits;

const LONG_SIZE_LINE: Rejection = bad("a chunk-size line is too long");
const LARGE_TRAILERS: Rejection = Rejection::new(431, "the trailer fields are too large");
/// As many hexadecimal digits as 64 bits take. More are only leading zeros, or do not fit.
const SIZE_DIGITS: usize = 16;

/// Fields that must not come as trailers because they frame, route, authenticate or describe the message (RFC 9110
/// section 6.5.1), or because programs trust them to come from a proxy.
const FORBIDDEN_TRAILERS: [&[u8]; 28] = [
    b"transfer-encoding",
    b"content-length",
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"upgrade",
    b"trailer",
    b"te",
    b"expect",
    b"max-forwards",
    b"range",
    b"cache-control",
    b"pragma",
    b"if-match",
    b"if-none-match",
    b"if-modified-since",
    b"if-unmodified-since",
    b"if-range",
    b"authorization",
    b"proxy-authorization",
    b"cookie",
    b"set-cookie",
    b"content-encoding",
    b"content-type",
    b"content-range",
    b"forwarded",
    b"x-real-ip",
];

/// The same for all names that begin so.
const FORBIDDEN_START: &[u8] = b"x-forwarded-";

/// What to do with the bytes in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// More bytes are needed.
    Partial,
    /// So many bytes of framing are sound.
    Framing(usize),
    /// So many bytes are data.
    Data(usize),
    /// So many bytes are a trailer field to leave out.
    Dropped(usize),
    /// So many bytes end the body.
    End(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    SizeLine,
    Data(u64),
    DataEnd,
    Trailers,
}

/// A chunked body that is being read.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    place: Place,
    /// Bytes of the current line already searched for its end.
    searched: usize,
    data_bytes: u64,
    extension_bytes: usize,
    trailer_bytes: usize,
    trailer_count: usize,
}

impl Chunked {
    /// Reads on. `bytes` is not empty, begins behind what was last taken, and holds what it held at the last call.
    pub(super) fn read(&mut self, bytes: &[u8], limits: &Limits) -> Result<Taken, Rejection> {
        match self.place {
            Place::SizeLine => self.read_size_line(bytes, limits),
            Place::Data(left) => Ok(self.read_data(bytes, left)),
            Place::DataEnd => self.read_data_end(bytes),
            Place::Trailers => self.read_trailer(bytes, limits),
        }
    }

    fn read_size_line(&mut self, bytes: &[u8], limits: &Limits) -> Result<Taken, Rejection> {
        let Some(line) = self.take_line(bytes, limits.chunk_line, LONG_SIZE_LINE)? else {
            return Ok(Taken::Partial);
        };
        let (size, extension) = parse_size(line)?;
        self.extension_bytes = self.extension_bytes.saturating_add(extension.len());
        if self.extension_bytes > limits.chunk_extensions {
            return Err(bad("the chunk extensions are too large"));
        }
        self.data_bytes = self.data_bytes.saturating_add(size);
        if self.data_bytes > limits.max_body {
            return Err(too_large());
        }
        self.place = match size {
            0 => Place::Trailers,
            _ => Place::Data(size),
        };
        Ok(Taken::Framing(line.len() + LINE_END))
    }

    fn read_data(&mut self, bytes: &[u8], left: u64) -> Taken {
        let (here, left) = split_length(bytes.len(), left);
        self.place = match left {
            0 => Place::DataEnd,
            _ => Place::Data(left),
        };
        Taken::Data(here)
    }

    fn read_data_end(&mut self, bytes: &[u8]) -> Result<Taken, Rejection> {
        match bytes {
            [b'\r', b'\n', ..] => {
                self.place = Place::SizeLine;
                Ok(Taken::Framing(LINE_END))
            }
            b"\r" => Ok(Taken::Partial),
            _ => Err(bad("a chunk's data does not end in CR LF")),
        }
    }

    fn read_trailer(&mut self, bytes: &[u8], limits: &Limits) -> Result<Taken, Rejection> {
        let room = limits.trailer_block.saturating_sub(self.trailer_bytes);
        let Some(line) = self.take_line(bytes, room, LARGE_TRAILERS)? else {
            return Ok(Taken::Partial);
        };
        let taken = line.len() + LINE_END;
        if line.is_empty() {
            return Ok(Taken::End(taken));
        }
        self.trailer_bytes += taken;
        self.trailer_count += 1;
        if self.trailer_count > limits.header_count {
            return Err(Rejection::new(431, "too many trailer fields"));
        }
        let field = Field::parse(line)?;
        if is_forbidden(&field) {
            return Err(bad("a field that must not be a trailer came as one"));
        }
        if field.underscored && !limits.keep_underscores {
            return Ok(Taken::Dropped(taken));
        }
        Ok(Taken::Framing(taken))
    }

    /// The next line without its end, if it is complete and has no more than `room` bytes.
    fn take_line<'a>(
        &mut self,
        bytes: &'a [u8],
        room: usize,
        over: Rejection,
    ) -> Result<Option<&'a [u8]>, Rejection> {
        let room = room.saturating_add(LINE_END);
        match find_end(bytes, self.searched, room).map_err(|fault| fault.reject(over))? {
            Search::Partial(searched) => {
                self.searched = searched;
                Ok(None)
            }
            Search::Ends(end) => {
                self.searched = 0;
                Ok(Some(&bytes[..end]))
            }
        }
    }
}

fn is_forbidden(field: &Field<'_>) -> bool {
    let start = field.name.get(..FORBIDDEN_START.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(FORBIDDEN_START))
        || FORBIDDEN_TRAILERS.iter().any(|name| field.is(name))
}

/// Splits a body of `length` bytes, of which up to `available` are here: how many are, and how many are to come.
pub(super) fn split_length(available: usize, length: u64) -> (usize, u64) {
    match usize::try_from(length) {
        Ok(length) if length <= available => (length, 0),
        _ => (available, length - available as u64),
    }
}

/// `1*HEXDIG` and an extension, which begins with `;`. RFC 9112 section 7.1.1 would let spaces stand between them;
/// decoders disagree about them, so they are refused.
fn parse_size(line: &[u8]) -> Result<(u64, &[u8]), Rejection> {
    let digits = line
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let (digits, extension) = line.split_at(digits);
    if digits.is_empty() || digits.len() > SIZE_DIGITS {
        return Err(bad(
            "a chunk size is not a hexadecimal number of at most 16 digits",
        ));
    }
    if !matches!(extension.first(), None | Some(b';')) {
        return Err(bad(
            "a chunk size is followed by something other than an extension",
        ));
    }
    let text = std::str::from_utf8(digits).map_err(|_| bad("a chunk size is not ASCII"))?;
    let size = u64::from_str_radix(text, 16).map_err(|_| bad("a chunk size does not fit"))?;
    Ok((size, extension))
}
