//! Counting pods by means of their finalizers, so that none is counted twice or lost (CP-63).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::ending::Ending;
use super::failure_policy::{Action, action_of};
use super::finish::{Finish, finish_of};
use super::indexes::Indexes;
use super::retries::{Waiting, failed_indexes};
use super::spec::{completions, index_of, is_indexed, is_tracked};
use crate::object::Object;

/// How many pods are counted at once.
const MAX_UNCOUNTED: usize = 500;

/// The counts in the status of a Job.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    succeeded: usize,
    failed: usize,
    /// The UIDs of pods that have ended and still have their finalizers.
    uncounted_succeeded: Vec<String>,
    uncounted_failed: Vec<String>,
    completed: Option<Indexes>,
    failed_indexes: Option<Indexes>,
}

/// How far a Job has come, with the pods that are not in its status yet.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    /// The indexes that have succeeded; `None` if the pods have no indexes.
    pub(super) completed: Option<Indexes>,
    /// The indexes that have failed for good; `None` if they have no limits.
    pub(super) failed_indexes: Option<Indexes>,
}

impl Tally {
    /// Reads the status. Pods whose finalizers are gone are counted now.
    pub(super) fn read(job: &Object, pods: &[Arc<Object>]) -> Self {
        let tracked = pods.iter().filter(|pod| is_tracked(pod)).map(|pod| pod.uid());
        let tracked: BTreeSet<&str> = tracked.collect();
        let read = |name: &str| {
            let count = job.int(&format!("/status/{name}")).unwrap_or_default();
            let uids = job.list(&format!("/status/uncountedTerminatedPods/{name}")).iter();
            let uids = uids.filter_map(Value::as_str);
            let (waiting, gone): (Vec<&str>, Vec<&str>) =
                uids.partition(|uid| tracked.contains(uid));
            let count = usize::try_from(count).unwrap_or_default().saturating_add(gone.len());
            (count, waiting.into_iter().map(str::to_owned).collect())
        };
        let (succeeded, uncounted_succeeded) = read("succeeded");
        let (failed, uncounted_failed) = read("failed");
        let completed = is_indexed(job).then(|| {
            let mut completed = Indexes::parse(job.text("/status/completedIndexes"));
            completed.truncate(completions(job).unwrap_or_default());
            completed
        });
        let failed_indexes = failed_indexes(job, pods);
        let succeeded = completed.as_ref().map_or(succeeded, Indexes::count);
        Tally {
            succeeded,
            failed,
            uncounted_succeeded,
            uncounted_failed,
            completed,
            failed_indexes,
        }
    }

    /// Returns how far the Job has come.
    pub(super) fn progress(&self, job: &Object, pods: &[Arc<Object>]) -> Progress {
        let is_new = |pod: &&Arc<Object>| is_tracked(pod) && !self.is_uncounted(pod);
        let new: Vec<_> = pods.iter().filter(is_new).collect();
        let of = |finish| new.iter().filter(move |pod| finish_of(pod, job) == Some(finish));
        let failed = of(Finish::Failed).filter(|pod| action_of(pod, job) != Action::Ignore).count();
        let mut completed = self.completed.clone();
        let succeeded = match &mut completed {
            Some(completed) => {
                completed.extend(of(Finish::Succeeded).filter_map(|pod| index_of(pod, job)));
                completed.count()
            }
            None => self.succeeded + self.uncounted_succeeded.len() + of(Finish::Succeeded).count(),
        };
        Progress {
            succeeded,
            failed: self.failed + self.uncounted_failed.len() + failed,
            completed,
            failed_indexes: self.failed_indexes.clone(),
        }
    }

    /// Takes down the pods that have ended, and when the Job fails all that are left. Returns the pods
    /// whose finalizers are to go.
    pub(super) fn take_down(
        &mut self,
        job: &Object,
        pods: &[Arc<Object>],
        ending: Option<&Ending>,
        waiting: &Waiting,
    ) -> Vec<Arc<Object>> {
        let (mut released, mut completed) = (Vec::new(), Vec::new());
        for pod in pods.iter().filter(|pod| is_tracked(pod)) {
            if self.uncounted() + completed.len() >= MAX_UNCOUNTED {
                break;
            }
            let finish = finish_of(pod, job);
            let is_settled = match finish {
                Some(Finish::Succeeded) => true,
                Some(Finish::Failed) => !waiting.contains(pod, job),
                None => false,
            };
            if !is_settled && ending.is_none() && !job.is_deleting() {
                continue;
            }
            released.push(Arc::clone(pod));
            if self.is_uncounted(pod) {
                continue;
            }
            let index = index_of(pod, job);
            let has_place = index.is_some() || !is_indexed(job);
            let is_lost = finish.is_some() || ending.is_some_and(|ending| !ending.is_success);
            match finish {
                Some(Finish::Succeeded) if is_indexed(job) => completed.extend(index),
                Some(Finish::Succeeded) => self.uncounted_succeeded.push(pod.uid().to_owned()),
                _ if is_lost && has_place && action_of(pod, job) != Action::Ignore => {
                    self.uncounted_failed.push(pod.uid().to_owned());
                }
                _ => {}
            }
        }
        if let Some(indexes) = &mut self.completed {
            indexes.extend(completed);
            self.succeeded = indexes.count();
        }
        released
    }

    /// Returns how many pods wait for their finalizers to go.
    pub(super) fn uncounted(&self) -> usize {
        self.uncounted_succeeded.len() + self.uncounted_failed.len()
    }

    fn is_uncounted(&self, pod: &Object) -> bool {
        let mut uids = self.uncounted_succeeded.iter().chain(&self.uncounted_failed);
        uids.any(|uid| uid == pod.uid())
    }

    /// Puts the counts into a status (CP-67).
    pub(super) fn put(&self, status: &mut Map<String, Value>) {
        let counts = [("succeeded", self.succeeded), ("failed", self.failed)];
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            status.insert(name.to_owned(), count.into());
        }
        let completed = self.completed.as_ref().map(Indexes::to_string);
        if let Some(completed) = completed.filter(|completed| !completed.is_empty()) {
            status.insert("completedIndexes".to_owned(), completed.into());
        }
        if let Some(failed) = &self.failed_indexes {
            status.insert("failedIndexes".to_owned(), failed.to_string().into());
        }
        let mut uncounted = Map::new();
        let lists = [("succeeded", &self.uncounted_succeeded), ("failed", &self.uncounted_failed)];
        for (name, uids) in lists.into_iter().filter(|(_, uids)| !uids.is_empty()) {
            uncounted.insert(name.to_owned(), json!(uids));
        }
        status.insert("uncountedTerminatedPods".to_owned(), uncounted.into());
    }
}
