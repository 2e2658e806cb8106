//! Databases that are servers: a pool of connections, each owned by a task on the reactor.
//!
//! [`driver`] is the interface to one protocol.

pub(crate) mod driver;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;

use super::backend::Backend;
use super::pool::{DatabaseOptions, ReactorSource};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// The backend for a URL of this scheme.
pub(super) fn open(
    scheme: &str,
    _url: &str,
    _options: DatabaseOptions,
    _reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    Err(DatabaseError::new(
        DatabaseErrorKind::Connection,
        format!("no driver for {scheme}:// is built in; use sqlite:path/to/file.db"),
    )
    .into())
}
