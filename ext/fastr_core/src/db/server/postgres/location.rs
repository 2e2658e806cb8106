//! Where a PostgreSQL server lies and how it is spoken to, from its URL. It does no I/O. Whatever it says about a URL, it
//! never says the password.

use std::net::IpAddr;
use std::time::Duration;

use super::options::{Options, SslMode};
use crate::db::pool::DatabaseOptions;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use percent_encoding::percent_decode_str;

/// A server, and how to connect to it.
#[derive(Debug, Clone)]
pub(super) struct Location {
    /// What a connection needs to know.
    pub(super) options: Options,
    /// How many statements a connection keeps prepared; none behind a pooler that mixes connections.
    pub(super) statements: usize,
    /// How long connecting may last.
    pub(super) connect_timeout: Duration,
}

impl Location {
    /// Understands `postgres://user:password@host:port/database?option=value`.
    pub(super) fn parse(url: &str, options: &DatabaseOptions) -> Result<Self, Error> {
        let (_, rest) = url
            .split_once("://")
            .ok_or_else(|| unusable("it has no scheme; write postgres://user@host/database"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let mut location = Self {
            options: Options::from_environment(),
            statements: options.statement_cache,
            connect_timeout: options.connect_timeout,
        };
        location.authority(authority)?;
        if !database.is_empty() {
            location.options.database = Some(decoded(database, "database")?);
        }
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = decoded(value, "option")?;
            let name = decoded(name, "option")?;
            if !location.option(&name, &value)? {
                return Err(unknown_option(&name, query));
            }
        }
        // On a socket of this machine there is nothing to encrypt; libpq ignores the mode there, too.
        if location.options.socket().is_some() {
            location.options.ssl_mode = SslMode::Disable;
        }
        Ok(location)
    }

    fn authority(&mut self, authority: &str) -> Result<(), Error> {
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        if let Some(user) = user {
            let (name, password) = match user.split_once(':') {
                Some((name, password)) => (name, Some(decoded(password, "password")?)),
                None => (user, None),
            };
            self.options.user = decoded(name, "user")?;
            if password.is_some() {
                self.options.password = password;
            }
        }
        if address.contains(',') {
            return Err(unusable("it names several hosts; name one"));
        }
        let (host, port) = split_port(address);
        if !host.is_empty() {
            self.options.host = decoded(host, "host")?;
        }
        match port {
            Some(port) => self.port(port),
            None => Ok(()),
        }
    }

    fn port(&mut self, port: &str) -> Result<(), Error> {
        self.options.port = port
            .parse()
            .map_err(|_| unusable("its port is not a number from 0 to 65535"))?;
        Ok(())
    }

    /// Takes an option over, unless it is not known.
    fn option(&mut self, name: &str, value: &str) -> Result<bool, Error> {
        let options = &mut self.options;
        match name {
            "host" => options.host = value.to_owned(),
            "hostaddr" => {
                let address: IpAddr = value
                    .parse()
                    .map_err(|_| unusable("its hostaddr is not an IP address"))?;
                options.host = address.to_string();
            }
            "port" => self.port(value)?,
            "user" => options.user = value.to_owned(),
            "password" => options.password = Some(value.to_owned()),
            "dbname" => options.database = Some(value.to_owned()),
            "application_name" => options.application_name = Some(value.to_owned()),
            "sslmode" => options.ssl_mode = ssl_mode(value)?,
            "sslrootcert" => options.ssl_root_cert = Some(value.to_owned()),
            "sslcert" => options.ssl_client_cert = Some(value.to_owned()),
            "sslkey" => options.ssl_client_key = Some(value.to_owned()),
            "connect_timeout" => {
                let seconds = value
                    .parse()
                    .map_err(|_| unusable("its connect_timeout is not a number of seconds"))?;
                if seconds > 0 {
                    self.connect_timeout = Duration::from_secs(seconds);
                }
            }
            "statement_timeout"
            | "lock_timeout"
            | "idle_in_transaction_session_timeout"
            | "search_path" => options.set(name, value),
            "options" => self.server_options(value)?,
            "prepared_statements" if is_true(name, value)? => {}
            "pgbouncer" if !is_true(name, value)? => {}
            "prepared_statements" | "pgbouncer" => self.statements = 0,
            "client_encoding" | "encoding" if is_utf8(value) => {}
            "client_encoding" | "encoding" => {
                return Err(unusable(
                    "its encoding is not UTF8, and fastr reads no other",
                ));
            }
            "channel_binding" if value != "require" => {}
            "channel_binding" => {
                return Err(unusable(
                    "it requires channel binding, which fastr has not; take channel_binding out and make sure of the \
                     server by sslmode=verify-full",
                ));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `-c name=value -c name=value`, as libpq takes it.
    fn server_options(&mut self, text: &str) -> Result<(), Error> {
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let setting = match word.strip_prefix("--") {
                Some(setting) => setting,
                None if word == "-c" => words.next().unwrap_or_default(),
                None => word.strip_prefix("-c").unwrap_or_default(),
            };
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| unusable("its options are not of the form -c name=value"))?;
            self.options.set(name, value);
        }
        Ok(())
    }

    /// `PostgreSQL at 127.0.0.1:5432`
    pub(super) fn describe(&self) -> String {
        let Options { host, port, .. } = &self.options;
        if host.starts_with('/') {
            format!("PostgreSQL at {host}/.s.PGSQL.{port}")
        } else if host.contains(':') {
            format!("PostgreSQL at [{host}]:{port}")
        } else {
            format!("PostgreSQL at {host}:{port}")
        }
    }
}

/// `host`, `host:port`, `[::1]:port`; a path of a socket is percent-encoded and has no colon.
fn split_port(address: &str) -> (&str, Option<&str>) {
    if let Some(rest) = address.strip_prefix('[')
        && let Some((host, after)) = rest.split_once(']')
    {
        return (
            host,
            after.strip_prefix(':').filter(|port| !port.is_empty()),
        );
    }
    match address.rsplit_once(':') {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port)),
        None => (address, None),
    }
}

fn ssl_mode(value: &str) -> Result<SslMode, Error> {
    SslMode::named(value).ok_or_else(|| {
        unusable(
            "its sslmode is none of disable, allow, prefer, require, verify-ca and verify-full",
        )
    })
}

fn is_true(name: &str, value: &str) -> Result<bool, Error> {
    match value {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(unusable(&format!("its {name} is neither true nor false"))),
    }
}

fn is_utf8(value: &str) -> bool {
    ["utf8", "utf-8", "unicode"]
        .iter()
        .any(|name| value.eq_ignore_ascii_case(name))
}

fn decoded(text: &str, part: &str) -> Result<String, Error> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| {
        unusable(&format!(
            "its {part} is not UTF-8 once it is percent-decoded"
        ))
    })?;
    if decoded.contains('\0') {
        return Err(unusable(&format!("its {part} contains a NUL character")));
    }
    Ok(decoded.into_owned())
}

/// The URL itself is not shown: it may hold a password in places nobody expects.
fn unusable(reason: &str) -> Error {
    let message = format!("cannot use the PostgreSQL URL: {reason}");
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}

fn unknown_option(name: &str, query: &str) -> Error {
    // Behind an `@` lies the host: what stands before it may be the rest of a password with a `?` in it.
    let which = match query.contains('@') {
        true => "one of its options (percent-encode ? and @ in a password)".to_owned(),
        false => format!("its option {name:?}"),
    };
    unusable(&format!(
        "{which} is not known; host, hostaddr, port, user, password, dbname, application_name, sslmode, sslrootcert, \
         sslcert, sslkey, connect_timeout, statement_timeout, lock_timeout, idle_in_transaction_session_timeout, \
         search_path, options, prepared_statements and pgbouncer are"
    ))
}

#[cfg(test)]
mod tests;
