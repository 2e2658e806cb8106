//! The end of a line, RFC 9112 section 2.2: CR LF and nothing else.
//!
//! The RFC allows to take a bare LF for a line end, but where two programs disagree about it a request is smuggled.
//! So the first control character in a line must be its CR LF; only HTAB is passed over. A line is also refused for
//! its length alone, and in an order that depends on its bytes only, never on the pieces they arrive in.

use super::rejection::{Rejection, bad};

/// The length of CR LF.
pub(super) const LINE_END: usize = 2;

/// What a search for the end of a line came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// The line has no end yet; the next search begins at this offset.
    Partial(usize),
    /// The line ends before this offset, where CR LF stands.
    Ends(usize),
}

/// Why a line is refused. Small, because it is returned for every line; it becomes a [`Rejection`] where it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The line is longer than its room.
    TooLong,
    /// A CR or LF stands alone.
    BareLineEnd,
    /// Another control character than HTAB.
    Control,
}

impl Fault {
    /// The refusal of the line; `over` for one that is too long.
    #[cold]
    pub(super) fn reject(self, over: Rejection) -> Rejection {
        match self {
            Fault::TooLong => over,
            Fault::BareLineEnd => bad("a line does not end in CR LF"),
            Fault::Control => bad("a line holds a control character"),
        }
    }
}

/// Searches `bytes` from offset `from` for a line end, which must not reach beyond the offset `room`.
#[inline]
pub(super) fn find_end(bytes: &[u8], from: usize, room: usize) -> Result<Search, Fault> {
    let mut at = from;
    while let Some(offset) = find_control(&bytes[at..]) {
        at += offset;
        match bytes[at..] {
            _ if at >= room => return Err(Fault::TooLong),
            [b'\r', b'\n', ..] if at + LINE_END > room => return Err(Fault::TooLong),
            [b'\r', b'\n', ..] => return Ok(Search::Ends(at)),
            [b'\r'] => return Ok(Search::Partial(at)),
            [b'\t', ..] => at += 1,
            [b'\r' | b'\n', ..] => return Err(Fault::BareLineEnd),
            _ => return Err(Fault::Control),
        }
    }
    if bytes.len() > room {
        return Err(Fault::TooLong);
    }
    Ok(Search::Partial(bytes.len()))
}

/// The offset of the first byte below 0x20, or 0x7f. Eight bytes at a time, because most of a head is looked at here.
#[inline]
fn find_control(text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = controls(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(u8::is_ascii_control)?;
    Some(words.len() * 8 + found)
}

/// The highest bit of each byte of `word` that is a control character. No sum carries into the next byte.
#[inline]
const fn controls(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let low = word & !HIGH;
    let from_space = low + (0x80 - 0x20) * EACH;
    let from_delete = low + EACH;
    (!from_space | from_delete) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_is_found_where_it_stands() {
        for length in 1..40 {
            for place in 0..length {
                for byte in 0..=255_u8 {
                    let mut text = vec![b'\xff'; length];
                    text[place] = byte;
                    let found = byte.is_ascii_control().then_some(place);
                    assert_eq!(find_control(&text), found, "{byte:#x} in {length}");
                }
            }
        }
    }

    #[test]
    fn the_first_of_several_control_characters_is_found() {
        assert_eq!(find_control(b"abc\r\n\t\x7f\0def"), Some(3));
        assert_eq!(find_control(b"abc \x1f\x00 \x7f\x80 "), Some(4));
    }
}
