//! An opened file with everything that a response says about it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::HeaderValue;

use super::beneath::{Look, Root};
use super::encoding::{Accepted, CODINGS};

/// Up to this size a file is read at once, while it is being opened.
const SMALL: u64 = 64 << 10;
/// The last second that an HTTP date can name, in the year 9999.
const LAST_DATE: u64 = 253_402_300_799;

/// Where the bytes are.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Memory(Bytes),
    File(Arc<File>),
}

/// A file to be sent. Cloning shares the content.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) content: Content,
    pub(super) size: u64,
    /// Strong: size and modification time.
    pub(super) etag: HeaderValue,
    /// Whole seconds; none when HTTP cannot name the time.
    pub(super) modified: Option<SystemTime>,
    pub(super) content_type: HeaderValue,
    /// The coding of the content, if a sibling was taken.
    pub(super) coding: Option<&'static str>,
    /// There are siblings, so that another client may be sent other bytes.
    pub(super) varies: bool,
}

impl Source {
    /// Opens a file or the best sibling that is accepted. A look in memory fails for small files too, which are read
    /// while they are opened; any other blocks.
    pub(super) fn open(
        root: &Root,
        name: &str,
        accepted: Accepted,
        precompressed: bool,
        look: Look,
    ) -> io::Result<Self> {
        let plain = root.regular_file(name, look)?;
        let mut best = None;
        let mut varies = false;
        for (position, (coding, ending)) in CODINGS.iter().enumerate().filter(|_| precompressed) {
            let sibling = match root.regular_file(&format!("{name}{ending}"), look) {
                Ok(sibling) => sibling,
                Err(error) if look == Look::InMemory && error.kind() != io::ErrorKind::NotFound => {
                    return Err(error);
                }
                Err(_) => continue,
            };
            varies = true;
            if best.is_none() && accepted.takes(position) {
                best = Some((sibling, *coding));
            }
        }
        let ((file, metadata), coding) = match best {
            Some((sibling, coding)) => (sibling, Some(coding)),
            None => (plain, None),
        };
        if look == Look::InMemory && metadata.size() <= SMALL {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Self::new(file, &metadata, name, coding, varies)
    }

    fn new(
        mut file: File,
        metadata: &Metadata,
        name: &str,
        coding: Option<&'static str>,
        varies: bool,
    ) -> io::Result<Self> {
        let (content, size) = if metadata.size() <= SMALL {
            let mut bytes = Vec::with_capacity(metadata.size() as usize + 1);
            file.by_ref()
                .take(metadata.size())
                .read_to_end(&mut bytes)?;
            let size = bytes.len() as u64;
            (Content::Memory(bytes.into()), size)
        } else {
            (Content::File(Arc::new(file)), metadata.size())
        };
        let etag = format!(
            "\"{:x}.{:x}-{size:x}\"",
            metadata.mtime(),
            metadata.mtime_nsec()
        );
        Ok(Source {
            content,
            size,
            etag: HeaderValue::try_from(etag).expect("an entity tag is made of hexadecimal digits"),
            modified: modified(metadata.mtime()),
            content_type: content_type(name),
            coding,
            varies,
        })
    }

    /// How many bytes of memory the content takes; none when it stays on disk.
    pub(super) fn length_in_memory(&self) -> Option<usize> {
        match &self.content {
            Content::Memory(bytes) => Some(bytes.len()),
            Content::File(_) => None,
        }
    }
}

fn modified(seconds: i64) -> Option<SystemTime> {
    let seconds = u64::try_from(seconds)
        .ok()
        .filter(|seconds| *seconds <= LAST_DATE)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The media type by the name's ending; texts are taken to be UTF-8.
fn content_type(name: &str) -> HeaderValue {
    match mime_guess::from_path(name).first_raw() {
        None => HeaderValue::from_static("application/octet-stream"),
        Some(text) if text.starts_with("text/") || text == "application/javascript" => {
            HeaderValue::try_from(format!("{text}; charset=utf-8"))
                .expect("media types are visible ASCII")
        }
        Some(other) => HeaderValue::from_static(other),
    }
}
