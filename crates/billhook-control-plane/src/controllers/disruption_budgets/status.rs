//! The status of a budget.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::conditions::set_condition;
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_ready;
use crate::request::Request;
use crate::resource::DISRUPTION_BUDGETS;

/// How long an evicted pod may take until it is being deleted.
const DELETION: Duration = Duration::from_secs(120);

/// The pods that were evicted and are not being deleted yet.
#[derive(Debug, Default)]
pub(super) struct Disrupted {
    /// When, by name.
    pods: Map<String, Value>,
    /// Those that should have been deleted.
    pub(super) overdue: Vec<Arc<Object>>,
    /// When the next of them should be.
    pub(super) again: Option<Duration>,
}

/// Finds the pods that a budget says were evicted.
pub(super) fn disrupted(budget: &Object, pods: &[Arc<Object>], now: Timestamp) -> Disrupted {
    let mut found = Disrupted::default();
    for pod in pods.iter().filter(|pod| !pod.is_deleting()) {
        let at = budget.get("/status/disruptedPods").get(pod.name());
        let Some(at) = at.and_then(Value::as_str) else { continue };
        let Some(time) = Timestamp::parse(at) else { continue };
        let left = time.plus(DELETION).since(now);
        if left.is_zero() {
            found.overdue.push(Arc::clone(pod));
        } else {
            found.pods.insert(pod.name().to_owned(), at.into());
            found.again = Some(found.again.map_or(left, |again| again.min(left)));
        }
    }
    found
}

/// Writes how many pods are expected, and how many of them are wanted to be healthy, if that is not
/// known yet.
pub(super) fn write(
    budget: &Object,
    pods: &[Arc<Object>],
    disrupted: &Disrupted,
    [expected, desired]: [i64; 2],
    now: Timestamp,
) -> Plan {
    let is_healthy = |pod: &&Arc<Object>| {
        is_ready(pod) && !pod.is_deleting() && !disrupted.pods.contains_key(pod.name())
    };
    let healthy = pods.iter().filter(is_healthy).count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let allowed = match expected {
        ..=0 => 0,
        _ => healthy.saturating_sub(desired).max(0),
    };
    let (status, reason) = match allowed {
        0 => ("False", "InsufficientPods"),
        _ => ("True", "SufficientPods"),
    };
    let observed = budget.get("/metadata/generation");
    let conditions = conditions(budget, [status, reason, ""], observed, now);
    let mut written = json!({
        "observedGeneration": observed,
        "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired,
        "expectedPods": expected, "conditions": conditions,
    });
    if !disrupted.pods.is_empty() {
        set(&mut written, &["disruptedPods"], disrupted.pods.clone().into());
    }
    put(budget, written)
}

/// Allows no disruption because it is not known how many there may be. What was observed stays.
pub(super) fn failed(budget: &Object, why: &str, now: Timestamp) -> Plan {
    let mut status = budget.get("/status").clone();
    set(&mut status, &["disruptionsAllowed"], 0.into());
    let observed = budget.get("/status/observedGeneration");
    let conditions = conditions(budget, ["False", "SyncFailed", why], observed, now);
    set(&mut status, &["conditions"], conditions.into());
    let reason = "CalculateExpectedPodCountFailed";
    let message = format!("Failed to calculate the number of expected pods: {why}");
    Plan::nothing()
        .event(Event::warning(&DISRUPTION_BUDGETS, budget, reason, message))
        .and(put(budget, status))
}

fn put(budget: &Object, status: Value) -> Plan {
    if status == *budget.get("/status") {
        return Plan::nothing();
    }
    let mut changed = budget.copy();
    set(&mut changed, &["status"], status);
    let key = budget.key();
    Plan::nothing().request(Request::update_in(&DISRUPTION_BUDGETS, key, "status", &changed))
}

fn conditions(
    budget: &Object,
    [status, reason, message]: [&str; 3],
    observed: &Value,
    now: Timestamp,
) -> Vec<Value> {
    let kind = "DisruptionAllowed";
    let mut conditions = budget.list("/status/conditions").to_vec();
    set_condition(&mut conditions, [kind, status, reason, message], now);
    let is_of_kind = |it: &&mut Value| it.get("type").is_some_and(|it| it == kind);
    if let Some(condition) = conditions.iter_mut().find(is_of_kind).filter(|_| !observed.is_null())
    {
        set(condition, &["observedGeneration"], observed.clone());
    }
    conditions
}
