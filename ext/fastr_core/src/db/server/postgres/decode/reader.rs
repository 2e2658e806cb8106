//! Reads numbers and slices off the front of a value's bytes. Whatever is not there is an error.

use super::Malformed;

/// What is left of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.fixed().map(u16::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16, Malformed> {
        self.fixed().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        self.fixed().map(i32::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.fixed().map(u32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Malformed> {
        self.fixed().map(i64::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.fixed().map(u64::from_be_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32, Malformed> {
        self.fixed().map(f32::from_be_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64, Malformed> {
        self.fixed().map(f64::from_be_bytes)
    }

    /// So many bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Bytes)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A length in four bytes and that many bytes; none for NULL.
    pub(super) fn sized(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| Malformed::Bytes)?;
                self.take(length).map(Some)
            }
        }
    }

    /// Skips the version that stands before some forms.
    pub(super) fn versioned(&mut self) -> Result<&mut Self, Malformed> {
        match self.byte()? {
            1 => Ok(self),
            _ => Err(Malformed::Bytes),
        }
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// All that is left, as text.
    pub(super) fn rest_as_text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.rest()).map_err(|_| Malformed::Encoding)
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether everything was read.
    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed::Bytes)
        }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Bytes)?;
        self.0 = rest;
        Ok(*taken)
    }
}
