//! The arithmetic of rolling updates (CP-32).

use super::Rollout;
use super::sets::{available_of, size_of};
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

    /// Scales old sets down: first by what is not available, then as far as enough stay available.
    fn scale_old(&self) -> Option<Plan> {
        let new = self.sets.new.as_ref()?;
        let unavailable = size_of(new).saturating_sub(available_of(new));
        let least = self.sizes.least_available;
        let mut down = self.sets.size().saturating_sub(least).saturating_sub(unavailable);
        if down <= 0 {
            return None;
        }
        let mut sizes: Vec<i64> = self.sets.old.iter().map(|set| size_of(set)).collect();
        for (size, set) in sizes.iter_mut().zip(&self.sets.old) {
            let unhealthy = size.saturating_sub(available_of(set)).clamp(0, down.max(0));
            *size -= unhealthy;
            down -= unhealthy;
        }
        let mut rest = self.sets.available().saturating_sub(least).max(0);
        for size in &mut sizes {
            let part = rest.min(*size);
            *size -= part;
            rest -= part;
        }
        let scaled = self.sets.old.iter().zip(sizes).filter(|(set, size)| size_of(set) != *size);
        scaled.map(|(set, size)| self.scale_set(set, size)).reduce(Plan::and)
    }
}
