//! Which driver a URL asks for.

use super::super::backend::Backend;
use super::super::pool::{DatabaseOptions, ReactorSource};
use super::Server;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// The backend for a URL of this scheme.
pub(in crate::db) fn open(
    scheme: &str,
    url: &str,
    options: DatabaseOptions,
    reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let driver = super::postgres::Postgres::new(url, &options)?;
            Ok(Box::new(Server::new(driver, options, reactor)))
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mysql2" | "mariadb" => {
            let driver = super::mysql::MySql::new(url, &options)?;
            Ok(Box::new(Server::new(driver, options, reactor)))
        }
        _ => Err(refused(&format!(
            "{scheme}:// names no database; use postgres://, mysql:// (MySQL and MariaDB) or sqlite:path/to/file.db"
        ))),
    }
}

fn refused(message: &str) -> Error {
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}
