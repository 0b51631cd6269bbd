//! The conditions of Deployments, which have an update time beside their transition time (CP-35).

use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::DEPLOYMENTS;

/// A condition, without its type and its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The deadline that means none.
const NO_DEADLINE: i64 = 2_147_483_647;

/// Returns whether a Deployment has to progress within a time.
pub(super) fn has_deadline(deployment: &Object) -> bool {
    deadline(deployment).is_some()
}

/// Returns the time within which a Deployment has to progress, if there is one.
pub(super) fn deadline(deployment: &Object) -> Option<Duration> {
    let seconds = deployment.int("/spec/progressDeadlineSeconds");
    let seconds = seconds.filter(|seconds| *seconds != NO_DEADLINE)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// Returns the reason of the condition `Progressing`; empty if absent.
pub(super) fn progress_reason(deployment: &Object) -> &str {
    let reason = deployment.condition("Progressing").and_then(|it| it.get("reason")?.as_str());
    reason.unwrap_or_default()
}

/// Sets a condition, at the end of the list. One of the same status and reason stays as it is.
pub(super) fn set_condition(
    conditions: &mut Vec<Value>,
    kind: &str,
    condition: &Progress,
    now: Timestamp,
) {
    let is_of_kind = |it: &Value| it.get("type").and_then(Value::as_str) == Some(kind);
    let known = conditions.iter().find(|it| is_of_kind(it));
    let has = |name: &str, text: &str| {
        known.and_then(|it| it.get(name)).and_then(Value::as_str) == Some(text)
    };
    let keeps_status = has("status", condition.status);
    if keeps_status && has("reason", condition.reason) {
        return;
    }
    let since = known.filter(|_| keeps_status).and_then(|it| it.get("lastTransitionTime")).cloned();
    let now = now.to_rfc3339();
    let set = json!({
        "type": kind, "status": condition.status, "reason": condition.reason,
        "message": condition.message, "lastUpdateTime": now,
        "lastTransitionTime": since.unwrap_or_else(|| now.clone().into()),
    });
    conditions.retain(|it| !is_of_kind(it));
    conditions.push(set);
}

/// Says that a Deployment was paused or resumed, if that is new (CP-37).
pub(super) fn pause(deployment: &Object, now: Timestamp) -> Option<Plan> {
    let is_paused = deployment.get("/spec/paused").as_bool() == Some(true);
    let reason = progress_reason(deployment);
    let known = reason == "DeploymentPaused";
    if !has_deadline(deployment) || reason == "ProgressDeadlineExceeded" || is_paused == known {
        return None;
    }
    let (reason, message) = match is_paused {
        true => ("DeploymentPaused", "Deployment is paused"),
        false => ("DeploymentResumed", "Deployment is resumed"),
    };
    let progress = Progress { status: "Unknown", reason, message: message.to_owned() };
    let mut conditions = deployment.list("/status/conditions").to_vec();
    set_condition(&mut conditions, "Progressing", &progress, now);
    let mut document = deployment.copy();
    set(&mut document, &["status", "conditions"], conditions.into());
    let write = Request::update_in(&DEPLOYMENTS, deployment.key(), "status", &document);
    Some(Plan::nothing().request(write))
}
