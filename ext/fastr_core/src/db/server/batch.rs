//! The statements that one connection was given at once: how far they are, who is told what, and which run again. It
//! judges and answers; it talks to no server.
//!
//! What a batch promises is what a statement alone is promised. An answer goes out when it is there, except for those
//! that must not be given before the pool knows what became of the connection. A stop hits whatever runs when it
//! arrives: who comes back stopped although nobody wanted that was rolled back by the server, and runs again, alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::driver::{Failure, Fate};
use super::job::{Job, Task, Ticket};
use super::stopping::{PATIENCE, PAUSE, Ran, Stop};
use super::verdict::{Then, Verdict, judge, stuck, was_stopped};
use crate::db::statement::{Statement, classify};
use crate::error::Error;
use crate::event::{Completer, Outcome};
use crate::sync::{Mutex, lock};

/// A cancelled statement may take this long to end by itself before the server is asked: it is a quick one.
const GRACE: Duration = Duration::from_millis(5);

/// One that runs for longer than this with others behind it shares no connection from now on.
const SLOW: Duration = Duration::from_millis(20);

/// One that runs for longer than this with others behind it is moved out of their way: whoever holds the lock that it
/// waits for may be waiting for one of them.
const OVERDUE: Duration = Duration::from_millis(250);

/// One statement of a batch.
#[derive(Debug)]
struct Member {
    ticket: Arc<Ticket>,
    /// Taken by who answers it.
    job: Option<Job>,
    /// How long it took, if it succeeded.
    took: Option<Duration>,
}

/// An answer and who gets it.
type Answer = (Completer, Result<Outcome, Error>);

/// Everything behind the lock.
#[derive(Debug, Default)]
struct Course {
    members: Vec<Member>,
    /// The first one that was not answered, whose turn it is.
    first: usize,
    /// Since when.
    turn: Option<Instant>,
    /// The limit that the first one passed.
    limit: Option<Duration>,
    /// Whether the first one was found to be slow.
    is_slow: bool,
    /// When the server was asked to stop the first one: at first, and the last time.
    asked: Option<(Instant, Instant)>,
    /// Whether the server was asked to stop anything in this batch.
    has_asked: bool,
    /// What became of the connection.
    fate: Option<Then>,
    /// Answers that wait until the pool knows what became of the connection.
    late: Vec<Answer>,
    /// What runs again.
    again: Vec<Job>,
}

/// What is to be done about a batch that takes its time.
#[derive(Debug)]
pub(super) struct Look {
    /// The statement that turns out to be slow.
    pub(super) slow: Option<Arc<Ticket>>,
    pub(super) then: Step,
}

/// What comes after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait.
    Wait,
    /// Ask the server to stop what runs.
    Stop,
    /// Give the connection up: what was stopped does not end.
    GiveUp,
}

/// How a batch ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) then: Then,
    pub(super) late: Vec<Answer>,
    pub(super) again: Vec<Job>,
}

/// The statements of one connection.
#[derive(Debug, Default)]
pub(super) struct Batch(Mutex<Course>);

impl Batch {
    /// These are on their way to the server.
    pub(super) fn start(&self, jobs: Vec<Job>) {
        let members = jobs.into_iter().map(|job| Member {
            ticket: Arc::clone(&job.ticket),
            job: Some(job),
            took: None,
        });
        *lock(&self.0) = Course {
            members: members.collect(),
            turn: Some(Instant::now()),
            ..Course::default()
        };
    }

    /// One has ended.
    pub(super) fn answered(&self, index: usize, result: Result<Outcome, Failure>) {
        let now = Instant::now();
        let answer = lock(&self.0).answered(index, result, now);
        if let Some((completer, result)) = answer {
            completer.complete(result);
        }
    }

    /// Looks at what takes its time, and tells those who cancelled.
    pub(super) fn look(&self, now: Instant) -> Look {
        let mut course = lock(&self.0);
        let told = course.unwanted();
        let look = course.look(now);
        drop(course);
        for job in told {
            let error = job.ticket.cancelled();
            job.completer.complete(Err(error));
        }
        look
    }

    /// All have ended, or those that did not never will, for this reason.
    pub(super) fn end(&self, unanswered: impl Fn(&Ticket) -> Verdict) -> End {
        lock(&self.0).end(unanswered)
    }

    /// Forgets them, and says what was learned about them.
    pub(super) fn learned(&self, mut learn: impl FnMut(&str, Duration)) {
        let course = std::mem::take(&mut *lock(&self.0));
        for member in course.members {
            if let Some(took) = member.took {
                learn(&member.ticket.query.sql, took);
            }
        }
    }

    /// Forgets them; the reactor took the connection away.
    pub(super) fn abandon(&mut self, error: impl Fn(&str) -> Error) {
        let course = std::mem::take(&mut *lock(&self.0));
        let open = course.members.into_iter().filter_map(|member| member.job);
        for job in open.chain(course.again) {
            job.completer.complete(Err(error(&job.ticket.query.sql)));
        }
        for (completer, result) in course.late {
            completer.complete(result);
        }
    }
}

impl Course {
    fn answered(
        &mut self,
        index: usize,
        result: Result<Outcome, Failure>,
        now: Instant,
    ) -> Option<Answer> {
        let took = self.turn.map(|turn| now.saturating_duration_since(turn));
        let limit = self.advance(index, now);
        let is_last = index + 1 == self.members.len();
        let member = &mut self.members[index];
        member.took = took.filter(|_| result.is_ok());
        let ticket = Arc::clone(&member.ticket);
        let job = member.job.take();
        let stop = wish(&ticket, limit);
        if self.has_asked && stop.is_none() && was_struck(&result) {
            self.again.extend(job);
            return None;
        }
        let ran = Ran {
            result: Some(result),
            stop,
        };
        let Verdict { result, then } = judge(&ticket, &Task::Query, ran, true);
        if then == Then::Repeat {
            self.fate = Some(Then::Lost);
            self.again.extend(job);
            return None;
        }
        if then != Then::GoOn {
            self.fate = Some(then);
        }
        let answer = (job?.completer, result);
        if is_last || self.fate.is_some() {
            self.late.push(answer);
            return None;
        }
        Some(answer)
    }

    /// It is the next one's turn. The limit that the one before had passed.
    fn advance(&mut self, index: usize, now: Instant) -> Option<Duration> {
        self.first = index + 1;
        self.turn = Some(now);
        self.is_slow = false;
        self.asked = None;
        self.limit.take()
    }

    /// Reads that were cancelled: nobody waits for their turn. What a write did is told once it is known.
    fn unwanted(&mut self) -> Vec<Job> {
        let open = self.members.iter_mut().skip(self.first);
        let reads = open.filter(|member| {
            let ticket = &member.ticket;
            ticket.is_cancelled() && classify(&ticket.query.sql) == Statement::Read
        });
        reads.filter_map(|member| member.job.take()).collect()
    }

    fn look(&mut self, now: Instant) -> Look {
        let nothing = Look {
            slow: None,
            then: Step::Wait,
        };
        let (Some(member), Some(turn)) = (self.members.get(self.first), self.turn) else {
            return nothing;
        };
        let ticket = Arc::clone(&member.ticket);
        let age = now.saturating_duration_since(turn);
        let behind = self.members.get(self.first + 1..).unwrap_or_default();
        let keeps_others = behind.iter().any(|other| !other.ticket.is_cancelled());
        self.limit = ticket.timeout.filter(|limit| age >= *limit);
        let is_unwanted = ticket.is_cancelled() && age >= GRACE && !keeps_others;
        let is_overdue = age >= OVERDUE && (keeps_others || ticket.is_cancelled());
        let is_slow = age >= SLOW && !behind.is_empty() && !self.is_slow;
        self.is_slow |= is_slow;
        let has_wish = wish(&ticket, self.limit).is_some();
        let then = if is_unwanted || is_overdue || self.limit.is_some() {
            self.ask(now, has_wish)
        } else {
            Step::Wait
        };
        Look {
            slow: is_slow.then_some(ticket),
            then,
        }
    }

    /// Whether the server is to be asked, again. Only who wants a statement to end gives the connection up for it.
    fn ask(&mut self, now: Instant, has_wish: bool) -> Step {
        let (since, last) = match self.asked {
            None => (now, None),
            Some((since, last)) => (since, Some(last)),
        };
        if has_wish && now.saturating_duration_since(since) >= PATIENCE {
            return Step::GiveUp;
        }
        if last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            return Step::Wait;
        }
        self.asked = Some((since, now));
        self.has_asked = true;
        Step::Stop
    }

    fn end(&mut self, unanswered: impl Fn(&Ticket) -> Verdict) -> End {
        let mut late = std::mem::take(&mut self.late);
        let (first, limit) = (self.first, self.limit);
        for (index, member) in self.members.iter_mut().enumerate().skip(first) {
            let stop = wish(&member.ticket, limit.filter(|_| index == first));
            let verdict = match stop {
                Some(_) if index == first && self.has_asked => stuck(&member.ticket, stop),
                _ => unanswered(&member.ticket),
            };
            self.fate = Some(Then::ThrowAway);
            late.extend(member.job.take().map(|job| (job.completer, verdict.result)));
        }
        End {
            then: self.fate.unwrap_or(Then::GoOn),
            late,
            again: std::mem::take(&mut self.again),
        }
    }
}

/// Why somebody wants a statement to end, if so.
fn wish(ticket: &Ticket, limit: Option<Duration>) -> Option<Stop> {
    if ticket.is_cancelled() {
        return Some(Stop::Cancelled);
    }
    limit.map(Stop::TimedOut)
}

/// Whether a statement was stopped by the server, which undid it.
fn was_struck(result: &Result<Outcome, Failure>) -> bool {
    let failure = result.as_ref().err();
    failure.is_some_and(|failure| failure.fate == Fate::Usable && was_stopped(&failure.error))
}
