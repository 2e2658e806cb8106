//! PostgreSQL's text forms of arrays and ranges, taken apart into text values. It knows nothing of their types.

use crate::db::rows::{Range, Value};

/// PostgreSQL has no more dimensions than these.
const DIMENSIONS: usize = 6;

/// `{1,"two, three",NULL,{…}}`, with or without `[1:3]=` before it. None: it is no such text.
pub(super) fn array(text: &str) -> Option<Vec<Value>> {
    let text = text.trim();
    let text = match text.strip_prefix('[') {
        Some(bounds) => bounds.split_once('=')?.1.trim_start(),
        None => text,
    };
    let mut parser = Parser { rest: text };
    let elements = parser.elements(1)?;
    parser.rest.trim().is_empty().then_some(elements)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn elements(&mut self, depth: usize) -> Option<Vec<Value>> {
        self.eat('{')?;
        let mut elements = Vec::new();
        if self.eat('}').is_some() {
            return Some(elements);
        }
        loop {
            elements.push(self.element(depth)?);
            if self.eat('}').is_some() {
                return Some(elements);
            }
            self.eat(',')?;
        }
    }

    fn element(&mut self, depth: usize) -> Option<Value> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('{') {
            return (depth < DIMENSIONS)
                .then(|| self.elements(depth + 1))?
                .map(Value::Array);
        }
        if self.eat('"').is_some() {
            return self.quoted().map(Value::Text);
        }
        let (text, was_escaped) = self.bare()?;
        match text.as_str() {
            "" => None,
            text if !was_escaped && text.eq_ignore_ascii_case("null") => Some(Value::Null),
            _ => Some(Value::Text(text)),
        }
    }

    /// Up to the closing quote.
    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next()? {
                '\\' => text.push(characters.next()?),
                '"' => break,
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }

    /// Up to a comma or a brace, without the blanks around it.
    fn bare(&mut self) -> Option<(String, bool)> {
        let mut text = String::new();
        let mut was_escaped = false;
        // Blanks at the end count only if a backslash protects them.
        let mut kept = 0;
        let mut characters = self.rest.chars();
        loop {
            let before = characters.as_str();
            match characters.next()? {
                '\\' => {
                    text.push(characters.next()?);
                    was_escaped = true;
                    kept = text.len();
                }
                ',' | '}' => {
                    self.rest = before;
                    break;
                }
                '{' | '"' => return None,
                other => text.push(other),
            }
        }
        let end = text.trim_end().len().max(kept);
        text.truncate(end);
        Some((text, was_escaped))
    }

    fn eat(&mut self, character: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(character)?;
        Some(())
    }
}

/// `[1,5)`, `(,"2026-01-31"]`, `empty`. None: it is no such text.
pub(super) fn range(text: &str) -> Option<Range> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("empty") {
        return Some(Range::Empty);
    }
    let mut characters = text.chars();
    let includes_lower = match characters.next()? {
        '[' => true,
        '(' => false,
        _ => return None,
    };
    let (lower, after) = bound(characters.as_str())?;
    let (upper, after) = bound(after.strip_prefix(',')?)?;
    let includes_upper = match after {
        "]" => true,
        ")" => false,
        _ => return None,
    };
    Some(Range::Span {
        lower,
        includes_lower,
        upper,
        includes_upper,
    })
}

/// One bound, and what follows it; one without a character is infinite, `""` is an empty text.
fn bound(text: &str) -> Option<(Option<Value>, &str)> {
    let mut found = String::new();
    let mut is_there = false;
    let mut is_quoted = false;
    let mut characters = text.chars();
    loop {
        let before = characters.as_str();
        match characters.next()? {
            '\\' => found.push(characters.next()?),
            '"' if is_quoted && characters.as_str().starts_with('"') => {
                characters.next();
                found.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' | ')' | ']' if !is_quoted => {
                return Some((is_there.then_some(Value::Text(found)), before));
            }
            '(' | '[' if !is_quoted => return None,
            other => found.push(other),
        }
        is_there = true;
    }
}
