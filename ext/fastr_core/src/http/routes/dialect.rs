//! Regular expressions of constraints, translated to the `regex` crate's dialect.
//!
//! Sources come from a language where `\d \w \s \h` are ASCII only, where the flag for "a dot matches a newline" is
//! `m`, and where `\Z` exists. It owns these differences and the anchors at both ends, which a constraint has anyway.
//! What the crate cannot express (look-around, back references) is left for the crate to refuse.

/// The source as the `regex` crate reads it, without anchors at its ends.
pub(super) fn translate(source: &str) -> String {
    let (flags, source) = leading_flags(source);
    let mut out = String::with_capacity(source.len() + flags.len() + 8);
    out.push_str(&flags.replace('m', "s"));
    let mut rest = strip_anchors(source);
    let mut brackets = 0_usize;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '\\' => rest = escape(rest, &mut out),
            '(' if brackets == 0 && rest.starts_with('?') => rest = group(rest, &mut out),
            other => out.push(other),
        }
        match next {
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
    }
    out
}

/// Splits `(?im)` off the front, which is how options of the whole expression are given.
fn leading_flags(source: &str) -> (&str, &str) {
    let inside = source
        .strip_prefix("(?")
        .map(|rest| rest.trim_start_matches(['i', 'm', 'x', '-']));
    match inside.and_then(|rest| rest.strip_prefix(')')) {
        Some(rest) => source.split_at(source.len() - rest.len()),
        None => ("", source),
    }
}

/// A constraint covers its whole value, so that anchors around it say nothing; inside a larger expression they would
/// never match.
fn strip_anchors(source: &str) -> &str {
    let source = source
        .strip_prefix("\\A")
        .or_else(|| source.strip_prefix('^'))
        .unwrap_or(source);
    let end = ["$", "\\z", "\\Z"]
        .iter()
        .find_map(|anchor| source.strip_suffix(anchor));
    match end {
        Some(bare) if !ends_in_escape(bare) => bare,
        _ => source,
    }
}

/// Whether the character after `text` is escaped: an odd number of backslashes ends it.
fn ends_in_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Writes what `\` and the start of `rest` mean; returns the rest.
fn escape<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(next) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    match next {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str(r"[ \t\r\n\f\v]"),
        'S' => out.push_str(r"[^ \t\r\n\f\v]"),
        'h' => out.push_str("[0-9A-Fa-f]"),
        'H' => out.push_str("[^0-9A-Fa-f]"),
        'Z' => out.push_str(r"\z"),
        // `\/` is how a slash is written inside slashes.
        '/' => out.push('/'),
        other => {
            out.push('\\');
            out.push(other);
        }
    }
    &rest[next.len_utf8()..]
}

/// Writes a group's opening, `m` becoming `s` where it is a flag; returns the rest.
fn group<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let end = rest[1..]
        .find(|c: char| !matches!(c, 'i' | 'm' | 'x' | '-'))
        .map_or(rest.len(), |at| at + 1);
    out.push('(');
    out.push_str(&rest[..end].replace('m', "s"));
    &rest[end..]
}
