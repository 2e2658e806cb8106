//! By which secrets the sessions of one server are stopped. A session is named by its process; the secret that belongs
//! to it is known here as long as it lives.

use std::collections::HashMap;
use std::sync::Arc;

use super::wire::Secret;
use crate::db::server::driver::SessionKey;
use crate::sync::{Mutex, lock};

/// The secrets of all sessions.
#[derive(Debug, Default)]
pub(super) struct Keys(Mutex<HashMap<u32, Secret>>);

impl Keys {
    /// The secret of a session, as long as there is one.
    pub(super) fn find(&self, key: SessionKey) -> Option<Secret> {
        let process = u32::try_from(key.0).ok()?;
        lock(&self.0).get(&process).copied()
    }
}

/// The entry of one session.
#[derive(Debug)]
pub(super) struct Key {
    keys: Arc<Keys>,
    secret: Secret,
}

impl Key {
    pub(super) fn new(keys: &Arc<Keys>, secret: Secret) -> Self {
        let keys = Arc::clone(keys);
        lock(&keys.0).insert(secret.process, secret);
        Self { keys, secret }
    }

    pub(super) fn secret(&self) -> Secret {
        self.secret
    }

    pub(super) fn name(&self) -> SessionKey {
        SessionKey(self.secret.process.into())
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let mut keys = lock(&self.keys.0);
        // A process that ended may have given its number to the next session before this one was forgotten.
        if keys.get(&self.secret.process) == Some(&self.secret) {
            keys.remove(&self.secret.process);
        }
    }
}
