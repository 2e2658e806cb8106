//! The request line, RFC 9112 section 3: `method SP request-target SP HTTP-version`.
//!
//! It refuses whatever could be read in two ways: more than one space, bytes outside visible ASCII, a fragment, a
//! target form that does not belong to the method. CONNECT is refused whole: fastr is no tunnel.

use super::rejection::{Rejection, bad};
use super::syntax::{PATH, QUERY, TOKEN, is_authority, is_path_and_query, span};

/// Longest method: registered ones end at 16 bytes. Longer is 501 (RFC 9112 section 3).
const METHOD_ROOM: usize = 32;

/// The versions of the protocol whose framing the guard knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// HTTP/1.0: Host is optional, Transfer-Encoding unknown.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// Checks the request line, given without its line end.
pub(super) fn check(line: &[u8]) -> Result<Version, Rejection> {
    let Some((before, version)) = line.split_last_chunk::<8>() else {
        return Err(bad("the request line is incomplete"));
    };
    let version = check_version(version)?;
    let Some(before) = before.strip_suffix(b" ") else {
        return Err(bad("the request line has no space before the version"));
    };
    let (method, target) = before.split_at(span(before, TOKEN));
    let Some(target) = target.strip_prefix(b" ") else {
        return Err(bad("the method is not a token followed by one space"));
    };
    check_method(method)?;
    check_target(method, target)?;
    Ok(version)
}

/// RFC 9112 section 2.3. The name is case-sensitive, and another version than 1.0 and 1.1 is 505 (RFC 9110 section
/// 15.6.6), the preface of HTTP/2 included.
fn check_version(version: &[u8; 8]) -> Result<Version, Rejection> {
    match version {
        b"HTTP/1.1" => Ok(Version::Http11),
        b"HTTP/1.0" => Ok(Version::Http10),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Err(Rejection::new(
                505,
                "only HTTP/1.0 and HTTP/1.1 are spoken here",
            ))
        }
        _ => Err(bad("the request line does not end in an HTTP version")),
    }
}

fn check_method(method: &[u8]) -> Result<(), Rejection> {
    match method {
        b"" => Err(bad("the request line has no method")),
        b"CONNECT" => Err(Rejection::new(501, "CONNECT is not implemented")),
        _ if method.len() > METHOD_ROOM => {
            Err(Rejection::new(501, "the method is not implemented"))
        }
        _ => Ok(()),
    }
}

/// RFC 9112 section 3.2: origin-form, absolute-form, or asterisk-form with OPTIONS only.
fn check_target(method: &[u8], target: &[u8]) -> Result<(), Rejection> {
    let sound = match target {
        [b'/', ..] => is_path_and_query(target),
        b"*" => method == b"OPTIONS",
        _ => is_absolute(target),
    };
    if sound {
        return Ok(());
    }
    Err(bad(match span(target, PATH | QUERY) {
        0 if target.is_empty() => "the request line has no target",
        end if end < target.len() => "the target holds a byte that must be percent-encoded",
        _ => "the target has no form that goes with the method",
    }))
}

/// RFC 9112 section 3.2.2: `http` or `https`, an authority without userinfo, and an optional path and query.
fn is_absolute(target: &[u8]) -> bool {
    let Some(rest) = strip_scheme(target) else {
        return false;
    };
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?'));
    let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
    is_authority(authority) && is_path_and_query(path)
}

fn strip_scheme(target: &[u8]) -> Option<&[u8]> {
    [b"http://".as_slice(), b"https://"]
        .into_iter()
        .find_map(|scheme| {
            let (start, rest) = target.split_at_checked(scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some(rest)
        })
}
