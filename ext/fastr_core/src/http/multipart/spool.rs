//! Temporary files for large parts. Each has one owner, and a file without an owner is removed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// How much is collected before it is written.
const CHUNK: usize = 256 << 10;
/// How many names are tried.
const ATTEMPTS: usize = 8;

/// A temporary file, mode 0600. Dropping it removes the file, unless it was taken with [`SpooledFile::keep`].
#[derive(Debug)]
pub struct SpooledFile {
    path: PathBuf,
    length: u64,
}

impl SpooledFile {
    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Takes the file: from now on the caller removes it.
    #[must_use]
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for SpooledFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Whoever removed it before has done the work.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A temporary file being written, off the reactor thread.
#[derive(Debug)]
pub(super) struct Spool {
    spooled: SpooledFile,
    /// None while a blocking thread writes.
    file: Option<File>,
    waiting: Vec<u8>,
}

impl Spool {
    pub(super) async fn create(folder: &Path) -> Result<Self, Error> {
        let folder = folder.to_owned();
        let (file, spooled) = blocking(move || create(&folder)).await?;
        Ok(Spool {
            spooled,
            file: Some(file),
            waiting: Vec::new(),
        })
    }

    pub(super) async fn write(&mut self, data: &[u8]) -> Result<(), Error> {
        self.waiting.extend_from_slice(data);
        self.spooled.length += data.len() as u64;
        if self.waiting.len() < CHUNK {
            Ok(())
        } else {
            self.flush().await
        }
    }

    pub(super) async fn finish(mut self) -> Result<SpooledFile, Error> {
        self.flush().await?;
        Ok(self.spooled)
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let Some(mut file) = self.file.take() else {
            return Err(Error::Io(
                "the temporary file of an upload failed before".to_owned(),
            ));
        };
        let mut data = std::mem::take(&mut self.waiting);
        let writing = move || {
            file.write_all(&data)?;
            data.clear();
            Ok((file, data))
        };
        let (file, data) = blocking(writing).await?;
        self.file = Some(file);
        self.waiting = data;
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let result = tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|lost| Err(lost.into()));
    result.map_err(|error| failure(&error))
}

/// A new file that nobody else could have prepared or may open.
fn create(folder: &Path) -> io::Result<(File, SpooledFile)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    for _ in 0..ATTEMPTS {
        let path = folder.join(format!("fastr-upload-{:032x}", random()?));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, SpooledFile { path, length: 0 })),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "no free name for the temporary file of an upload",
    ))
}

fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}

/// No room is a 507 (RFC 4918, section 11.5); anything else is the server's own failure.
fn failure(error: &io::Error) -> Error {
    let no_room = [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ];
    if no_room.contains(&error.kind()) {
        let reason = "there is no room for the upload".to_owned();
        return Error::BadRequest {
            status: 507,
            reason,
        };
    }
    Error::Io(format!("the temporary file of an upload failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_a_507_and_other_failures_are_not() {
        let status = |code: i32| match failure(&io::Error::from_raw_os_error(code)) {
            Error::BadRequest { status, .. } => Some(status),
            _ => None,
        };
        let [full, quota, too_large, denied] = [
            rustix::io::Errno::NOSPC,
            rustix::io::Errno::DQUOT,
            rustix::io::Errno::FBIG,
            rustix::io::Errno::ACCESS,
        ]
        .map(rustix::io::Errno::raw_os_error);
        assert_eq!([full, quota, too_large].map(status), [Some(507); 3]);
        assert_eq!(status(denied), None);
    }

    #[test]
    fn a_prepared_link_is_never_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = create(folder.path()).unwrap().1.keep();
        let victim = folder.path().join("victim");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let again = OpenOptions::new().write(true).create_new(true).open(&path);
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!victim.exists());
    }
}
