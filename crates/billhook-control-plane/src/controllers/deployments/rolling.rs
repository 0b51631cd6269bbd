//! The arithmetic of rolling updates (CP-32).

use super::Rollout;
use super::sets::{available_of, size_of};
use crate::object::Object;
use crate::plan::Plan;

impl Rollout<'_> {
    /// Returns the next step of a rolling update, if there is one.
    pub(super) fn step(&self) -> Option<Plan> {
        self.scale_new().or_else(|| self.scale_old())
    }

    /// How many pods a set is to have that has some now, so that there are not too many.
    pub(super) fn size_of_new(&self, size: i64) -> i64 {
        if super::recreates(self.deployment()) {
            return self.sizes.replicas;
        }
        let room = self.sizes.most.saturating_sub(self.sets.size()).max(0);
        size.saturating_add(room.min(self.sizes.replicas.saturating_sub(size)))
    }

    fn scale_new(&self) -> Option<Plan> {
        let new = self.sets.new.as_ref()?;
        let size = size_of(new);
        let wanted = match size > self.sizes.replicas {
            true => self.sizes.replicas,
            false => self.size_of_new(size),
        };
        (wanted != size).then(|| self.scale_set(new, wanted))
    }

    /// Scales old sets down: those first that have pods which are not available, then as far as enough
    /// stay available.
    fn scale_old(&self) -> Option<Plan> {
        let new = self.sets.new.as_ref()?;
        let unavailable = size_of(new).saturating_sub(available_of(new));
        let least = self.sizes.least_available;
        let down = self.sets.size().saturating_sub(least).saturating_sub(unavailable);
        if down <= 0 {
            return None;
        }
        let unhealthy = |set: &Object| size_of(set).saturating_sub(available_of(set)).max(0);
        let spare = self.sets.available().saturating_sub(least).max(0);
        self.take_from_old(down, unhealthy).or_else(|| self.take_from_old(spare, size_of))
    }

    /// Scales old sets down by a number in all, the oldest first, each by as much as it can spare.
    fn take_from_old(&self, mut rest: i64, spare: impl Fn(&Object) -> i64) -> Option<Plan> {
        let mut plans = Vec::new();
        for set in &self.sets.old {
            let part = spare(set).min(rest);
            if part > 0 {
                plans.push(self.scale_set(set, size_of(set).saturating_sub(part)));
                rest = rest.saturating_sub(part);
            }
        }
        plans.into_iter().reduce(Plan::and)
    }
}
