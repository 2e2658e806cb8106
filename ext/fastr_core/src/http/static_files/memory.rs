//! Small files kept in memory for as long as they are believed, so that a busy file costs no disk work.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::encoding::Accepted;
use super::source::Source;

/// What an entry weighs besides its content.
const OVERHEAD: usize = 512;

/// Small files by name, one map for every set of accepted encodings.
#[derive(Debug)]
pub(super) struct Memory {
    capacity: usize,
    fresh_for: Duration,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: [HashMap<String, (Source, Instant)>; Accepted::SETS],
    weight: usize,
}

impl Memory {
    pub(super) fn new(capacity: usize, fresh_for: Duration) -> Self {
        Memory {
            capacity,
            fresh_for,
            kept: Mutex::default(),
        }
    }

    /// The file, if it was opened a moment ago.
    pub(super) fn get(&self, name: &str, accepted: Accepted) -> Option<Source> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (source, opened) = kept.files[accepted.set()].get(name)?;
        (opened.elapsed() < self.fresh_for).then(|| source.clone())
    }

    /// Keeps a file whose content is in memory anyway. When there is no room, everything goes: it would be read again
    /// within a moment in any case.
    pub(super) fn put(&self, name: String, accepted: Accepted, source: &Source) {
        let Some(length) = source.length_in_memory() else {
            return;
        };
        let weight = length + name.len() + OVERHEAD;
        if weight > self.capacity || self.fresh_for.is_zero() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.weight + weight > self.capacity {
            *kept = Kept::default();
        }
        let name_length = name.len();
        let replaced = kept.files[accepted.set()].insert(name, (source.clone(), Instant::now()));
        let freed = replaced.and_then(|(old, _)| old.length_in_memory());
        kept.weight += weight;
        kept.weight -= freed.map_or(0, |length| length + name_length + OVERHEAD);
    }
}
