//! The text of a pattern, read into alternatives without optional parts.
//!
//! It owns the grammar: literal text, `:name`, `*name`, `( … )` for an optional part, `\` before a character that
//! means itself. `/a(.:format)` has the alternatives `/a.:format` and `/a`, the present part first. What a parameter
//! may match is decided elsewhere. Every refusal says where in the pattern it is and how to mend it.

use super::captures::MAX_PARAMS;

/// The most alternatives the optional parts of one pattern may unfold to.
const MAX_ALTERNATIVES: usize = 64;
/// How deep optional parts may nest.
const MAX_NESTING: usize = 8;

/// One piece of an alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stands for itself.
    Literal(String),
    /// The parameter with this number: `:name`, within one segment.
    Param(usize),
    /// The parameter with this number: `*name`, across segments.
    Splat(usize),
}

/// A pattern as alternatives in the order to try them.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) names: Vec<String>,
    pub(super) alternatives: Vec<Vec<Piece>>,
}

enum Node {
    Piece(Piece),
    Optional(Vec<Node>),
}

/// Reads a pattern; the error says what is wrong in it.
pub(super) fn parse(text: &str) -> Result<Pattern, String> {
    let mut parser = Parser {
        text,
        at: 0,
        names: Vec::new(),
    };
    let nodes = parser.sequence(0)?;
    if parser.at < text.len() {
        return Err(format!(
            "the `)` at column {} closes nothing (write `\\)` for a literal one)",
            parser.column()
        ));
    }
    let mut alternatives = vec![Vec::new()];
    unfold(&nodes, &mut alternatives)?;
    for alternative in &mut alternatives {
        root(alternative)?;
    }
    Ok(Pattern {
        names: parser.names,
        alternatives,
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: Vec<String>,
}

impl Parser<'_> {
    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        let mut literal = String::new();
        while let Some(next) = self.peek().filter(|next| *next != ')') {
            let column = self.column();
            self.at += next.len_utf8();
            let node = match next {
                ':' => Node::Piece(Piece::Param(self.name(':', column)?)),
                '*' => Node::Piece(Piece::Splat(self.name('*', column)?)),
                '(' => self.optional(depth, column)?,
                '\\' => {
                    literal.push(self.escaped()?);
                    continue;
                }
                other => {
                    literal.push(other);
                    continue;
                }
            };
            push_literal(&mut nodes, &mut literal);
            nodes.push(node);
        }
        push_literal(&mut nodes, &mut literal);
        Ok(nodes)
    }

    fn optional(&mut self, depth: usize, column: usize) -> Result<Node, String> {
        if depth == MAX_NESTING {
            return Err(format!(
                "optional parts nest deeper than {MAX_NESTING} levels"
            ));
        }
        let nodes = self.sequence(depth + 1)?;
        if self.peek() != Some(')') {
            return Err(format!("the `(` at column {column} is never closed"));
        }
        self.at += 1;
        if nodes.is_empty() {
            return Err(format!("the optional part at column {column} is empty"));
        }
        Ok(Node::Optional(nodes))
    }

    fn name(&mut self, sigil: char, column: usize) -> Result<usize, String> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!(
                "the `{sigil}` at column {column} needs a name after it (write `\\{sigil}` for a literal one)"
            ));
        }
        if self.names.iter().any(|known| known == name) {
            return Err(format!("the name `{name}` occurs twice"));
        }
        if self.names.len() == MAX_PARAMS {
            return Err(format!("it has more than {MAX_PARAMS} parameters"));
        }
        self.names.push(name.to_owned());
        self.at += end;
        Ok(self.names.len() - 1)
    }

    fn escaped(&mut self) -> Result<char, String> {
        let next = self.peek().ok_or("the `\\` at its end escapes nothing")?;
        self.at += next.len_utf8();
        Ok(next)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }
}

fn push_literal(nodes: &mut Vec<Node>, literal: &mut String) {
    if !literal.is_empty() {
        nodes.push(Node::Piece(Piece::Literal(std::mem::take(literal))));
    }
}

/// Appends `nodes` to every alternative, an optional part first present, then absent.
fn unfold(nodes: &[Node], alternatives: &mut Vec<Vec<Piece>>) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Piece(piece) => alternatives
                .iter_mut()
                .for_each(|pieces| append(pieces, piece)),
            Node::Optional(inner) => {
                let mut unfolded = Vec::new();
                for without in alternatives.drain(..) {
                    let mut with = vec![without.clone()];
                    unfold(inner, &mut with)?;
                    unfolded.append(&mut with);
                    unfolded.push(without);
                }
                *alternatives = unfolded;
            }
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(format!(
                "its optional parts unfold to more than {MAX_ALTERNATIVES} patterns"
            ));
        }
    }
    Ok(())
}

fn append(pieces: &mut Vec<Piece>, piece: &Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Literal(text)), Piece::Literal(more)) => text.push_str(more),
        _ => pieces.push(piece.clone()),
    }
}

/// Makes sure that an alternative starts with a slash; one whose optional parts are all absent is the root.
fn root(alternative: &mut Vec<Piece>) -> Result<(), String> {
    match alternative.first() {
        None => alternative.push(Piece::Literal("/".to_owned())),
        Some(Piece::Literal(text)) if text.starts_with('/') => {}
        Some(_) => return Err("it must start with `/`".to_owned()),
    }
    match alternative
        .iter()
        .any(|piece| matches!(piece, Piece::Literal(text) if text.contains('\0')))
    {
        true => Err("it holds a NUL byte".to_owned()),
        false => Ok(()),
    }
}

/// The pieces by segment, without the slashes.
pub(super) fn segments(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut segments = vec![Vec::new()];
    for piece in pieces {
        let Piece::Literal(text) = piece else {
            last(&mut segments).push(piece.clone());
            continue;
        };
        for (position, part) in text.split('/').enumerate() {
            if position > 0 {
                segments.push(Vec::new());
            }
            if !part.is_empty() {
                last(&mut segments).push(Piece::Literal(part.to_owned()));
            }
        }
    }
    // A pattern starts with a slash, so that nothing lies before the first.
    segments.remove(0);
    segments
}

fn last(segments: &mut [Vec<Piece>]) -> &mut Vec<Piece> {
    segments.last_mut().expect("there is always one segment")
}
