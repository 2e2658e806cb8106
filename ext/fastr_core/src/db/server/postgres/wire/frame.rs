//! The form of the server's messages: a letter, a length, a body. It trusts no length and no count it reads: what does
//! not fit is a fault, never a panic, and never an allocation that the bytes do not back.

use super::fault::Fault;

/// PostgreSQL builds no message that is larger.
const LARGEST: usize = 1 << 30;

/// A letter and the length.
pub(super) const HEAD: usize = 5;

/// One message of the server, lent from the buffer it was read into.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Frame<'a> {
    /// Which message it is.
    pub(in super::super) tag: u8,
    pub(in super::super) body: &'a [u8],
}

/// How long the message is that begins here, with its head; none if not even that has come.
pub(super) fn length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let Some((head, _)) = bytes.split_first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let [_, length @ ..] = *head;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if (4..LARGEST).contains(&length) {
        Ok(Some(length + 1))
    } else {
        Err(Fault::malformed("the length of a message"))
    }
}

/// Reads the parts of a body.
pub(in super::super) struct Parser<'a> {
    rest: &'a [u8],
    /// For the fault.
    what: &'static str,
}

impl<'a> Parser<'a> {
    pub(in super::super) fn new(body: &'a [u8], what: &'static str) -> Self {
        Self { rest: body, what }
    }

    pub(in super::super) fn byte(&mut self) -> Result<u8, Fault> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    pub(in super::super) fn u16(&mut self) -> Result<u16, Fault> {
        self.fixed().map(u16::from_be_bytes)
    }

    pub(in super::super) fn u32(&mut self) -> Result<u32, Fault> {
        self.fixed().map(u32::from_be_bytes)
    }

    pub(in super::super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| Fault::malformed(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A text that ends with a NUL.
    pub(in super::super) fn text(&mut self) -> Result<&'a str, Fault> {
        std::str::from_utf8(self.bytes_to_nul()?).map_err(|_| Fault::malformed(self.what))
    }

    pub(super) fn bytes_to_nul(&mut self) -> Result<&'a [u8], Fault> {
        let end = memchr::memchr(0, self.rest).ok_or_else(|| Fault::malformed(self.what))?;
        let text = self.take(end)?;
        self.take(1)?;
        Ok(text)
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    pub(in super::super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| Fault::malformed(self.what))?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// Where the values of a row lie in its message. It is used again for every row.
#[derive(Debug, Default)]
pub(in super::super) struct Cells(Vec<Option<(u32, u32)>>);

impl Cells {
    /// Finds the values of a row, which has to have as many as there are columns.
    pub(in super::super) fn find<'a>(
        &'a mut self,
        body: &'a [u8],
        columns: usize,
    ) -> Result<Row<'a>, Fault> {
        let malformed = || Fault::malformed("a row");
        let count = body.first_chunk().ok_or_else(malformed)?;
        if usize::from(u16::from_be_bytes(*count)) != columns {
            return Err(malformed());
        }
        self.0.clear();
        let mut at = 2_usize;
        for _ in 0..columns {
            let length = body
                .get(at..)
                .and_then(<[u8]>::first_chunk)
                .ok_or_else(malformed)?;
            at += 4;
            // A message has less than 2^30 bytes, so that what fits into one fits into these.
            self.0.push(match i32::from_be_bytes(*length) {
                -1 => None,
                length => {
                    let start = u32::try_from(at).map_err(|_| malformed())?;
                    let length = u32::try_from(length).map_err(|_| malformed())?;
                    at += length as usize;
                    if at > body.len() {
                        return Err(malformed());
                    }
                    Some((start, length))
                }
            });
        }
        if at != body.len() {
            return Err(malformed());
        }
        Ok(Row {
            body,
            cells: &self.0,
        })
    }
}

/// The values of one row.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Row<'a> {
    body: &'a [u8],
    cells: &'a [Option<(u32, u32)>],
}

impl<'a> Row<'a> {
    /// The bytes of a value, none if it is NULL.
    pub(in super::super) fn get(&self, index: usize) -> Option<&'a [u8]> {
        let (start, length) = self.cells[index]?;
        let (start, length) = (start as usize, length as usize);
        Some(&self.body[start..start + length])
    }

    /// The values, in order.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let body = self.body;
        self.cells.iter().map(move |cell| {
            cell.map(|(start, length)| &body[start as usize..(start + length) as usize])
        })
    }
}

/// How many rows a command changed or gave, by its tag: `INSERT 0 3`, `UPDATE 5`, `CREATE TABLE`.
pub(in super::super) fn affected(body: &[u8]) -> u64 {
    let tag = body.strip_suffix(&[0]).unwrap_or(body);
    let digits = tag.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}
