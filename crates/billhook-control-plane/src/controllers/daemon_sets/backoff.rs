//! How long a failed pod is left alone before it is deleted (CP-58).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Timestamp;

const FIRST: Duration = Duration::from_secs(1);
const LAST: Duration = Duration::from_secs(900);

/// The deletions of failed pods, by the UIDs of their sets and by nodes.
#[derive(Debug, Default)]
pub(super) struct Backoffs {
    of_nodes: Mutex<BTreeMap<(String, String), Deletions>>,
}

#[derive(Clone, Copy, Debug)]
struct Deletions {
    last: Timestamp,
    delay: Duration,
}

impl Backoffs {
    /// Returns how long a failed pod is left alone. If it is not, it is taken down that it is deleted:
    /// the next one is left alone for twice as long.
    pub(super) fn wait(&self, set: &str, node: &str, now: Timestamp) -> Duration {
        let mut nodes = self.of_nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (set.to_owned(), node.to_owned());
        let known = nodes.get(&key).copied();
        let known = known.filter(|known| now.since(known.last) <= LAST.saturating_mul(2));
        let left = known.map_or(Duration::ZERO, |known| known.last.plus(known.delay).since(now));
        if left.is_zero() {
            let delay = known.map_or(FIRST, |known| known.delay.saturating_mul(2).min(LAST));
            nodes.insert(key, Deletions { last: now, delay });
        }
        left
    }

    /// Forgets a set that is gone.
    pub(super) fn forget(&self, set: &str) {
        let mut nodes = self.of_nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|(of, _), _| of != set);
    }
}
