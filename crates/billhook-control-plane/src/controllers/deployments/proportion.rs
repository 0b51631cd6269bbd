//! Scaling while several sets have pods (CP-36).

use std::cmp::Reverse;
use std::sync::Arc;

use super::Rollout;
use super::sets::{available_of, desired, is_active, most, size_of};
use crate::object::Object;
use crate::plan::Plan;

impl Rollout<'_> {
    /// Scales the sets to what is wanted now, if they are not scaled so already.
    pub(super) fn scale(&self) -> Option<Plan> {
        let mut active: Vec<_> = self.sets.all().filter(|set| is_active(set)).collect();
        active.sort_by_key(|set| set.created());
        let only = match active.as_slice() {
            [] => self.sets.new.as_ref().or(self.sets.old.last()),
            [only] => Some(*only),
            _ => None,
        };
        if let Some(only) = only {
            let replicas = self.sizes.replicas;
            return (size_of(only) != replicas).then(|| self.scale_set(only, replicas));
        }
        if active.is_empty() {
            return None;
        }
        if self.is_saturated() {
            let old = self.sets.old.iter().filter(|set| is_active(set));
            return old.map(|set| self.scale_set(set, 0)).reduce(Plan::and);
        }
        match super::recreates(self.deployment()) {
            true => None,
            false => self.scale_in_proportion(active),
        }
    }

    /// Whether the new set has all that is wanted.
    fn is_saturated(&self) -> bool {
        let replicas = self.sizes.replicas;
        self.sets.new.as_ref().is_some_and(|new| {
            size_of(new) == replicas
                && desired(new) == Some(replicas)
                && available_of(new) == replicas
        })
    }

    /// Spreads the difference over the active sets, which are sorted by age.
    fn scale_in_proportion(&self, mut active: Vec<&Arc<Object>>) -> Option<Plan> {
        let allowed = if self.sizes.replicas > 0 { self.sizes.most } else { 0 };
        let difference = allowed.saturating_sub(active.iter().map(|set| size_of(set)).sum());
        if difference > 0 {
            active.reverse();
        }
        // The biggest first; among equals the newer ones when there will be more, else the older ones.
        active.sort_by_key(|set| Reverse(size_of(set)));
        let mut rest = difference;
        let mut sizes = Vec::new();
        for set in &active {
            let part = self.part_of(set, difference, rest);
            rest -= part;
            sizes.push(size_of(set).saturating_add(part));
        }
        if let Some(first) = sizes.first_mut() {
            *first = first.saturating_add(rest).max(0);
        }
        let is_outdated = |set: &Object| {
            (desired(set), most(set)) != (Some(self.sizes.replicas), Some(self.sizes.most))
        };
        let sets = active.into_iter().zip(sizes);
        let changed = sets.filter(|(set, size)| size_of(set) != *size || is_outdated(set));
        changed.map(|(set, size)| self.scale_set(set, size)).reduce(Plan::and)
    }

    /// Returns the part of a difference that a set gets, of what is left of it.
    fn part_of(&self, set: &Object, difference: i64, rest: i64) -> i64 {
        let size = size_of(set);
        if difference == 0 || rest == 0 {
            return 0;
        }
        let fraction = match self.sizes.replicas {
            0 => -size,
            _ => {
                let of = most(set).filter(|most| *most > 0);
                let of = of.or(self.deployment().int("/status/replicas")).unwrap_or(1).max(1);
                rounded(size.saturating_mul(self.sizes.most), of).saturating_sub(size)
            }
        };
        if difference > 0 { fraction.min(rest) } else { fraction.max(rest) }
    }
}

/// Divides, and rounds to the nearest number, halves up.
fn rounded(number: i64, by: i64) -> i64 {
    number.saturating_mul(2).saturating_add(by).div_euclid(by.saturating_mul(2))
}
