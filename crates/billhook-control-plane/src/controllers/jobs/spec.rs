//! The spec of Jobs, and the marks of their pods.

use serde_json::Value;

use super::indexes::Index;
use crate::object::Object;

/// The finalizer of pods that are not counted yet (CP-61).
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// The annotation and the label of the index of a pod.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";

const CONTROLLER: &str = "kubernetes.io/job-controller";

/// Returns the condition that says that a Job has ended: `Complete` or `Failed`.
pub(crate) fn end_of(job: &Object) -> Option<&Value> {
    let ended = ["Complete", "Failed"].into_iter().find(|kind| job.is_condition_true(kind))?;
    job.condition(ended)
}

/// Returns whether another controller works on a Job (CP-60).
pub(super) fn is_managed_elsewhere(job: &Object) -> bool {
    !["", CONTROLLER].contains(&job.text("/spec/managedBy"))
}

pub(super) fn is_suspended(job: &Object) -> bool {
    job.get("/spec/suspend").as_bool() == Some(true)
}

pub(super) fn is_indexed(job: &Object) -> bool {
    job.text("/spec/completionMode") == "Indexed"
}

/// Returns how many pods are to succeed; `None` for a work queue, whose pods decide that.
pub(super) fn completions(job: &Object) -> Option<usize> {
    Some(usize::try_from(job.int("/spec/completions")?).unwrap_or_default())
}

pub(super) fn parallelism(job: &Object) -> usize {
    usize::try_from(job.int("/spec/parallelism").unwrap_or(1)).unwrap_or_default()
}

/// Returns how often the pod of one index may fail, if indexes count for themselves.
pub(super) fn limit_per_index(job: &Object) -> Option<i64> {
    job.int("/spec/backoffLimitPerIndex")
}

/// Returns whether pods are only replaced, and counted as failed, when they have come to their end.
pub(super) fn replaces_only_failed(job: &Object) -> bool {
    job.text("/spec/podReplacementPolicy") == "Failed"
        || !job.get("/spec/podFailurePolicy").is_null()
}

/// Returns whether a pod is still to be counted.
pub(super) fn is_tracked(pod: &Object) -> bool {
    pod.list("/metadata/finalizers").iter().any(|finalizer| finalizer == TRACKING)
}

/// Returns the index of a pod, if the Job has it.
pub(super) fn index_of(pod: &Object, job: &Object) -> Option<Index> {
    let index: Index = pod.annotation(INDEX)?.parse().ok()?;
    let end = completions(job)?;
    usize::try_from(index).is_ok_and(|index| index < end).then_some(index)
}
