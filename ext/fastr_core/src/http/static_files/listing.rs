//! The names at the top of the root, so that requests which are no static file cost nothing.

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::beneath::Root;

/// A folder with more names than this is not listed; then every name may be in it.
const MAX_NAMES: usize = 10_000;
/// A folder changed more recently may change again within one tick of the file system's clock.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// A view of the root, renewed when it is older than `fresh_for`.
#[derive(Debug)]
pub(super) struct Listing {
    path: PathBuf,
    fresh_for: Duration,
    current: Mutex<Arc<Snapshot>>,
    /// Held by the one that renews; the others that find the view old wait for it.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Snapshot {
    /// None while there is no such folder.
    root: Option<Arc<Root>>,
    /// None when there are too many.
    names: Option<HashSet<Vec<u8>>>,
    stamp: Option<Stamp>,
    checked: Option<Instant>,
}

/// What changes when a folder changes or is exchanged; none while it may change unseen.
type Stamp = (u64, u64, i64, i64);

impl Listing {
    pub(super) fn new(path: PathBuf, fresh_for: Duration) -> Self {
        Listing {
            path,
            fresh_for,
            current: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        }
    }

    /// The root, if it may hold this name.
    pub(super) async fn root_of(&self, name: &str) -> Option<Arc<Root>> {
        let mut snapshot = self.current();
        if !self.is_fresh(&snapshot) {
            snapshot = self.renewed().await;
        }
        let first = name.split('/').next().unwrap_or_default();
        let may_exist = snapshot
            .names
            .as_ref()
            .is_none_or(|names| names.contains(first.as_bytes()));
        snapshot.root.clone().filter(|_| may_exist)
    }

    /// Whether it is known that there is no such name at the top of the root.
    pub(super) fn lacks(&self, name: &str) -> bool {
        let snapshot = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let names = snapshot.names.as_ref();
        names.is_some_and(|names| !names.contains(name.as_bytes())) && self.is_fresh(&snapshot)
    }

    async fn renewed(&self) -> Arc<Snapshot> {
        let _only_one = self.renewing.lock().await;
        let known = self.current();
        if self.is_fresh(&known) {
            return known;
        }
        let path = self.path.clone();
        let reading = tokio::task::spawn_blocking(move || Arc::new(Snapshot::read(&path, &known)));
        let snapshot = reading.await.unwrap_or_default();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot);
        snapshot
    }

    fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_fresh(&self, snapshot: &Snapshot) -> bool {
        snapshot
            .checked
            .is_some_and(|checked| checked.elapsed() < self.fresh_for)
    }
}

impl Snapshot {
    fn read(path: &Path, known: &Snapshot) -> Self {
        let checked = Some(Instant::now());
        let stamp = stamp(path);
        if stamp.is_some() && stamp == known.stamp {
            return Snapshot {
                root: known.root.clone(),
                names: known.names.clone(),
                stamp,
                checked,
            };
        }
        let Ok(root) = Root::open(path) else {
            return Snapshot {
                names: Some(HashSet::new()),
                checked,
                ..Snapshot::default()
            };
        };
        let names = names(path).unwrap_or_default();
        Snapshot {
            root: Some(Arc::new(root)),
            names,
            stamp,
            checked,
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    let age = SystemTime::now()
        .duration_since(metadata.modified().ok()?)
        .ok()?;
    (age > SETTLED_AFTER).then(|| {
        (
            metadata.dev(),
            metadata.ino(),
            metadata.mtime(),
            metadata.mtime_nsec(),
        )
    })
}

fn names(path: &Path) -> io::Result<Option<HashSet<Vec<u8>>>> {
    let mut names = HashSet::new();
    for entry in path.read_dir()? {
        if names.len() == MAX_NAMES {
            return Ok(None);
        }
        names.insert(entry?.file_name().into_vec());
    }
    Ok(Some(names))
}
