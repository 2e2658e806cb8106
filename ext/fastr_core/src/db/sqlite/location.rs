//! Where a SQLite database lies, from its URL, and why it could not be opened there. It does no I/O until an opening
//! has failed and the reason is wanted.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use rusqlite::OpenFlags;

use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// What may be done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Read it.
    ReadOnly,
    /// Read and write it; it must exist.
    ReadWrite,
    /// Read and write it; it is created when missing.
    Create,
}

/// A database's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// A private database in memory, gone with its only connection.
    Memory,
    /// A file.
    File { path: PathBuf, mode: Mode },
}

impl Location {
    /// Understands `sqlite:path`, `sqlite://path`, `sqlite:///abs`, `sqlite::memory:`, `:memory:` and plain paths.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let Some(rest) = ["sqlite:", "sqlite3:"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
        else {
            return Self::at(url, url.into(), Mode::Create);
        };
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, options) = rest.split_once('?').unwrap_or((rest, ""));
        let decoded = percent_decode_str(path)
            .decode_utf8()
            .map_err(|_| unusable(url, "its path is not UTF-8 once it is percent-decoded"))?;
        let mut mode = Mode::Create;
        for option in options.split('&').filter(|option| !option.is_empty()) {
            mode = match option {
                "mode=ro" => Mode::ReadOnly,
                "mode=rw" => Mode::ReadWrite,
                "mode=rwc" => Mode::Create,
                "mode=memory" => return Ok(Self::Memory),
                _ => return Err(unknown_option(url, option)),
            };
        }
        Self::at(url, decoded.into_owned(), mode)
    }

    fn at(url: &str, path: String, mode: Mode) -> Result<Self, Error> {
        match path.as_str() {
            ":memory:" => Ok(Self::Memory),
            "" => Err(unusable(
                url,
                "it names no file; write sqlite:path/to/file.db or sqlite::memory:",
            )),
            _ if path.contains('\0') => Err(unusable(url, "its path contains a NUL byte")),
            _ if path.starts_with("file:") => Err(unusable(
                url,
                "file: URIs are not understood; write sqlite:path/to/file.db?mode=ro",
            )),
            _ => Ok(Self::File {
                path: path.into(),
                mode,
            }),
        }
    }

    /// The same place, whatever the working directory will be when a connection is opened.
    pub(super) fn absolute(self) -> Self {
        match self {
            Self::File { path, mode } => Self::File {
                path: std::path::absolute(&path).unwrap_or(path),
                mode,
            },
            Self::Memory => Self::Memory,
        }
    }

    /// Whether it is gone with its connection.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self, Self::Memory)
    }

    /// The path as SQLite takes it.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Memory => Path::new(":memory:"),
            Self::File { path, .. } => path,
        }
    }

    /// How SQLite is to open it. Names are taken literally, never as URIs; one thread uses a connection, so SQLite
    /// needs no lock of its own.
    pub(super) fn flags(&self) -> OpenFlags {
        let access = match self {
            Self::File {
                mode: Mode::ReadOnly,
                ..
            } => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Self::File {
                mode: Mode::ReadWrite,
                ..
            } => OpenFlags::SQLITE_OPEN_READ_WRITE,
            _ => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        access | OpenFlags::SQLITE_OPEN_NO_MUTEX
    }

    /// Says in plain words why opening failed; `reason` is what SQLite said.
    pub(super) fn explain(&self, reason: &str) -> String {
        let path = self.path();
        let cause = match self {
            Self::Memory => None,
            Self::File { mode, .. } => cause(path, *mode),
        };
        format!(
            "cannot open the SQLite database {}: {}",
            path.display(),
            cause.as_deref().unwrap_or(reason)
        )
    }
}

fn cause(path: &Path, mode: Mode) -> Option<String> {
    if path.is_dir() {
        return Some("it is a directory; name a file in it".into());
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent
        && !parent.is_dir()
    {
        return Some(format!(
            "the directory {} does not exist; create it or correct the path",
            parent.display()
        ));
    }
    if !path.exists() && mode != Mode::Create {
        return Some(
            "the file does not exist, and its mode says not to create it (use mode=rwc)".into(),
        );
    }
    let denied = if path.exists() {
        File::options().read(true).open(path).err()
    } else {
        fs::read_dir(parent.unwrap_or(Path::new("."))).err()
    };
    denied.map(|error| error.to_string())
}

fn unusable(url: &str, reason: &str) -> Error {
    let shown = without_secrets(url);
    let message = format!("cannot use {shown:?} as a SQLite database: {reason}");
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}

/// A SQLite URL has neither user nor password; somebody who writes one must not read it in a log.
fn without_secrets(url: &str) -> String {
    let path = url.split_once('?').map_or(url, |(path, _)| path);
    match (path.find("://"), path.rfind('@')) {
        (Some(start), Some(end)) if start + 3 < end => {
            format!("{}…{}", &path[..start + 3], &path[end..])
        }
        _ => path.to_owned(),
    }
}

fn unknown_option(url: &str, option: &str) -> Error {
    // Its value may be a password.
    let name = option.split('=').next().unwrap_or(option);
    unusable(
        url,
        &format!(
            "the option {name:?} is not known; mode=ro, mode=rw, mode=rwc and mode=memory are"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, mode: Mode) -> Location {
        Location::File {
            path: path.into(),
            mode,
        }
    }

    #[test]
    fn every_form_of_url_is_understood() {
        for (url, location) in [
            ("sqlite:db/a.db", file("db/a.db", Mode::Create)),
            ("sqlite3:db/a.db", file("db/a.db", Mode::Create)),
            ("sqlite://db/a.db", file("db/a.db", Mode::Create)),
            ("sqlite:///var/a.db", file("/var/a.db", Mode::Create)),
            ("sqlite:a%20b.db?mode=ro", file("a b.db", Mode::ReadOnly)),
            ("sqlite:a.db?mode=rw", file("a.db", Mode::ReadWrite)),
            ("a%20?.db", file("a%20?.db", Mode::Create)),
            ("sqlite::memory:", Location::Memory),
            ("sqlite://:memory:", Location::Memory),
            (":memory:", Location::Memory),
            ("sqlite:x?mode=memory", Location::Memory),
        ] {
            assert_eq!(Location::parse(url), Ok(location), "{url}");
        }
    }

    #[test]
    fn an_error_shows_no_password() {
        for url in [
            "sqlite:a.db?password=s3cret",
            "sqlite://bob:s3cret@host/%00",
        ] {
            let error = Location::parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_used_says_why() {
        for (url, reason) in [
            ("", "names no file"),
            ("sqlite:", "names no file"),
            ("sqlite:a.db?cache=shared", "\"cache\""),
            ("sqlite:a%ff.db", "not UTF-8"),
            ("sqlite:a%00.db", "NUL"),
            ("file:a.db", "file: URIs"),
        ] {
            let error = Location::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_url_makes_the_parser_panic(rest in "(\\PC|[@:/?&=%]){0,60}") {
            for url in [format!("sqlite:{rest}"), rest] {
                let _ = Location::parse(&url).map(|location| (location.flags(), location.is_memory()));
            }
        }
    }
}
