//! What one parameter's value may be.
//!
//! It owns the common classes, which need no regular expression, and the anchoring: a constraint covers the whole
//! decoded value, so that a newline in it can hide nothing.

use regex::Regex;

use super::dialect::translate;

/// What a value may be. A value is never empty.
#[derive(Debug, Clone)]
pub(super) enum Constraint {
    /// Anything.
    Free,
    /// `[0-9]+`.
    Digits,
    /// `[0-9A-Za-z_]+`, the default of the 2010 router.
    Word,
    /// A regular expression, with its translated source.
    Regex(Regex, String),
}

impl Constraint {
    /// Reads a constraint; the error is what the regex compiler says.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let translated = translate(source);
        Ok(match translated.as_str() {
            "[^/]+" => Constraint::Free,
            "[0-9]+" | "[[0-9]]+" => Constraint::Digits,
            "[0-9A-Za-z_]+" => Constraint::Word,
            _ => {
                let regex =
                    Regex::new(&format!(r"\A(?:{translated})\z")).map_err(|error| plain(&error))?;
                Constraint::Regex(regex, translated)
            }
        })
    }

    pub(super) fn accepts(&self, value: &str) -> bool {
        match self {
            Constraint::Free => true,
            Constraint::Digits => value.bytes().all(|byte| byte.is_ascii_digit()),
            Constraint::Word => value
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()),
            Constraint::Regex(regex, _) => regex.is_match(value),
        }
    }

    pub(super) fn is_free(&self) -> bool {
        matches!(self, Constraint::Free)
    }

    /// Whether a value may span segments. The answer may be a false yes, which costs speed, but never a false no.
    pub(super) fn may_cross_segments(&self) -> bool {
        match self {
            Constraint::Regex(_, source) => mentions_slash(source),
            _ => false,
        }
    }

    /// The constraint as a part of a larger expression.
    pub(super) fn source(&self) -> &str {
        match self {
            Constraint::Free => "[^/]+",
            Constraint::Digits => "[0-9]+",
            Constraint::Word => "[0-9A-Za-z_]+",
            Constraint::Regex(_, source) => source,
        }
    }
}

/// Whether a slash may match some part of the expression: everything but the plainest syntax counts as a yes.
fn mentions_slash(source: &str) -> bool {
    let mut previous = ' ';
    let mut chars = source.chars();
    while let Some(next) = chars.next() {
        let safe = match next {
            '\\' => matches!(
                chars.next(),
                Some('.' | '-' | 'b' | 't' | 'r' | 'n' | 'f' | 'v')
            ),
            '[' => !chars.as_str().starts_with('^') && !chars.as_str().starts_with(':'),
            // A range from a letter or digit upwards leaves the slash below it; so does a dash at an end.
            '-' => {
                previous.is_ascii_alphanumeric()
                    || chars.as_str().starts_with(']')
                    || previous == '['
            }
            '?' | '_' | '|' | '(' | ')' | '{' | '}' | '*' | '+' | ',' | ']' | '@' | '=' | '^'
            | '$' | ':' | ' ' => true,
            other => other.is_alphanumeric(),
        };
        if !safe {
            return true;
        }
        previous = next;
    }
    false
}

/// The last line of a regex error says what is wrong; the lines before it draw the expression.
pub(super) fn plain(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
