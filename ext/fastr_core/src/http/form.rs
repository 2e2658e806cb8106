//! Query strings, urlencoded bodies, cookies and nested names, read in linear time.
//!
//! It owns the decoding and the caps; what becomes of a pair (an Array, a nested Hash, the last one) is the Ruby
//! side's business. It refuses to guess: a bad escape, bad UTF-8 or a NUL in a form is a 400 with the reason, never
//! a silently changed value. Cookies are the exception, because any site of the domain may have set them: what
//! cannot be decoded is kept as it came.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::{memchr, memchr2, memchr3};
use percent_encoding::percent_decode;

use crate::error::Error;

/// The most pairs one query string, body or cookie header may hold.
pub const MAX_PAIRS: usize = 4096;
/// The most brackets one name may hold.
pub const MAX_DEPTH: usize = 32;
/// How many characters of a name an error shows.
const SHOWN: usize = 40;

/// One step of a nested name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment<'a> {
    /// `a` or `[a]`: the value under this key of a Hash.
    Key(&'a str),
    /// `[]`: one more element of an Array.
    Append,
}

/// Parses a query string or an `application/x-www-form-urlencoded` body into its pairs, in order, repeats kept.
///
/// Only `&` separates pairs, `+` is a space, a name without `=` has the value `""`, and empty pairs are skipped (the
/// URL standard, section 5.1).
///
/// # Errors
/// `BadRequest` 400 when an escape is malformed, a name or value is no UTF-8 or holds a NUL, or there are more than
/// [`MAX_PAIRS`] pairs.
pub fn parse_query(input: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let mut pairs = Vec::new();
    for piece in input
        .split(|byte| *byte == b'&')
        .filter(|piece| !piece.is_empty())
    {
        if pairs.len() == MAX_PAIRS {
            return Err(bad(format!("more than {MAX_PAIRS} form parameters")));
        }
        let (name, value) = match memchr(b'=', piece) {
            Some(at) => (&piece[..at], &piece[at + 1..]),
            None => (piece, &piece[piece.len()..]),
        };
        let name =
            decode(name).map_err(|why| bad(format!("{why} in the name of a form parameter")))?;
        let value = decode(value).map_err(|why| {
            let shown: String = name.chars().take(SHOWN).collect();
            bad(format!("{why} in the form parameter {shown:?}"))
        })?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Parses a `Cookie` header (RFC 6265, section 5.4) into its pairs, in order. The first of two cookies with one name
/// wins: user agents send the one with the longer path first.
///
/// A value may contain `=`, loses the quotes around it, and is percent-decoded where that gives valid text without
/// NUL; otherwise it is kept raw. `+` stays `+`. Names are never decoded, so that an escaped name cannot pose as a
/// `__Host-` or `__Secure-` cookie. A piece without `=` or without a name is skipped, and so is what follows
/// [`MAX_PAIRS`] cookies.
#[must_use]
pub fn parse_cookies(header: &str) -> Vec<(String, String)> {
    let mut seen = HashSet::new();
    header
        .split(';')
        .filter_map(|piece| piece.split_once('='))
        .map(|(name, value)| (trim(name), trim(value)))
        .filter(|(name, _)| !name.is_empty() && seen.insert(*name))
        .take(MAX_PAIRS)
        .map(|(name, value)| (name.to_owned(), cookie_value(value)))
        .collect()
}

/// Splits a nested name: `a[b][]` is `Key("a")`, `Key("b")`, `Append`.
///
/// A name whose brackets do not pair up (`a[b`, `[a]`, `a[b]c`, `a[[b]]`) is one key as it stands, never an error.
///
/// # Errors
/// `BadRequest` 400 when the name holds more than [`MAX_DEPTH`] brackets.
pub fn split_name(name: &str) -> Result<Vec<Segment<'_>>, Error> {
    let whole = || Ok(vec![Segment::Key(name)]);
    let Some(open) = memchr2(b'[', b']', name.as_bytes()) else {
        return whole();
    };
    let mut segments = vec![Segment::Key(&name[..open])];
    let mut rest = &name[open..];
    if open == 0 {
        return whole();
    }
    while !rest.is_empty() {
        let Some((inner, after)) = bracket(rest) else {
            return whole();
        };
        if segments.len() > MAX_DEPTH {
            return Err(bad(format!(
                "a form parameter is nested deeper than {MAX_DEPTH} levels"
            )));
        }
        segments.push(if inner.is_empty() {
            Segment::Append
        } else {
            Segment::Key(inner)
        });
        rest = after;
    }
    Ok(segments)
}

/// The text inside the bracket that `rest` starts with, and what follows it.
fn bracket(rest: &str) -> Option<(&str, &str)> {
    let inside = rest.strip_prefix('[')?;
    let end = memchr2(b'[', b']', inside.as_bytes())?;
    let after = inside[end..].strip_prefix(']')?;
    Some((&inside[..end], after))
}

/// Decodes one name or value; the error says what was wrong with it.
fn decode(raw: &[u8]) -> Result<String, &'static str> {
    let text = match memchr3(b'%', b'+', 0, raw) {
        None => Cow::Borrowed(raw),
        Some(_) => Cow::Owned(unescape(raw)?),
    };
    match String::from_utf8(text.into_owned()) {
        Ok(text) if memchr(0, text.as_bytes()).is_some() => Err("a NUL byte"),
        Ok(text) => Ok(text),
        Err(_) => Err("invalid UTF-8"),
    }
}

fn unescape(raw: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => escaped(bytes.next(), bytes.next()).ok_or("a malformed percent-encoding")?,
            other => other,
        });
    }
    Ok(out)
}

fn escaped(high: Option<&u8>, low: Option<&u8>) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high?)? * 16 + digit(low?)?).ok()
}

fn cookie_value(raw: &str) -> String {
    let bare = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(raw);
    if memchr(b'%', bare.as_bytes()).is_none() || !escapes_are_whole(bare.as_bytes()) {
        return bare.to_owned();
    }
    match percent_decode(bare.as_bytes()).decode_utf8() {
        Ok(text) if memchr(0, text.as_bytes()).is_none() => text.into_owned(),
        _ => bare.to_owned(),
    }
}

fn escapes_are_whole(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'%', raw).all(|at| escaped(raw.get(at + 1), raw.get(at + 2)).is_some())
}

fn trim(piece: &str) -> &str {
    piece.trim_matches([' ', '\t'])
}

fn bad(reason: String) -> Error {
    Error::BadRequest {
        status: 400,
        reason,
    }
}
