//! A file that a program answers with: opened where the program runs, sent by the same means as one of the public
//! folder. It owns what may be sent so, and refuses what is no regular file.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::http::static_files::StaticBody;

/// An open regular file, to be sent whole.
#[derive(Debug)]
pub struct SentFile {
    file: File,
    size: u64,
}

impl SentFile {
    /// Opens a file. Blocks while the disk does, but never for the other side of a pipe.
    ///
    /// # Errors
    /// Those of `open(2)`, and `InvalidInput` when it is no regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self {
            file,
            size: metadata.len(),
        })
    }

    /// Its size when it was opened. A file that shrinks below it while it is being sent cuts the connection.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn into_body(self) -> StaticBody {
        StaticBody::of_file(self.file, self.size)
    }
}
