//! Which driver a URL asks for.

use crate::db::backend::Backend;
use crate::db::pool::{DatabaseOptions, ReactorSource};
use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// The backend for a URL of this scheme.
pub(in crate::db) fn open(
    scheme: &str,
    url: &str,
    options: DatabaseOptions,
    reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => postgres(url, options, reactor),
        "mysql" | "mysql2" | "mariadb" => mysql(url, options, reactor),
        _ => Err(unusable(format!(
            "{scheme}:// names no database; use postgres://, mysql:// (MySQL and MariaDB) or sqlite:path/to/file.db"
        ))),
    }
}

#[cfg(feature = "postgres")]
fn postgres(
    url: &str,
    options: DatabaseOptions,
    reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    let driver = super::postgres::Postgres::new(url, &options)?;
    Ok(Box::new(super::Server::new(driver, options, reactor)))
}

#[cfg(not(feature = "postgres"))]
fn postgres(
    _url: &str,
    _options: DatabaseOptions,
    _reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    Err(unusable("this build has no PostgreSQL".into()))
}

#[cfg(feature = "mysql")]
fn mysql(
    url: &str,
    options: DatabaseOptions,
    reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    let driver = super::mysql::MySql::new(url, &options)?;
    Ok(Box::new(super::Server::new(driver, options, reactor)))
}

#[cfg(not(feature = "mysql"))]
fn mysql(
    _url: &str,
    _options: DatabaseOptions,
    _reactor: ReactorSource,
) -> Result<Box<dyn Backend>, Error> {
    Err(unusable("this build has no MySQL".into()))
}

fn unusable(message: String) -> Error {
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}
