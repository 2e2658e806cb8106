//! Multipart forms (RFC 7578), parsed off the GVL with a cap on everything.
//!
//! It owns reading the body into parts and the temporary files of large ones. It refuses what it would have to guess
//! at: folded or doubled part headers, names that are no UTF-8, a body that ends early. The client's file name is
//! reduced to its last path component and is still only a claim, as the content type is.
//!
//! Memory is bounded by [`MultipartLimits::memory`] plus one part header and one chunk of the body, time is linear
//! in the body's size however the body is cut into chunks, and the body is read no faster than parts are stored.

mod header;
mod scanner;
mod spool;

use std::path::Path;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use crate::error::Error;
use header::PartHeader;
use scanner::{Scanned, Scanner};
use spool::Spool;
pub use spool::SpooledFile;

/// How much a multipart body may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultipartLimits {
    /// Parts.
    pub parts: usize,
    /// Bytes of one part's header block.
    pub part_header: usize,
    /// Bytes before the first and after the last part.
    pub preamble: usize,
    /// Bytes of the whole body.
    pub total: u64,
    /// Bytes of one plain field.
    pub field: usize,
    /// Bytes of all contents that stay in memory.
    pub memory: usize,
    /// Files larger than this go to a temporary file.
    pub spool_above: usize,
}

impl Default for MultipartLimits {
    fn default() -> Self {
        MultipartLimits {
            parts: 128,
            part_header: 16 << 10,
            preamble: 16 << 10,
            total: 256 << 20,
            field: 1 << 20,
            memory: 16 << 20,
            spool_above: 64 << 10,
        }
    }
}

/// Where a part's content is.
#[derive(Debug)]
pub enum Content {
    /// In memory: a plain field, or a small file.
    Memory(Bytes),
    /// In a temporary file.
    File(SpooledFile),
}

/// One part of a multipart body.
#[derive(Debug)]
pub struct Part {
    /// The form field's name.
    pub name: String,
    /// The last component of the client's name of the file, empty when no file was chosen; none for a plain field.
    pub file_name: Option<String>,
    /// The content type the client claims.
    pub content_type: Option<String>,
    /// The content.
    pub content: Content,
}

/// Reads a whole multipart body. Large files go to new files in `spool_dir`, which are removed again when parsing
/// fails, when the future is dropped, and when a part is dropped whose file nobody took.
///
/// # Errors
/// `BadRequest`: 415 when the content type is not `multipart/form-data`, 413 beyond a limit, 400 when the body or the
/// boundary is malformed, 507 when the disk is full. `Io` when a temporary file cannot be written for other reasons.
/// Errors of the body are passed on.
pub async fn parse<B>(
    content_type: &str,
    body: B,
    limits: &MultipartLimits,
    spool_dir: &Path,
) -> Result<Vec<Part>, Error>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Error>,
{
    let boundary = header::boundary(content_type)?;
    let mut body = pin!(body);
    let mut scanner = Scanner::new(&boundary, limits);
    let mut parts = Parts::new(limits, spool_dir);
    let mut received = 0_u64;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Into::into)?.into_data() else {
            continue;
        };
        received = received.saturating_add(data.len() as u64);
        if received > limits.total {
            return Err(too_large(format!(
                "the multipart body is larger than {} bytes",
                limits.total
            )));
        }
        scanner.feed(&data);
        while let Some(scanned) = scanner.next()? {
            parts.take(scanned).await?;
        }
    }
    scanner.finish()?;
    Ok(parts.done)
}

/// The parts read so far and the one being read.
struct Parts<'a> {
    limits: &'a MultipartLimits,
    spool_dir: &'a Path,
    done: Vec<Part>,
    current: Option<Current>,
    /// Bytes of contents in memory.
    held: usize,
}

struct Current {
    header: PartHeader,
    buffer: BytesMut,
    spool: Option<Spool>,
}

impl<'a> Parts<'a> {
    fn new(limits: &'a MultipartLimits, spool_dir: &'a Path) -> Self {
        Parts {
            limits,
            spool_dir,
            done: Vec::new(),
            current: None,
            held: 0,
        }
    }

    async fn take(&mut self, scanned: Scanned) -> Result<(), Error> {
        match scanned {
            Scanned::Header(block) => self.start(&block),
            Scanned::Data(data) => self.append(&data).await,
            Scanned::PartEnd => self.end().await,
        }
    }

    fn start(&mut self, block: &[u8]) -> Result<(), Error> {
        if self.done.len() == self.limits.parts {
            return Err(too_large(format!(
                "the multipart body has more than {} parts",
                self.limits.parts
            )));
        }
        let header = header::parse(block)?;
        self.current = Some(Current {
            header,
            buffer: BytesMut::new(),
            spool: None,
        });
        Ok(())
    }

    async fn append(&mut self, data: &[u8]) -> Result<(), Error> {
        let current = self.current.as_mut().expect("data follows a header");
        if let Some(spool) = &mut current.spool {
            return spool.write(data).await;
        }
        let length = current.buffer.len() + data.len();
        let is_file = current.header.file_name.is_some();
        if is_file && length > self.limits.spool_above {
            let mut spool = Spool::create(self.spool_dir).await?;
            spool.write(&current.buffer).await?;
            self.held -= current.buffer.len();
            current.buffer = BytesMut::new();
            let spool = current.spool.insert(spool);
            return spool.write(data).await;
        }
        if !is_file && length > self.limits.field {
            let (name, limit) = (&current.header.name, self.limits.field);
            return Err(too_large(format!(
                "the form field {name:?} is larger than {limit} bytes"
            )));
        }
        self.held += data.len();
        if self.held > self.limits.memory {
            return Err(too_large(format!(
                "the form fields are larger than {} bytes",
                self.limits.memory
            )));
        }
        current.buffer.extend_from_slice(data);
        Ok(())
    }

    async fn end(&mut self) -> Result<(), Error> {
        let Current {
            header,
            buffer,
            spool,
        } = self.current.take().expect("a part ends after its header");
        let content = match spool {
            None => Content::Memory(buffer.freeze()),
            Some(spool) => Content::File(spool.finish().await?),
        };
        let PartHeader {
            name,
            file_name,
            content_type,
        } = header;
        self.done.push(Part {
            name,
            file_name,
            content_type,
            content,
        });
        Ok(())
    }
}

fn malformed(what: impl Into<String>) -> Error {
    Error::BadRequest {
        status: 400,
        reason: format!("the multipart body is malformed: {}", what.into()),
    }
}

fn too_large(reason: String) -> Error {
    Error::BadRequest {
        status: 413,
        reason,
    }
}
