//! Objects whose changes are tried in turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// How many changes of an object are tried before it is another one's turn.
pub(crate) const TURN: usize = 24;

/// Objects whose changes are to be tried: first those that cost the least, each for a turn.
pub(crate) struct Queue<T> {
    open: BTreeMap<(usize, usize), Candidate<T>>,
    seen: BTreeSet<Vec<String>>,
    pushed: usize,
}

/// An object whose changes are to be tried.
pub(crate) struct Candidate<T> {
    pub(crate) object: Value,
    /// The knowledge about it that its changes need.
    pub(crate) known: T,
    cost: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { open: BTreeMap::new(), seen: BTreeSet::new(), pushed: 0 }
    }
}

impl<T> Queue<T> {
    /// Adds an object, unless there was one with the same signature.
    pub(crate) fn push(&mut self, object: Value, known: T, cost: usize, signature: Vec<String>) {
        if self.seen.insert(signature) {
            self.add(Candidate { object, known, cost });
        }
    }

    /// Takes an object back after a turn.
    pub(crate) fn give_back(&mut self, candidate: Candidate<T>) {
        self.add(Candidate { cost: candidate.cost + 1, ..candidate });
    }

    fn add(&mut self, candidate: Candidate<T>) {
        self.pushed += 1;
        self.open.insert((candidate.cost, self.pushed), candidate);
    }

    pub(crate) fn pop(&mut self) -> Option<Candidate<T>> {
        self.open.pop_first().map(|(_, candidate)| candidate)
    }
}
