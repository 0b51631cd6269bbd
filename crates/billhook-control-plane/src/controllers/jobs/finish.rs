//! How pods of Jobs end, and when.

use serde_json::Value;

use super::spec::replaces_only_failed;
use crate::clock::Timestamp;
use crate::object::Object;

/// How a pod has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Succeeded,
    Failed,
}

/// Returns how a pod has ended, if it has (CP-63): one that is being deleted has failed, unless only
/// those are replaced that have come to their end.
pub(super) fn finish_of(pod: &Object, job: &Object) -> Option<Finish> {
    match pod.text("/status/phase") {
        "Succeeded" => Some(Finish::Succeeded),
        "Failed" => Some(Finish::Failed),
        _ if pod.is_deleting() && !replaces_only_failed(job) => Some(Finish::Failed),
        _ => None,
    }
}

pub(super) fn has_failed(pod: &Object, job: &Object) -> bool {
    finish_of(pod, job) == Some(Finish::Failed)
}

/// Returns when a pod has ended (CP-62): as its containers say, or its readiness, or its deletion.
pub(super) fn finish_time(pod: &Object) -> Option<Timestamp> {
    containers_finished(pod).or_else(|| unready_since(pod)).or_else(|| deleted_at(pod))
}

/// Returns when the last container ended, if all have.
fn containers_finished(pod: &Object) -> Option<Timestamp> {
    let finished = |status: &Value| {
        Timestamp::parse(status.pointer("/state/terminated/finishedAt")?.as_str()?)
    };
    let times = pod.list("/status/containerStatuses").iter().map(finished);
    times.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn unready_since(pod: &Object) -> Option<Timestamp> {
    let ready =
        pod.condition("Ready").filter(|it| it.get("status").is_some_and(|it| it == "False"));
    Timestamp::parse(ready?.get("lastTransitionTime")?.as_str()?)
}

/// Returns when the deletion began: `deletionTimestamp` is when it is to be over.
fn deleted_at(pod: &Object) -> Option<Timestamp> {
    let grace = pod.int("/metadata/deletionGracePeriodSeconds").unwrap_or_default();
    let grace = std::time::Duration::from_secs(u64::try_from(grace).unwrap_or_default());
    let over = pod.time("/metadata/deletionTimestamp")?;
    Some(Timestamp::from_unix(over.to_unix().saturating_sub(grace)))
}
