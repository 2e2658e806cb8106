//! One field line, RFC 9112 section 5, of a head or of a trailer section.
//!
//! It refuses folded lines, space before the colon and names that are no token. Values keep their bytes from 0x80 up
//! (obs-text, RFC 9110 section 5.5); control characters were refused when the end of the line was searched.

use bytes::BytesMut;

use super::rejection::{Rejection, bad};
use super::syntax::{CLASS, TOKEN, UNDERSCORE, trim};

/// A field line that follows the grammar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    /// The name as it was sent.
    pub(super) name: &'a [u8],
    /// Everything behind the colon, spaces around it included.
    raw_value: &'a [u8],
    /// Whether the name holds `_`.
    pub(super) underscored: bool,
}

impl<'a> Field<'a> {
    /// Checks a line, given without its line end.
    #[inline]
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, Rejection> {
        let mut classes = 0;
        let mut end = 0;
        for &byte in line {
            let class = CLASS[usize::from(byte)];
            if class & TOKEN == 0 {
                break;
            }
            classes |= class;
            end += 1;
        }
        let (name, rest) = line.split_at(end);
        match rest.split_first() {
            Some((b':', raw_value)) if end > 0 => Ok(Self {
                name,
                raw_value,
                underscored: classes & UNDERSCORE != 0,
            }),
            _ => Err(fault(name, rest)),
        }
    }

    /// The value without the spaces and tabs around it.
    pub(super) fn value(&self) -> &'a [u8] {
        trim(self.raw_value)
    }

    /// Whether this field is called `name`, which is given in lower case.
    #[inline]
    pub(super) fn is(&self, name: &[u8]) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// Copies the field lines of a complete, checked head to `output`, without those whose name holds `_`.
pub(super) fn copy_without_underscores(head: &[u8], output: &mut BytesMut) {
    for (index, line) in head.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let name = line.split(|&byte| byte == b':').next().unwrap_or(line);
        if index == 0 || !name.contains(&b'_') {
            output.extend_from_slice(line);
        }
    }
}

#[cold]
fn fault(name: &[u8], rest: &[u8]) -> Rejection {
    bad(match (name, rest.first()) {
        ([], Some(b' ' | b'\t')) => "a field line is folded or begins with a space",
        ([], Some(b':')) => "a field line has no name",
        (_, Some(b' ' | b'\t')) => "a field name is followed by a space",
        (_, Some(_)) => "a field name is not a token",
        (_, None) => "a field line has no colon",
    })
}
