//! Opening files beneath a root, and nowhere else.
//!
//! On Linux the kernel resolves the whole name beneath the root in one step (`openat2`), so that no symbolic link
//! leads out and nothing can be exchanged in between. Where the kernel or a sandbox lacks that call, the name is
//! resolved first and compared with the root; then whoever may write in the folder could still exchange a directory
//! between the two steps.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How often a name is tried again that changed while it was resolved.
#[cfg(target_os = "linux")]
const ATTEMPTS: usize = 4;

/// An open root folder.
#[derive(Debug)]
pub(super) struct Root {
    folder: File,
    path: PathBuf,
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Root {
            folder: folder.into(),
            path: path.to_owned(),
        })
    }

    /// Opens a regular file. Never waits for the other side of a pipe.
    pub(super) fn regular_file(&self, name: &str) -> io::Result<(File, std::fs::Metadata)> {
        let file = self.file(name)?;
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok((file, metadata)),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    #[cfg(target_os = "linux")]
    fn file(&self, name: &str) -> io::Result<File> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match rustix::fs::openat2(&self.folder, name, flags(), Mode::empty(), resolve) {
                Ok(file) => return Ok(file.into()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM) => return self.checked_file(name),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::AGAIN.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn file(&self, name: &str) -> io::Result<File> {
        let _ = &self.folder;
        self.checked_file(name)
    }

    /// Resolves the name, checks that it stayed beneath the root, then opens what it resolved to.
    fn checked_file(&self, name: &str) -> io::Result<File> {
        let root = self.path.canonicalize()?;
        let file = root.join(name).canonicalize()?;
        if !file.starts_with(&root) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(rustix::fs::open(&file, flags() | OFlags::NOFOLLOW, Mode::empty())?.into())
    }
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// Whether the failure is the server's shortage and no property of the name.
pub(super) fn is_exhaustion(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    shortages
        .iter()
        .any(|shortage| error.raw_os_error() == Some(shortage.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_openat2_links_that_lead_out_are_refused_all_the_same() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let public = tempfile::tempdir().unwrap();
        std::fs::write(public.path().join("a"), "a").unwrap();
        std::os::unix::fs::symlink("a", public.path().join("inside")).unwrap();
        std::os::unix::fs::symlink(outside.path(), public.path().join("out")).unwrap();
        let root = Root::open(public.path()).unwrap();
        assert!(root.checked_file("a").is_ok() && root.checked_file("inside").is_ok());
        assert!(root.checked_file("out/secret").is_err());
        assert!(root.checked_file("../secret").is_err());
    }
}
