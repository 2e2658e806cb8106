//! Keeps a server that cannot be reached from being hammered: after a failed attempt to connect there is none for a
//! while, and everyone who asks meanwhile is told the cause at once. The while is short, so that a server that is there
//! again is found soon.

use std::time::{Duration, Instant};

use crate::error::DatabaseError;

/// The pause after the first failure; it doubles with each further one.
const FIRST: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1);

/// The pause between attempts to connect.
#[derive(Debug, Default)]
pub(super) struct Gate {
    shut: Option<Shut>,
}

#[derive(Debug)]
struct Shut {
    until: Instant,
    pause: Duration,
    cause: DatabaseError,
}

impl Gate {
    /// An attempt failed. Attempts that began before the last failure count as one with it.
    pub(super) fn failed(&mut self, cause: DatabaseError, now: Instant) {
        let pause = match &self.shut {
            None => FIRST,
            Some(shut) if shut.until > now => shut.pause,
            Some(shut) => (shut.pause * 2).min(LONGEST),
        };
        let until = now + pause;
        self.shut = Some(Shut {
            until,
            pause,
            cause,
        });
    }

    /// An attempt succeeded.
    pub(super) fn open(&mut self) {
        self.shut = None;
    }

    /// Why there is no attempt now, if so.
    pub(super) fn cause(&self, now: Instant) -> Option<&DatabaseError> {
        let shut = self.shut.as_ref()?;
        (shut.until > now).then_some(&shut.cause)
    }

    /// When the next attempt may be made, if one has failed.
    pub(super) fn until(&self) -> Option<Instant> {
        self.shut.as_ref().map(|shut| shut.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DatabaseErrorKind;

    fn refused() -> DatabaseError {
        DatabaseError::new(DatabaseErrorKind::Refused, "nobody listens")
    }

    #[test]
    fn the_pause_doubles_up_to_a_second_and_a_success_ends_it() {
        let mut gate = Gate::default();
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            gate.failed(refused(), now);
            let until = gate.until().expect("it is shut");
            pauses.push((until - now).as_millis());
            assert_eq!(gate.cause(now), Some(&refused()));
            now = until;
            assert_eq!(gate.cause(now), None);
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1000, 1000]);
        gate.open();
        assert_eq!(gate.until(), None);
        gate.failed(refused(), now);
        assert_eq!(gate.until(), Some(now + FIRST));
    }

    #[test]
    fn attempts_that_fail_together_count_once() {
        let mut gate = Gate::default();
        let now = Instant::now();
        for _ in 0..20 {
            gate.failed(refused(), now);
        }
        assert_eq!(gate.until(), Some(now + FIRST));
    }
}
