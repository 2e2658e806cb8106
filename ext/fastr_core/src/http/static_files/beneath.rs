//! Opening files beneath a root, and nowhere else.
//!
//! On Linux the kernel resolves the whole name beneath the root in one step (`openat2`), so that no symbolic link
//! leads out and nothing can be exchanged in between. It also says whether it can do so from memory. Where the kernel or a sandbox lacks that call, the name is
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

/// The file systems whose `open` asks no other machine or process, by their numbers in `statfs(2)`: ext2 to ext4, XFS,
/// Btrfs, tmpfs, ramfs, overlay, F2FS, SquashFS, EROFS, ZFS.
#[cfg(target_os = "linux")]
const LOCAL: [u64; 10] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
    0xf2f5_2010,
    0x7371_7368,
    0xe0f5_e1e2,
    0x2fc1_2fc1,
];

/// How much a look for a file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Whatever it takes.
    Blocking,
    /// Nothing: what the kernel does not have in memory is `WouldBlock`.
    InMemory,
}

/// An open root folder.
#[derive(Debug)]
pub(super) struct Root {
    folder: File,
    path: PathBuf,
    is_local: bool,
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        Ok(Root {
            is_local: is_local(&folder),
            folder,
            path: path.to_owned(),
        })
    }

    /// Opens a regular file. Never waits for the other side of a pipe.
    pub(super) fn regular_file(
        &self,
        name: &str,
        look: Look,
    ) -> io::Result<(File, std::fs::Metadata)> {
        let file = match look {
            Look::Blocking => self.file(name)?,
            Look::InMemory => self.file_in_memory(name)?,
        };
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

    #[cfg(target_os = "linux")]
    fn file_in_memory(&self, name: &str) -> io::Result<File> {
        use rustix::fs::ResolveFlags;
        if !self.is_local {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::CACHED;
        let opened = rustix::fs::openat2(&self.folder, name, flags(), Mode::empty(), resolve);
        Ok(opened?.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn file_in_memory(&self, _: &str) -> io::Result<File> {
        let _ = self.is_local;
        Err(io::ErrorKind::WouldBlock.into())
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

#[cfg(target_os = "linux")]
fn is_local(folder: &File) -> bool {
    // The numbers have 32 bits, whatever the type of the field.
    rustix::fs::fstatfs(folder)
        .is_ok_and(|about| LOCAL.contains(&(about.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_: &File) -> bool {
    false
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

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_was_opened_before_is_found_in_memory_and_nothing_outside_is() {
        let public = tempfile::tempdir().unwrap();
        std::fs::write(public.path().join("a"), "a").unwrap();
        std::os::unix::fs::symlink("/etc", public.path().join("out")).unwrap();
        let mut root = Root::open(public.path()).unwrap();
        assert!(root.is_local, "tests run on a file system of this machine");
        assert!(root.regular_file("a", Look::Blocking).is_ok());
        assert!(root.regular_file("a", Look::InMemory).is_ok());
        assert!(root.regular_file("out/passwd", Look::InMemory).is_err());
        assert!(root.regular_file("../a", Look::InMemory).is_err());
        root.is_local = false;
        let error = root.regular_file("a", Look::InMemory).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
