//! Where a MySQL or MariaDB server is and how to get in, from a URL. It does no I/O, and never shows a password.

use std::fmt;

use sqlx::ConnectOptions;
use sqlx::mysql::MySqlConnectOptions;

use super::url::{SslMode, charset, decoded, host_and_port, some, ssl_mode, unusable, word};
use crate::error::Error;

/// The options there are, for the error message.
const KNOWN: &str =
    "ssl-mode, ssl-ca, ssl-cert, ssl-key, socket, charset, collation, sql-mode and strict";

/// A server's address with everything needed to get in.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Location {
    host: String,
    port: u16,
    socket: Option<String>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    ssl_mode: Option<SslMode>,
    ssl_ca: Option<String>,
    ssl_cert: Option<String>,
    ssl_key: Option<String>,
    /// The collation of literals and comparisons on the connection; the server's own unless asked.
    pub(super) collation: Option<String>,
    /// Modes that are added to the server's own.
    pub(super) sql_mode: Option<String>,
    /// Whether a value that does not fit is an error rather than cut (the default).
    pub(super) is_strict: bool,
}

impl Location {
    /// Understands `mysql://user:password@host:port/database?option=value`; `mysql2://` and `mariadb://` mean the same.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(unusable(
                url,
                "it is no URL; write mysql://user:password@host/database",
            ));
        };
        if !["mysql", "mysql2", "mariadb"].contains(&scheme) {
            return Err(unusable(
                url,
                "its scheme is none of mysql, mysql2 and mariadb",
            ));
        }
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, address) = match authority.rsplit_once('@') {
            Some((credentials, address)) => (credentials, address),
            None => ("", authority),
        };
        let (user, password) = match credentials.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (credentials, None),
        };
        let text = |part: &str| decoded(url, part);
        let (host, port) = host_and_port(url, address)?;
        let mut location = Self {
            host,
            port,
            socket: None,
            user: some(text(user)?),
            password: password.map(text).transpose()?,
            database: some(text(database)?),
            ssl_mode: None,
            ssl_ca: None,
            ssl_cert: None,
            ssl_key: None,
            collation: None,
            sql_mode: None,
            is_strict: true,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            location.option(url, option, options)?;
        }
        Ok(location)
    }

    fn option(&mut self, url: &str, option: &str, all: &str) -> Result<(), Error> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let name = name.replace('_', "-");
        let value = decoded(url, &value.replace('+', "%20"))?;
        match name.as_str() {
            "ssl-mode" | "sslmode" => self.ssl_mode = Some(ssl_mode(url, &value)?),
            "ssl-ca" | "sslca" => self.ssl_ca = some(value),
            "ssl-cert" | "sslcert" => self.ssl_cert = some(value),
            "ssl-key" | "sslkey" => self.ssl_key = some(value),
            "socket" => self.socket = some(value),
            "charset" | "encoding" => charset(url, &value)?,
            "collation" => self.collation = some(word(url, &name, value)?),
            "sql-mode" => self.sql_mode = some(word(url, &name, value)?),
            "strict" => self.is_strict = !matches!(value.as_str(), "false" | "0" | "no"),
            // Behind an `@` lies the host: what stands before it may be the rest of a password with a `?` in it.
            _ if all.contains('@') => {
                return Err(unusable(
                    url,
                    &format!(
                        "an option is not known; {KNOWN} are (percent-encode ? and @ in a password)"
                    ),
                ));
            }
            other => {
                return Err(unusable(
                    url,
                    &format!("the option {other:?} is not known; {KNOWN} are"),
                ));
            }
        }
        Ok(())
    }

    /// What sqlx connects with. It is told to set nothing up: that is done together with the first question.
    pub(super) fn options(&self, statement_cache: usize) -> MySqlConnectOptions {
        let mut options = MySqlConnectOptions::new()
            .host(&self.host)
            .port(self.port)
            .statement_cache_capacity(statement_cache)
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .timezone(None)
            .set_names(false)
            .disable_statement_logging();
        if let Some(mode) = self.ssl_mode {
            options = options.ssl_mode(mode.into());
        }
        let set = [
            (
                &self.user,
                MySqlConnectOptions::username as fn(_, &str) -> _,
            ),
            (&self.password, MySqlConnectOptions::password),
            (&self.database, MySqlConnectOptions::database),
            (&self.socket, |options, path| options.socket(path)),
            (&self.ssl_ca, |options, file| options.ssl_ca(file)),
            (&self.ssl_cert, |options, file| {
                options.ssl_client_cert(file)
            }),
            (&self.ssl_key, |options, file| options.ssl_client_key(file)),
        ];
        for (value, set) in set {
            if let Some(value) = value {
                options = set(options, value);
            }
        }
        options
    }

    /// `127.0.0.1:3306`, or the socket's path.
    pub(super) fn address(&self) -> String {
        match &self.socket {
            Some(socket) => socket.clone(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Location({})", self.address())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_url_are_understood() {
        let location = Location::parse(
            "mysql2://bob%40home:p%3Aw%40x@db.example:3307/shop%20a?ssl_mode=REQUIRED",
        )
        .unwrap();
        assert_eq!(location.address(), "db.example:3307");
        assert_eq!(location.user.as_deref(), Some("bob@home"));
        assert_eq!(location.password.as_deref(), Some("p:w@x"));
        assert_eq!(location.database.as_deref(), Some("shop a"));
        assert_eq!(location.ssl_mode, Some(SslMode::Required));
        assert!(location.is_strict);
        for (url, address) in [
            ("mysql://", "localhost:3306"),
            ("mariadb://root@[::1]:3308", "[::1]:3308"),
            (
                "mysql://root@/db?socket=%2Frun%2Fmysqld.sock",
                "/run/mysqld.sock",
            ),
            (
                "mysql://h/?strict=false&encoding=utf8&sql-mode=ANSI_QUOTES",
                "h:3306",
            ),
        ] {
            assert_eq!(Location::parse(url).unwrap().address(), address, "{url}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_used_says_why_and_shows_no_password() {
        for (url, reason) in [
            ("mysql://u:s3cret@h:port/d", "port"),
            ("mysql://u:s3c/s3cret@h/d", "port"),
            ("mysql://u:s3cret@h/d?ssl-mode=maybe", "ssl-mode"),
            ("mysql://u:s3cret@h/d?charset=latin1", "utf8mb4"),
            ("mysql://u:s3cret@h/d?password=s3cret", "\"password\""),
            ("mysql://u:s3cret@h/d?pool=5", "\"pool\""),
            ("mysql://u:s3cret@h/%ff", "UTF-8"),
            ("mysql://u:s3cret@h/d?sql-mode=a'b", "sql-mode"),
            ("postgres://u:s3cret@h/d", "scheme"),
            ("mysql:h", "no URL"),
        ] {
            let error = Location::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
            assert!(!error.contains("s3c"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_url_makes_the_parser_panic(rest in "(\\PC|[@:/?#&=%\\[\\]0-9]){0,60}") {
            if let Ok(location) = Location::parse(&format!("mysql://{rest}")) {
                let _ = (location.address(), location.options(1));
            }
        }

        #[test]
        fn no_error_shows_a_password(
            password in "s3cret[a-z@:?#/]{0,6}s3cret",
            address in "(h|\\[::1\\]|h:port|h:70000|%ff)?",
            options in "(\\?(ssl-mode=maybe|charset=latin1|sql-mode=a'b|x=y))?",
        ) {
            for url in [
                format!("mysql://u:{password}@{address}/d{options}"),
                format!("mysql://u@{address}/d?password={password}"),
                format!("mysqle://u:{password}@{address}/d{options}"),
            ] {
                if let Err(error) = Location::parse(&url) {
                    proptest::prop_assert!(!error.to_string().contains("s3cret"), "{} says {}", url, error);
                }
            }
        }
    }
}
