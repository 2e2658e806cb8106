//! Which driver a URL asks for.

use super::super::backend::Backend;
use super::super::pool::{DatabaseOptions, ReactorSource};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// The backend for a URL of this scheme.
pub(in crate::db) fn open(
    scheme: &str,
    _url: &str,
    _options: DatabaseOptions,
    _reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    Err(refused(&format!(
        "{scheme}:// names no database; use postgres://, mysql:// (MySQL and MariaDB) or sqlite:path/to/file.db"
    )))
}

fn refused(message: &str) -> Error {
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}
