//! The parts of a URL and what each may be; an error never shows what may be secret.

use percent_encoding::percent_decode_str;
use sqlx::mysql::MySqlSslMode;

use crate::error::{DatabaseError, DatabaseErrorKind, Error};

/// Whether the connection is encrypted, and how much the server has to prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SslMode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl From<SslMode> for MySqlSslMode {
    fn from(mode: SslMode) -> Self {
        match mode {
            SslMode::Disabled => Self::Disabled,
            SslMode::Preferred => Self::Preferred,
            SslMode::Required => Self::Required,
            SslMode::VerifyCa => Self::VerifyCa,
            SslMode::VerifyIdentity => Self::VerifyIdentity,
        }
    }
}

pub(super) fn ssl_mode(url: &str, value: &str) -> Result<SslMode, Error> {
    match value.to_ascii_lowercase().replace('-', "_").as_str() {
        "disabled" | "disable" => Ok(SslMode::Disabled),
        "preferred" | "prefer" => Ok(SslMode::Preferred),
        "required" | "require" => Ok(SslMode::Required),
        "verify_ca" => Ok(SslMode::VerifyCa),
        "verify_identity" | "verify_full" => Ok(SslMode::VerifyIdentity),
        _ => Err(unusable(
            url,
            "its ssl-mode is none of disabled, preferred, required, verify_ca and verify_identity",
        )),
    }
}

/// Text arrives and leaves as UTF-8, whatever a table stores: the server converts.
pub(super) fn charset(url: &str, value: &str) -> Result<(), Error> {
    if ["utf8mb4", "utf8", "utf8mb3"].contains(&value.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(unusable(
        url,
        "its charset is not utf8mb4; leave the option out, the server converts what tables store in another charset",
    ))
}

/// A value that becomes part of a statement.
pub(super) fn word(url: &str, name: &str, value: String) -> Result<String, Error> {
    if value
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_,".contains(c))
    {
        return Ok(value);
    }
    Err(unusable(
        url,
        &format!("its {name} is not made of letters, digits, _ and commas"),
    ))
}

pub(super) fn host_and_port(url: &str, address: &str) -> Result<(String, u16), Error> {
    let (host, port) = match address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    let port = match port {
        None | Some("") => 3306,
        Some(port) => port.parse().map_err(|_| {
            unusable(
                url,
                "its port is not a number; a password with : / ? # or @ in it is percent-encoded",
            )
        })?,
    };
    let host = decoded(url, host)?;
    Ok((some(host).unwrap_or_else(|| "localhost".into()), port))
}

pub(super) fn decoded(url: &str, part: &str) -> Result<String, Error> {
    match percent_decode_str(part).decode_utf8() {
        Ok(text) if text.contains('\0') => Err(unusable(url, "it contains a NUL byte")),
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(unusable(url, "it is not UTF-8 once it is percent-decoded")),
    }
}

pub(super) fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

pub(super) fn unusable(url: &str, reason: &str) -> Error {
    let message = format!(
        "cannot use {:?} as a MySQL database: {reason}",
        without_secrets(url)
    );
    DatabaseError::new(DatabaseErrorKind::Connection, message).into()
}

/// The URL up to what may be secret: credentials and options.
fn without_secrets(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    match (shown.find("://"), url.rfind('@')) {
        (Some(start), Some(end)) if end > shown.len() => format!("{}…", &url[..start + 3]),
        (Some(start), Some(end)) if end > start => {
            format!("{}…{}", &url[..start + 3], &shown[end..])
        }
        _ => shown.into(),
    }
}
