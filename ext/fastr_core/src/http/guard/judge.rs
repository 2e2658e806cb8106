//! The step from one part of the stream to the next: which part the bytes in front belong to, and what to do with it.
//!
//! It moves the guard on, but no bytes: that is left to `pass` and `feed`, which differ only in how they move them.

use super::chunked::{self, Chunked, Taken};
use super::head::{Framing, Progress};
use super::{Guard, Rejection};

/// Where in the stream the guard is.
#[derive(Debug)]
pub(super) enum Place {
    Head,
    Length(u64),
    Chunked(Chunked),
    Tunnel,
    Rejected,
    Broken(Rejection),
}

/// What is to be done with the bytes in front.
#[derive(Debug)]
pub(super) enum Move {
    Wait,
    Pass(usize),
    Drop(usize),
    PassWithoutUnderscores(usize),
    RefuseHead(Rejection),
    RefuseBody(Rejection),
}

impl Guard {
    /// Judges the part that `bytes`, which is not empty, begins with.
    pub(super) fn judge(&mut self, bytes: &[u8]) -> Move {
        match &mut self.place {
            Place::Head => self.judge_head(bytes),
            Place::Length(left) => {
                let (here, left) = chunked::split_length(bytes.len(), *left);
                self.body_bytes += here as u64;
                self.begin_body(Framing::Length(left));
                Move::Pass(here)
            }
            Place::Chunked(_) => self.judge_chunked(bytes),
            Place::Tunnel => Move::Pass(bytes.len()),
            Place::Rejected | Place::Broken(_) => Move::Drop(bytes.len()),
        }
    }

    fn judge_head(&mut self, bytes: &[u8]) -> Move {
        let length = match self.head.read(bytes, &self.limits) {
            Ok(Progress::Complete(length)) => length,
            Ok(Progress::EmptyLine) => return Move::Drop(2),
            Ok(Progress::Partial) => return Move::Wait,
            Err(rejection) => return Move::RefuseHead(rejection),
        };
        let framing = match self.head.framing(&self.limits) {
            Ok(framing) => framing,
            Err(rejection) => return Move::RefuseHead(rejection),
        };
        let head = std::mem::take(&mut self.head);
        self.heads += 1;
        self.wants_upgrade = head.asks_for_upgrade();
        self.begin_body(framing);
        if head.has_underscores && !self.limits.keep_underscores {
            return Move::PassWithoutUnderscores(length);
        }
        Move::Pass(length)
    }

    fn begin_body(&mut self, framing: Framing) {
        self.place = match framing {
            Framing::Length(0) => Place::Head,
            Framing::Length(left) => Place::Length(left),
            Framing::Chunked => Place::Chunked(Chunked::default()),
        };
    }

    fn judge_chunked(&mut self, bytes: &[u8]) -> Move {
        let Place::Chunked(body) = &mut self.place else {
            return Move::Wait;
        };
        match body.read(bytes, &self.limits) {
            Ok(Taken::Partial) => Move::Wait,
            Ok(Taken::Framing(length)) => Move::Pass(length),
            Ok(Taken::Dropped(length)) => Move::Drop(length),
            Ok(Taken::Data(length)) => {
                self.body_bytes += length as u64;
                Move::Pass(length)
            }
            Ok(Taken::End(length)) => {
                self.place = Place::Head;
                Move::Pass(length)
            }
            Err(rejection) => Move::RefuseBody(rejection),
        }
    }
}
