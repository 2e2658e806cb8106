//! One alternative of a pattern, compiled to something that can be run over a decoded path.
//!
//! Most alternatives become a few steps over the segments. Those that backtrack (several constrained parameters in
//! one segment, parameters that span segments) become one linear-time regular expression over the whole path.

use memchr::{memchr, memmem};
use regex::Regex;

use super::captures::{NO_SPANS, Span, Spans};
use super::constraint::{Constraint, plain};
use super::path::ENCODED_SLASH;
use super::pattern::{Piece, segments};

/// One step over the path, from where the previous one ended.
#[derive(Debug)]
enum Step {
    /// This text is next. It may span segments.
    Literal(Box<str>),
    /// The rest of the segment is a value and this suffix.
    Param { param: usize, suffix: Box<str> },
    /// The rest of the segment is a value, the last occurrence of the separator, a value and this suffix.
    Pair {
        params: [usize; 2],
        separator: Box<str>,
        suffix: Box<str>,
    },
    /// The rest of the path is a value.
    Tail { param: usize },
}

#[derive(Debug)]
enum Program {
    Steps(Vec<Step>),
    /// A regular expression, and which of its groups is which parameter.
    Whole(Regex, Vec<(usize, usize)>),
}

/// A compiled alternative.
#[derive(Debug)]
pub(super) struct Matcher {
    program: Program,
    constraints: Vec<(usize, Constraint)>,
}

impl Matcher {
    /// Compiles an alternative. `constraints` belongs to the parameters by number.
    pub(super) fn new(
        pieces: &[Piece],
        constraints: &[Option<Constraint>],
    ) -> Result<Self, String> {
        let program = match steps(pieces, constraints) {
            Some(steps) => Program::Steps(steps),
            None => whole(pieces, constraints)?,
        };
        let used = pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Param(param) | Piece::Splat(param) => Some(*param),
        });
        let checked = used.filter_map(|param| Some((param, constraints[param].clone()?)));
        Ok(Matcher {
            program,
            constraints: checked
                .filter(|(_, constraint)| !constraint.is_free())
                .collect(),
        })
    }

    /// Runs over a decoded path that starts with a slash and fills in the spans of its parameters.
    pub(super) fn matches(&self, path: &str, spans: &mut Spans) -> bool {
        *spans = NO_SPANS;
        let fits = match &self.program {
            Program::Steps(steps) => run(steps, path, spans),
            Program::Whole(regex, groups) => search(regex, groups, path, spans),
        };
        fits && self.constraints.iter().all(|(param, constraint)| {
            let value = spans[*param].of(path);
            match memchr(ENCODED_SLASH as u8, value.as_bytes()) {
                None => constraint.accepts(value),
                // An encoded slash is no slash to a constraint that asks for one, nor anything else to one that refuses it.
                Some(_) => {
                    constraint.accepts(value)
                        && constraint.accepts(&value.replace(ENCODED_SLASH, "/"))
                }
            }
        })
    }
}

fn run(steps: &[Step], path: &str, spans: &mut Spans) -> bool {
    let mut at = 0;
    for step in steps {
        let rest = &path[at..];
        at = match step {
            Step::Literal(text) if rest.starts_with(&**text) => at + text.len(),
            Step::Literal(_) => return false,
            Step::Tail { param } => {
                if rest.is_empty() {
                    return false;
                }
                spans[*param] = Span::new(at, path.len());
                path.len()
            }
            Step::Param { param, suffix } => {
                let end = at + segment(rest).len();
                let Some(value) = path[at..end]
                    .strip_suffix(&**suffix)
                    .filter(|value| !value.is_empty())
                else {
                    return false;
                };
                spans[*param] = Span::new(at, at + value.len());
                end
            }
            Step::Pair {
                params,
                separator,
                suffix,
            } => {
                let Some([first, second]) = split(segment(rest), separator, suffix) else {
                    return false;
                };
                spans[params[0]] = Span::new(at, at + first);
                let start = at + first + separator.len();
                spans[params[1]] = Span::new(start, start + second);
                start + second + suffix.len()
            }
        };
    }
    at == path.len()
}

fn segment(rest: &str) -> &str {
    &rest[..memchr(b'/', rest.as_bytes()).unwrap_or(rest.len())]
}

/// The lengths of the two values around the last separator that leaves neither empty, as a greedy expression splits.
fn split(segment: &str, separator: &str, suffix: &str) -> Option<[usize; 2]> {
    let values = segment.strip_suffix(suffix)?;
    let last = values.chars().next_back()?.len_utf8();
    let head = &values.as_bytes()[..values.len() - last];
    let at = memmem::rfind(head, separator.as_bytes()).filter(|at| *at > 0)?;
    Some([at, values.len() - at - separator.len()])
}

fn search(regex: &Regex, groups: &[(usize, usize)], path: &str, spans: &mut Spans) -> bool {
    let Some(found) = regex.captures(path) else {
        return false;
    };
    groups.iter().all(|(group, param)| match found.get(*group) {
        Some(value) if !value.is_empty() => {
            spans[*param] = Span::new(value.start(), value.end());
            true
        }
        _ => false,
    })
}

/// The alternative as steps, if it never needs to backtrack.
fn steps(pieces: &[Piece], constraints: &[Option<Constraint>]) -> Option<Vec<Step>> {
    let segments = segments(pieces);
    let mut steps = Vec::new();
    let mut literal = String::new();
    for (position, segment) in segments.iter().enumerate() {
        let is_last = position + 1 == segments.len();
        let (prefix, step) = step(segment, is_last, constraints)?;
        literal.push('/');
        literal.push_str(&prefix);
        if let Some(step) = step {
            steps.push(Step::Literal(std::mem::take(&mut literal).into()));
            steps.push(step);
        }
    }
    if !literal.is_empty() {
        steps.push(Step::Literal(literal.into()));
    }
    Some(steps)
}

/// One segment as the text it starts with and the step that does the rest.
fn step(
    segment: &[Piece],
    is_last: bool,
    constraints: &[Option<Constraint>],
) -> Option<(String, Option<Step>)> {
    let (prefix, body) = match segment {
        [Piece::Literal(text), body @ ..] => (text.clone(), body),
        body => (String::new(), body),
    };
    let (body, suffix) = match body {
        [body @ .., Piece::Literal(text)] => (body, text.as_str().into()),
        body => (body, "".into()),
    };
    let crosses = |param: usize| {
        constraints[param]
            .as_ref()
            .is_some_and(Constraint::may_cross_segments)
    };
    let is_free = |param: usize| constraints[param].as_ref().is_none_or(Constraint::is_free);
    let step = match *body {
        [] => None,
        [Piece::Param(param)] if !crosses(param) => Some(Step::Param { param, suffix }),
        [
            Piece::Param(first),
            Piece::Literal(ref separator),
            Piece::Param(second),
        ] if is_free(first) && is_free(second) => Some(Step::Pair {
            params: [first, second],
            separator: separator.as_str().into(),
            suffix,
        }),
        [Piece::Splat(param)] if is_last && suffix.is_empty() => Some(Step::Tail { param }),
        _ => return None,
    };
    Some((prefix, step))
}

/// The alternative as one expression over the whole path.
fn whole(pieces: &[Piece], constraints: &[Option<Constraint>]) -> Result<Program, String> {
    let mut source = String::from(r"\A");
    for piece in pieces {
        let (param, free) = match piece {
            Piece::Literal(text) => {
                source.push_str(&regex::escape(text));
                continue;
            }
            Piece::Param(param) => (*param, "[^/]+"),
            Piece::Splat(param) => (*param, "(?s:.+)"),
        };
        let class = constraints[param].as_ref().map_or(free, Constraint::source);
        source.push_str(&format!("(?P<fastr{param}>{class})"));
    }
    source.push_str(r"\z");
    let regex = Regex::new(&source).map_err(|error| plain(&error))?;
    let groups = regex
        .capture_names()
        .enumerate()
        .filter_map(|(group, name)| Some((group, name?.strip_prefix("fastr")?.parse().ok()?)));
    let groups = groups.collect();
    Ok(Program::Whole(regex, groups))
}
