//! The `Content-Type` of a multipart body and the header blocks of its parts.

use super::malformed;
use crate::error::Error;

/// The longest boundary (RFC 2046, section 5.1.1).
const MAX_BOUNDARY: usize = 70;
/// What a boundary may hold besides letters and digits; a space not at its end.
const BOUNDARY_EXTRA: &[u8] = b"'()+_,-./:=? ";

/// What a part says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PartHeader {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
}

/// The boundary of a request's content type.
pub(super) fn boundary(content_type: &str) -> Result<String, Error> {
    let (media_type, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !media_type
        .trim()
        .eq_ignore_ascii_case("multipart/form-data")
    {
        let reason = "the body is not multipart/form-data".to_owned();
        return Err(Error::BadRequest {
            status: 415,
            reason,
        });
    }
    let parameters =
        read_parameters(parameters).ok_or_else(|| malformed("its content type cannot be read"))?;
    let boundary = only(&parameters, "boundary")?
        .ok_or_else(|| malformed("its content type has no boundary"))?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || BOUNDARY_EXTRA.contains(&byte);
    let is_usable = (1..=MAX_BOUNDARY).contains(&boundary.len())
        && boundary.bytes().all(is_allowed)
        && !boundary.ends_with(' ');
    if is_usable {
        Ok(boundary)
    } else {
        Err(malformed("its boundary is not allowed"))
    }
}

/// Reads a part's header block, without the empty line (RFC 7578, section 4.2). Fields besides `Content-Disposition`
/// and `Content-Type` are skipped.
pub(super) fn parse(block: &[u8]) -> Result<PartHeader, Error> {
    let block =
        std::str::from_utf8(block).map_err(|_| malformed("a part's header is not valid UTF-8"))?;
    let mut disposition = None;
    let mut content_type = None;
    for line in block.split_terminator("\r\n") {
        let (name, value) = field(line)?;
        let slot = match name {
            _ if name.eq_ignore_ascii_case("content-disposition") => &mut disposition,
            _ if name.eq_ignore_ascii_case("content-type") => &mut content_type,
            _ => continue,
        };
        if slot.replace(value).is_some() {
            return Err(malformed(format!("a part has two {name} fields")));
        }
    }
    let disposition = disposition.ok_or_else(|| malformed("a part has no Content-Disposition"))?;
    let (kind, parameters) = disposition.split_once(';').unwrap_or((disposition, ""));
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return Err(malformed("a part's Content-Disposition is not form-data"));
    }
    let parameters = read_parameters(parameters)
        .ok_or_else(|| malformed("a part's Content-Disposition cannot be read"))?;
    named(&parameters, content_type)
}

fn named(parameters: &[(&str, String)], content_type: Option<&str>) -> Result<PartHeader, Error> {
    let name = only(parameters, "name")?.ok_or_else(|| malformed("a part has no name"))?;
    let extended = only(parameters, "filename*")?.and_then(|value| extended(&value));
    let file_name = only(parameters, "filename")?
        .or(extended)
        .map(|file_name| base_name(&file_name));
    let content_type = content_type.map(str::to_owned);
    Ok(PartHeader {
        name,
        file_name,
        content_type,
    })
}

/// One line as name and value. Folded lines, white space before the colon and control characters are refused.
fn field(line: &str) -> Result<(&str, &str), Error> {
    let is_token = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"')
    };
    let (name, value) = line
        .split_once(':')
        .filter(|(name, _)| is_token(name))
        .ok_or_else(|| malformed("a part's header has a line that is no field"))?;
    match value
        .bytes()
        .any(|byte| byte != b'\t' && byte.is_ascii_control())
    {
        true => Err(malformed("a part's header holds a control character")),
        false => Ok((name, value.trim_matches([' ', '\t']))),
    }
}

/// Reads `; name=token; name="quoted"` into pairs; none when it is malformed.
fn read_parameters(mut rest: &str) -> Option<Vec<(&str, String)>> {
    let mut parameters = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        if rest.is_empty() {
            return Some(parameters);
        }
        let (name, after) = rest
            .split_once('=')
            .filter(|(name, _)| is_parameter(name))?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim_end().to_owned(), &after[end..])
            }
        };
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(';') {
            return None;
        }
        parameters.push((name, value));
        rest = after;
    }
}

fn is_parameter(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte);
    !name.is_empty() && name.bytes().all(is_allowed)
}

/// Reads up to the closing quote. Only `\"` and `\\` are escapes: some clients send backslashes as they are. Browsers
/// send a quote as `%22`.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, next)) = chars.next() {
        match next {
            '"' => return Some((value.replace("%22", "\""), &quoted[at + 1..])),
            '\\' => {
                let escaped = chars.next_if(|(_, next)| matches!(next, '"' | '\\'));
                value.push(escaped.map_or('\\', |(_, escaped)| escaped));
            }
            other => value.push(other),
        }
    }
    None
}

/// The value of a parameter that may be given once.
fn only(parameters: &[(&str, String)], name: &str) -> Result<Option<String>, Error> {
    let mut values = parameters
        .iter()
        .filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let value = values.next().map(|(_, value)| value.clone());
    match values.next() {
        Some(_) => Err(malformed(format!("the parameter {name} is given twice"))),
        None => Ok(value),
    }
}

/// `UTF-8''a%20b` (RFC 8187), which RFC 7578 forbids and some clients send; none when it cannot be read.
fn extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let decoded = percent_encoding::percent_decode_str(encoded)
        .decode_utf8()
        .ok()?;
    let usable = charset.eq_ignore_ascii_case("utf-8") && !decoded.chars().any(char::is_control);
    usable.then(|| decoded.into_owned())
}

/// The last component of a path of any system; empty when that is no file's name.
fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if matches!(name, "." | "..") {
        String::new()
    } else {
        name.to_owned()
    }
}
