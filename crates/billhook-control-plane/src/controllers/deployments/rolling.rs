//! The arithmetic of rolling updates (CP-32).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Rollout;
use super::sets::{Scaling, available_of, size_of};
use crate::object::Object;
use crate::plan::Plan;

impl Rollout<'_> {
    /// Returns the next step of a rolling update, if there is one.
    pub(super) fn step(&self) -> Option<Plan> {
        self.scale_new().or_else(|| self.scale_old())
    }

    /// How many pods a set with pods is to have, so that they are not too many.
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

    /// Scales old sets down: first by the pods that are not available, then as far as enough stay
    /// available.
    fn scale_old(&self) -> Option<Plan> {
        let new = self.sets.new.as_ref()?;
        let unavailable = size_of(new).saturating_sub(available_of(new));
        let least = self.sizes.least_available;
        let down = self.sets.size().saturating_sub(least).saturating_sub(unavailable);
        if down <= 0 {
            return None;
        }
        let sizes: Vec<i64> = self.sets.old.iter().map(|set| size_of(set)).collect();
        let unhealthy = |set: &Object, size: i64| size.saturating_sub(available_of(set)).max(0);
        let without_unhealthy = self.reduced(&sizes, down, unhealthy);
        let spare = self.sets.available().saturating_sub(least).max(0);
        let reduced = self.reduced(&without_unhealthy, spare, |_, size| size);
        let first = self.scalings(&sizes, &without_unhealthy);
        let second = self.scalings(&without_unhealthy, &reduced);
        (first.len() + second.len() > 0).then(|| scale_twice(first, second))
    }

    /// Returns the sizes of the old sets without a number of pods in all: the oldest spare theirs first.
    fn reduced(
        &self,
        sizes: &[i64],
        mut rest: i64,
        spare: impl Fn(&Object, i64) -> i64,
    ) -> Vec<i64> {
        let reduce = |(set, size): (&Arc<Object>, &i64)| {
            let part = spare(set, *size).min(rest).max(0);
            rest = rest.saturating_sub(part);
            size.saturating_sub(part)
        };
        self.sets.old.iter().zip(sizes).map(reduce).collect()
    }

    /// Returns what scales the old sets whose sizes are to change.
    fn scalings(&self, before: &[i64], after: &[i64]) -> Vec<Scaling> {
        let sets = self.sets.old.iter().zip(before.iter().zip(after));
        let changed = sets.filter(|(_, (before, after))| before != after);
        changed.map(|(set, (before, after))| self.scaling(set, *before, *after)).collect()
    }
}

/// Scales sets, then sets that may be the same ones, which have been written by then.
fn scale_twice(first: Vec<Scaling>, second: Vec<Scaling>) -> Plan {
    let requests = first.iter().map(Scaling::request).collect();
    Plan::nothing().then(requests, move |outcomes| {
        let done = first.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_success());
        let events = done.clone().filter_map(|(scaling, _)| scaling.event.clone());
        let plan = events.fold(Plan::nothing(), Plan::event);
        if let Some(failure) = outcomes.iter().find_map(Plan::of_outcome) {
            return plan.and(failure);
        }
        let written: BTreeMap<_, _> =
            done.map(|(scaling, outcome)| (Arc::clone(&scaling.key), outcome.object())).collect();
        second.into_iter().fold(plan, |plan, mut scaling| {
            if let Some(set) = written.get(&scaling.key) {
                scaling.follow(set);
            }
            plan.and(scaling.plan())
        })
    })
}
