//! Failures of single indexes, where each has a limit of its own (CP-61, CP-62).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::delay;
use super::failure_policy::{Action, action_of};
use super::finish::{finish_time, has_failed};
use super::indexes::{Index, Indexes};
use super::spec::{index_of, is_tracked, limit_per_index};
use crate::clock::Timestamp;
use crate::object::Object;
use crate::pods::is_active;

/// How often an index had failed before a pod was created for it, as the pod says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Failures {
    pub(super) counted: i64,
    pub(super) ignored: i64,
}

impl Failures {
    pub(super) const COUNTED: &str = "batch.kubernetes.io/job-index-failure-count";
    pub(super) const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

    fn before(pod: &Object) -> Self {
        let count = |name| pod.annotation(name).and_then(|it| it.parse().ok()).unwrap_or_default();
        Failures { counted: count(Self::COUNTED), ignored: count(Self::IGNORED) }
    }

    /// Returns the failures with that of a pod.
    pub(super) fn with(pod: &Object, job: &Object) -> Self {
        let mut failures = Failures::before(pod);
        let count = match action_of(pod, job) {
            Action::Ignore => &mut failures.ignored,
            _ => &mut failures.counted,
        };
        *count = count.saturating_add(1);
        failures
    }

    fn sum(self) -> u32 {
        u32::try_from(self.counted.saturating_add(self.ignored)).unwrap_or(u32::MAX)
    }
}

/// Returns the indexes that have failed for good: before, or with one of the pods.
pub(super) fn failed_indexes(job: &Object, pods: &[Arc<Object>]) -> Option<Indexes> {
    let limit = limit_per_index(job)?;
    let mut failed = Indexes::parse(job.text("/status/failedIndexes"));
    let fails = |pod: &Object| match action_of(pod, job) {
        Action::FailIndex => true,
        Action::Ignore => false,
        _ => Failures::before(pod).counted >= limit,
    };
    let pods = pods.iter().filter(|pod| is_tracked(pod) && has_failed(pod, job));
    let indexes = pods.filter(|pod| fails(pod)).filter_map(|pod| index_of(pod, job));
    failed.extend(indexes.collect::<Vec<_>>());
    Some(failed)
}

/// The last failed pods of indexes that wait for another one. These keep their finalizers, because
/// only they tell how often the indexes have failed.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pods: BTreeMap<Index, Arc<Object>>,
}

impl Waiting {
    pub(super) fn of(job: &Object, pods: &[Arc<Object>], over: [&Indexes; 2]) -> Self {
        let active = pods.iter().filter(|pod| is_active(pod)).filter_map(|pod| index_of(pod, job));
        let mut done = Indexes::default();
        done.extend(active);
        let mut waiting = Waiting::default();
        for pod in pods.iter().filter(|pod| is_tracked(pod) && has_failed(pod, job)) {
            let index = index_of(pod, job).filter(|index| !done.contains(*index));
            let index = index.filter(|index| over.iter().all(|over| !over.contains(*index)));
            let Some(index) = index else { continue };
            let place = |pod: &Object| (Failures::before(pod).sum(), finish_time(pod));
            if waiting.pods.get(&index).is_none_or(|known| place(known) <= place(pod)) {
                waiting.pods.insert(index, Arc::clone(pod));
            }
        }
        waiting
    }

    /// Returns the failed pod of an index that waits.
    pub(super) fn get(&self, index: Index) -> Option<&Arc<Object>> {
        self.pods.get(&index)
    }

    /// Returns whether a pod is the last failed one of an index that waits.
    pub(super) fn contains(&self, pod: &Object, job: &Object) -> bool {
        let waiting = index_of(pod, job).and_then(|index| self.get(index));
        waiting.is_some_and(|waiting| waiting.uid() == pod.uid())
    }

    /// Returns how long no pod of an index is created.
    pub(super) fn remaining(&self, index: Index, now: Timestamp) -> Duration {
        let Some(pod) = self.get(index) else { return Duration::ZERO };
        let failures = Failures::before(pod).sum().saturating_add(1);
        let finished = finish_time(pod).unwrap_or(now);
        finished.plus(delay(failures)).since(now)
    }
}
