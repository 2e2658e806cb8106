//! What a connection needs to know about its server: address, user, encryption, settings. What a URL leaves open comes
//! from the variables that PostgreSQL's own programs read (`PGHOST`, `PGUSER` …).

use std::env::var;
use std::fmt;
use std::path::{Path, PathBuf};

/// Whether and how a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SslMode {
    /// Never.
    Disable,
    /// Only if the server lets nobody in otherwise.
    Allow,
    /// Unless the server cannot or does not let anybody in that way.
    Prefer,
    /// Always.
    Require,
    /// Always, with a server whose certificate is of an authority.
    VerifyCa,
    /// Always, with a server whose certificate is of an authority and for its name.
    VerifyFull,
}

impl SslMode {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "disable" => SslMode::Disable,
            "allow" => SslMode::Allow,
            "prefer" => SslMode::Prefer,
            "require" => SslMode::Require,
            "verify-ca" => SslMode::VerifyCa,
            "verify-full" => SslMode::VerifyFull,
            _ => return None,
        })
    }
}

/// A server, and how a session with it begins.
#[derive(Clone)]
pub(super) struct Options {
    /// A name, an address, or the folder of a socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: Option<String>,
    pub(super) application_name: Option<String>,
    pub(super) ssl_mode: SslMode,
    /// A file of PEM, or its contents; so are the next two.
    pub(super) ssl_root_cert: Option<String>,
    pub(super) ssl_client_cert: Option<String>,
    pub(super) ssl_client_key: Option<String>,
    /// Settings of the session as the server takes them: `-c name=value -c name=value`.
    pub(super) settings: Option<String>,
}

impl Options {
    /// What the environment says.
    pub(super) fn from_environment() -> Self {
        let set = |name: &str| var(name).ok().filter(|value| !value.is_empty());
        let port = set("PGPORT")
            .and_then(|port| port.parse().ok())
            .unwrap_or(5432);
        let mode = set("PGSSLMODE").and_then(|mode| SslMode::named(&mode));
        Self {
            host: set("PGHOSTADDR")
                .or_else(|| set("PGHOST"))
                .unwrap_or_else(|| usual_host(port)),
            port,
            user: set("PGUSER").unwrap_or_else(system_user),
            password: set("PGPASSWORD"),
            database: set("PGDATABASE"),
            application_name: Some("fastr".into()),
            ssl_mode: mode.unwrap_or(SslMode::Prefer),
            ssl_root_cert: set("PGSSLROOTCERT"),
            ssl_client_cert: set("PGSSLCERT"),
            ssl_client_key: set("PGSSLKEY"),
            settings: set("PGOPTIONS"),
        }
    }

    /// Adds a setting of the session.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let settings = self.settings.get_or_insert_default();
        if !settings.is_empty() {
            settings.push(' ');
        }
        settings.push_str("-c ");
        for character in name.chars().chain(['=']).chain(value.chars()) {
            if matches!(character, ' ' | '\\') {
                settings.push('\\');
            }
            settings.push(character);
        }
    }

    /// The socket, if the server is reached by one of this machine.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        let is_folder = self.host.starts_with('/');
        is_folder.then(|| Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port)))
    }
}

impl fmt::Debug for Options {
    /// Without the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Options({}@{}:{})", self.user, self.host, self.port)
    }
}

/// The folder where a server of this machine has its socket, if there is one.
fn usual_host(port: u16) -> String {
    let socket = format!(".s.PGSQL.{port}");
    ["/var/run/postgresql", "/private/tmp", "/tmp"]
        .into_iter()
        .find(|folder| Path::new(folder).join(&socket).exists())
        .unwrap_or("localhost")
        .to_owned()
}

/// The name of who runs this program.
fn system_user() -> String {
    let number = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    });
    named
        .or_else(|| var("USER").ok())
        .unwrap_or_else(|| "unknown".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_apart_by_blanks_that_no_value_has() {
        let mut options = Options::from_environment();
        options.settings = None;
        options.set("search_path", "a b");
        options.set("statement_timeout", "5s");
        assert_eq!(
            options.settings.as_deref(),
            Some("-c search_path=a\\ b -c statement_timeout=5s")
        );
    }

    #[test]
    fn what_is_shown_of_options_is_no_password() {
        let mut options = Options::from_environment();
        options.password = Some("s3cret".into());
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
