//! Which keys are worked on next, and which later (CP-02).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::controller::{Controller, Key};

/// A key of a controller, by its place among the controllers.
pub(crate) type Item = (usize, Key);

/// The delay of the first failure, which doubles with each one.
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// How many failures of a controller are tried again at once, and the time for each one more.
const BURST: u32 = 100;
const REFILL: Duration = Duration::from_millis(100);

/// The keys that wait. Rounds follow each other: a key that is added while a round is worked on is
/// of the next one, so that no controller runs ahead of the others.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    round: BTreeSet<Item>,
    next: BTreeSet<Item>,
    timers: BTreeSet<(Timestamp, Item)>,
    due: BTreeMap<Item, Timestamp>,
    failures: BTreeMap<Item, u32>,
    /// When the failures of a controller that were tried again at once are forgotten.
    retries: BTreeMap<usize, Timestamp>,
}

impl Queue {
    /// Adds a key, unless it waits already.
    pub(crate) fn add(&mut self, item: Item) {
        if !self.round.contains(&item) {
            self.next.insert(item);
        }
    }

    /// Adds a key when a time comes, unless it has an earlier one.
    pub(crate) fn add_at(&mut self, item: Item, at: Timestamp) {
        if self.due.get(&item).is_none_or(|due| at < *due) {
            self.set_timer(item, at);
        }
    }

    /// Returns the next key.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        if self.round.is_empty() {
            std::mem::swap(&mut self.round, &mut self.next);
        }
        let item = self.round.pop_first()?;
        self.stop_timer(&item);
        Some(item)
    }

    /// Sets the time at which a key is worked on again, in the place of another one.
    pub(crate) fn set_timer(&mut self, item: Item, at: Timestamp) {
        self.stop_timer(&item);
        self.timers.insert((at, item.clone()));
        self.due.insert(item, at);
    }

    fn stop_timer(&mut self, item: &Item) {
        if let Some(at) = self.due.remove(item) {
            self.timers.remove(&(at, item.clone()));
        }
    }

    /// Adds the keys whose times have come.
    pub(crate) fn wake(&mut self, now: Timestamp) {
        while let Some((_, item)) = self.timers.first().filter(|(at, _)| *at <= now).cloned() {
            self.stop_timer(&item);
            self.add(item);
        }
    }

    /// Returns the time of the next timer.
    pub(crate) fn next_timer(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Says that a key was worked on without a failure.
    pub(crate) fn succeed(&mut self, item: &Item) {
        self.failures.remove(item);
    }

    /// Says that a key failed. It is worked on again after a delay, unless it has failed too often.
    pub(crate) fn fail(&mut self, item: Item, controller: &dyn Controller, now: Timestamp) {
        let failures = self.failures.entry(item.clone()).or_default();
        let count = *failures;
        *failures = count.saturating_add(1);
        if controller.max_tries().is_some_and(|max| count >= max) {
            self.failures.remove(&item);
            return;
        }
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(count));
        let delay = delay.min(controller.longest_backoff());
        let at = now.plus(delay.max(self.rate_delay(item.0, now)));
        self.set_timer(item, at);
    }

    /// Returns how long a failure of a controller waits for those before it.
    fn rate_delay(&mut self, controller: usize, now: Timestamp) -> Duration {
        let full = self.retries.entry(controller).or_insert(now);
        *full = (*full).max(now).plus(REFILL);
        full.since(now).saturating_sub(REFILL.saturating_mul(BURST))
    }
}
