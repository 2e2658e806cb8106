//! How long the parts of one statement took. A driver fills it in when the query carries one; a query without one costs
//! no clock reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The parts of one statement's time; written by the driver, read once the statement is complete.
#[derive(Debug, Default)]
pub struct Timings {
    queue: AtomicU64,
    database: AtomicU64,
    decode: AtomicU64,
    was_prepared: AtomicBool,
}

impl Timings {
    /// From the submission until a connection was free.
    #[must_use]
    pub fn queue(&self) -> Duration {
        read(&self.queue)
    }

    /// From then until the database's answer was here.
    #[must_use]
    pub fn database(&self) -> Duration {
        read(&self.database)
    }

    /// Making values, or JSON, of the answer.
    #[must_use]
    pub fn decode(&self) -> Duration {
        read(&self.decode)
    }

    /// Whether the connection had prepared the statement before.
    #[must_use]
    pub fn was_prepared(&self) -> bool {
        self.was_prepared.load(Ordering::Relaxed)
    }

    pub(crate) fn set_queue(&self, time: Duration) {
        write(&self.queue, time);
    }

    pub(crate) fn set_database(&self, time: Duration) {
        write(&self.database, time);
    }

    pub(crate) fn set_decode(&self, time: Duration) {
        write(&self.decode, time);
    }

    pub(crate) fn set_prepared(&self, was_prepared: bool) {
        self.was_prepared.store(was_prepared, Ordering::Relaxed);
    }
}

/// Timings of a statement that was submitted at a certain moment.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(crate) timings: Arc<Timings>,
    submitted: Instant,
}

impl Clock {
    /// The statement is being submitted.
    pub(crate) fn start(timings: Arc<Timings>) -> Self {
        let submitted = Instant::now();
        Self { timings, submitted }
    }

    /// It has a connection.
    pub(crate) fn leased(&self) {
        self.timings.set_queue(self.submitted.elapsed());
    }

    /// Runs a statement whose values are read while it runs, so that their time cannot be told from the database's.
    pub(crate) fn measure<T>(clock: Option<&Self>, work: impl FnOnce() -> T) -> T {
        let Some(clock) = clock else {
            return work();
        };
        clock.leased();
        let begin = Instant::now();
        let result = work();
        clock.timings.set_database(begin.elapsed());
        result
    }
}

fn read(nanoseconds: &AtomicU64) -> Duration {
    Duration::from_nanos(nanoseconds.load(Ordering::Relaxed))
}

fn write(nanoseconds: &AtomicU64, time: Duration) {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds.store(time, Ordering::Relaxed);
}
