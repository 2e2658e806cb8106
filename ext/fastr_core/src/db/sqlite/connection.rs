//! One SQLite connection as its thread owns it: opened, set up, and stoppable from outside.
//!
//! Stopping goes through a [`Watch`] that names the operation the connection works on *now*. SQLite asks it every few
//! microseconds of work and every few milliseconds of waiting for a lock, so a stop can never hit the next operation.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::error::from_sqlite;
use super::job::Ticket;
use super::location::{Location, Mode};
use super::planning::Planning;
use super::state::Lane;
use crate::db::pool::DatabaseOptions;
use crate::db::standstill;
use crate::error::{DatabaseError, DatabaseErrorKind, Error};
use crate::sync::lock;

/// Virtual machine steps between two looks at the watch: some ten microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// The longest nap while another process holds the lock.
const LONGEST_NAP: Duration = Duration::from_millis(20);

/// Why an operation has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Someone asked for it.
    Cancelled,
    /// It ran longer than this.
    TimedOut(Duration),
}

#[derive(Debug)]
struct Current {
    ticket: Arc<Ticket>,
    deadline: Option<Instant>,
}

/// The operation a connection works on, as SQLite's callbacks see it.
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<Option<Current>>);

impl Watch {
    /// The connection begins to work on this.
    pub(super) fn begin(&self, ticket: &Arc<Ticket>) {
        let deadline = ticket.timeout.and_then(crate::sync::deadline);
        *lock(&self.0) = Some(Current {
            ticket: Arc::clone(ticket),
            deadline,
        });
    }

    /// The connection works on nothing that can be stopped.
    pub(super) fn end(&self) {
        *lock(&self.0) = None;
    }

    /// Whether, and why, the current operation has to stop.
    pub(super) fn stop(&self) -> Option<Stop> {
        let current = lock(&self.0);
        let current = current.as_ref()?;
        if current.ticket.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        let late = current.deadline.is_some_and(|at| Instant::now() >= at);
        late.then(|| Stop::TimedOut(current.ticket.timeout.unwrap_or_default()))
    }
}

/// Opens and sets up a connection for a lane.
pub(super) fn open(
    location: &Location,
    options: &DatabaseOptions,
    lane: Lane,
    watch: &Arc<Watch>,
) -> Result<(Connection, Planning), Error> {
    prepare(location, options, lane, watch).map_err(|error| explain(location, &error))
}

fn prepare(
    location: &Location,
    options: &DatabaseOptions,
    lane: Lane,
    watch: &Arc<Watch>,
) -> rusqlite::Result<(Connection, Planning)> {
    let mut connection = Connection::open_with_flags(location.path(), location.flags())?;
    let seen = Arc::clone(watch);
    let look = move || {
        standstill::step_aside();
        seen.stop().is_some()
    };
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(look))?;
    connection.busy_handler(Some(patience(options.busy_timeout, Arc::clone(watch))))?;
    let planning = Planning::new(&connection)?;
    connection.set_prepared_statement_cache_capacity(options.statement_cache);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    write_ahead(&connection, location, options.busy_timeout, watch)?;
    if lane == Lane::Read {
        connection.pragma_update(None, "query_only", true)?;
    }
    Ok((connection, planning))
}

/// How a connection waits for a lock of another process: short naps that grow, until the limit or a stop.
fn patience(limit: Duration, watch: Arc<Watch>) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        if since.elapsed() >= limit || watch.stop().is_some() {
            return false;
        }
        let grown = Duration::from_millis(1 + u64::from(attempt.unsigned_abs()));
        standstill::outside(|| thread::sleep(grown.min(LONGEST_NAP)));
        true
    }
}

/// Turns the write-ahead log on where the file can be written. SQLite does not ask the busy handler here, so two
/// connections that meet at a new file are kept apart by hand.
fn write_ahead(
    connection: &Connection,
    location: &Location,
    patience: Duration,
    watch: &Watch,
) -> rusqlite::Result<()> {
    let read_only = matches!(
        location,
        Location::File {
            mode: Mode::ReadOnly,
            ..
        }
    );
    if location.is_memory() || read_only || connection.is_readonly("main")? {
        // Reads the header, so that a file that is no database is found out here.
        return connection.query_row("PRAGMA schema_version", [], |_| Ok(()));
    }
    let since = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error)
                if is_busy(&error) && since.elapsed() < patience && watch.stop().is_none() =>
            {
                standstill::outside(|| thread::sleep(LONGEST_NAP / 4));
            }
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn explain(location: &Location, error: &rusqlite::Error) -> Error {
    let said = from_sqlite(error, "");
    let kind = match said.kind {
        kind @ (DatabaseErrorKind::Busy | DatabaseErrorKind::Cancelled) => kind,
        _ => DatabaseErrorKind::Connection,
    };
    DatabaseError {
        code: said.code,
        ..DatabaseError::new(kind, location.explain(&said.message))
    }
    .into()
}
