//! Pods that make room for one of a higher priority (CP-101).

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::json;

use super::usage::{Usage, priority};
use crate::clock::Timestamp;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::PODS;
use crate::view::View;

const MESSAGE: &str = "default-scheduler: preempting to accommodate a higher priority pod";

/// A node on which a pod has room when others have gone.
struct Candidate<'v> {
    node: &'v Object,
    victims: Vec<&'v Arc<Object>>,
}

impl Candidate<'_> {
    /// The order of candidates: the first one is taken.
    fn cost(&self) -> (Option<i64>, i64, usize) {
        let priorities = || self.victims.iter().map(|pod| priority(pod));
        (priorities().max(), priorities().fold(0, i64::saturating_add), self.victims.len())
    }
}

/// Deletes the pods that keep a pod from one of some nodes, which lack nothing but room. Does nothing
/// where no pods of lower priorities do, or while some that were deleted for it are not gone.
pub(super) fn preempt(
    pod: &Object,
    nodes: &[&Arc<Object>],
    view: &View,
    usage: &Usage,
    now: Timestamp,
) -> Plan {
    let nominated = pod.text("/status/nominatedNodeName");
    let is_going = |it: &&Arc<Object>| it.is_deleting() && priority(it) < priority(pod);
    let is_waiting = !nominated.is_empty() && view.pods_on(nominated).any(|it| is_going(&it));
    if is_waiting || pod.text("/spec/preemptionPolicy") == "Never" {
        return Plan::nothing();
    }
    let candidates = nodes.iter().filter_map(|node| candidate(pod, node, view, usage));
    let Some(best) = candidates.min_by_key(Candidate::cost) else { return Plan::nothing() };
    let delete = |plan: Plan, victim: &&Arc<Object>| plan.and(delete(victim, pod, best.node, now));
    let deleted = best.victims.iter().fold(Plan::nothing(), delete);
    let patch = json!({"status": {"nominatedNodeName": best.node.name()}});
    deleted.try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404])
}

/// Finds the pods of a node that have to go: those of the lowest priorities, and no more than needed.
fn candidate<'v>(
    pod: &Object,
    node: &'v Arc<Object>,
    view: &'v View,
    usage: &Usage,
) -> Option<Candidate<'v>> {
    let lower = |it: &&Arc<Object>| priority(it) < priority(pod) && !is_terminal(it);
    let mut victims: Vec<&Arc<Object>> = view.pods_on(node.name()).filter(lower).collect();
    victims.sort_by_key(|it| (Reverse(priority(it)), it.created()));
    let victims = usage.without(pod, node, victims)?;
    (!victims.is_empty()).then_some(Candidate { node, victims })
}

fn delete(victim: &Arc<Object>, pod: &Object, node: &Object, now: Timestamp) -> Plan {
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
        "message": MESSAGE, "lastProbeTime": null, "lastTransitionTime": now.to_rfc3339(),
    });
    let patch = json!({"metadata": {"uid": victim.uid()}, "status": {"conditions": [condition]}});
    let message = format!("Preempted by pod {} on node {}", pod.uid(), node.name());
    Plan::nothing()
        .try_request(Request::patch_in(&PODS, victim.key(), "status", &patch), &[404, 409])
        .try_request(Request::delete_seen(&PODS, victim), &[404, 409])
        .event(Event::normal(&PODS, victim, "Preempted", message))
}
