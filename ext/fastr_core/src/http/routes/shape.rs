//! Which paths an alternative can match at all: what the index sorts alternatives by.

use super::constraint::Constraint;
use super::pattern::{Piece, segments};

/// The segments of an alternative, `None` where one may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) segments: Vec<Option<String>>,
    /// More segments may follow.
    pub(super) is_open: bool,
}

impl Shape {
    pub(super) fn new(pieces: &[Piece], constraints: &[Option<Constraint>]) -> Self {
        let mut shape = Shape {
            segments: Vec::new(),
            is_open: false,
        };
        for segment in segments(pieces) {
            shape.is_open = segment.iter().any(|piece| match piece {
                Piece::Literal(_) => false,
                Piece::Param(param) => constraints[*param]
                    .as_ref()
                    .is_some_and(Constraint::may_cross_segments),
                Piece::Splat(_) => true,
            });
            if shape.is_open {
                break;
            }
            shape.segments.push(match segment.as_slice() {
                [] => Some(String::new()),
                [Piece::Literal(text)] => Some(text.clone()),
                _ => None,
            });
        }
        shape
    }

    /// Whether one path may fit both shapes. A false yes costs speed, a false no would cost a route.
    pub(super) fn meets(&self, other: &Shape) -> bool {
        let (own, others) = (self.segments.len(), other.segments.len());
        let lengths_fit =
            own == others || (self.is_open && own < others) || (other.is_open && others < own);
        let agree = |pair: (&Option<String>, &Option<String>)| match pair {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        lengths_fit && self.segments.iter().zip(&other.segments).all(agree)
    }
}
