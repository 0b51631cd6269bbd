//! Whether and how a Job ends (CP-64).

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::ending::Ending;
use super::failure_policy::{Action, action_of};
use super::finish::has_failed;
use super::indexes::Indexes;
use super::spec::{completions, is_suspended};
use super::tally::Progress;
use crate::clock::Timestamp;
use crate::object::Object;
use crate::pods::is_active;

/// Returns the end of a Job, if it has come.
pub(super) fn ending(
    job: &Object,
    pods: &[Arc<Object>],
    progress: &Progress,
    now: Timestamp,
) -> Option<Ending> {
    let said = || [true, false].into_iter().find_map(|it| Ending::of_condition(job, it));
    said()
        .or_else(|| policy_failure(job, pods))
        .or_else(|| too_many_failures(job, pods, progress))
        .or_else(|| too_late(job, now))
        .or_else(|| index_failures(job, progress))
        .or_else(|| policy_success(job, progress))
        .or_else(|| completion(job, pods, progress))
}

fn policy_failure(job: &Object, pods: &[Arc<Object>]) -> Option<Ending> {
    let failed = pods.iter().filter(|pod| has_failed(pod, job));
    let message = failed.map(|pod| action_of(pod, job)).find_map(|action| match action {
        Action::FailJob(message) => Some(message),
        _ => None,
    });
    Some(Ending::failure("PodFailurePolicy", message?))
}

fn too_many_failures(job: &Object, pods: &[Arc<Object>], progress: &Progress) -> Option<Ending> {
    let limit = usize::try_from(job.int("/spec/backoffLimit")?).unwrap_or_default();
    let restarts = match job.text("/spec/template/spec/restartPolicy") {
        "OnFailure" => pods.iter().map(|pod| restarts(pod)).fold(0, usize::saturating_add),
        _ => 0,
    };
    let message = "Job has reached the specified backoff limit";
    let is_reached = progress.failed > limit || (restarts > 0 && restarts >= limit);
    is_reached.then(|| Ending::failure("BackoffLimitExceeded", message))
}

/// Returns how often the containers of a pod that is not done were started again.
fn restarts(pod: &Object) -> usize {
    if !["Pending", "Running"].contains(&pod.text("/status/phase")) {
        return 0;
    }
    let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let statuses = lists.into_iter().flat_map(|pointer| pod.list(pointer));
    let counts = statuses.filter_map(|status| status.get("restartCount")?.as_u64());
    counts.fold(0, |sum, count| sum.saturating_add(usize::try_from(count).unwrap_or_default()))
}

/// Returns how long a Job may still be active, if that is limited.
pub(super) fn time_left(job: &Object, now: Timestamp) -> Option<Duration> {
    let limit = u64::try_from(job.int("/spec/activeDeadlineSeconds")?).unwrap_or_default();
    let started = job.time("/status/startTime").filter(|_| !is_suspended(job))?;
    Some(started.plus(Duration::from_secs(limit)).since(now))
}

fn too_late(job: &Object, now: Timestamp) -> Option<Ending> {
    let message = "Job was active longer than specified deadline";
    time_left(job, now)?.is_zero().then(|| Ending::failure("DeadlineExceeded", message))
}

fn index_failures(job: &Object, progress: &Progress) -> Option<Ending> {
    let failed = progress.failed_indexes.as_ref()?.count();
    let limit = job.int("/spec/maxFailedIndexes").and_then(|limit| usize::try_from(limit).ok());
    if limit.is_some_and(|limit| failed > limit) {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(Ending::failure("MaxFailedIndexesExceeded", message));
    }
    let are_all_done = failed.saturating_add(progress.succeeded) >= completions(job)?;
    (failed > 0 && are_all_done).then(|| Ending::failure("FailedIndexes", "Job has failed indexes"))
}

fn policy_success(job: &Object, progress: &Progress) -> Option<Ending> {
    let completed = progress.completed.as_ref()?;
    let is_met = |rule: &Value| {
        let indexes = rule.get("succeededIndexes").and_then(Value::as_str).map(Indexes::parse);
        let found = indexes.as_ref().map_or(completed.count(), |it| completed.count_common(it));
        let count = rule.get("succeededCount").and_then(Value::as_u64);
        let count = count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        count.or(indexes.map(|it| it.count())).is_some_and(|wanted| found >= wanted)
    };
    let met = job.list("/spec/successPolicy/rules").iter().position(is_met)?;
    Some(Ending::success("SuccessPolicy", format!("Matched rules at index {met}")))
}

fn completion(job: &Object, pods: &[Arc<Object>], progress: &Progress) -> Option<Ending> {
    let is_reached = progress.succeeded >= completions(job).unwrap_or(1);
    let message = "Reached expected number of succeeded pods";
    let is_complete = is_reached && !pods.iter().any(|pod| is_active(pod));
    is_complete.then(|| Ending::success("CompletionsReached", message))
}
