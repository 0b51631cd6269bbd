//! Which nodes admit a pod, and why the others do not.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::affinity::Affinity;
use super::preferences::Preferences;
use super::spreading::Spreading;
use super::usage::Usage;
use super::volumes::Volumes;
use crate::clock::Timestamp;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, PODS};
use crate::scheduling::{selects, tolerates, untolerated};
use crate::view::View;

/// The nodes that admit a pod, and why others do not.
pub(super) struct Nodes<'v> {
    fitting: Vec<&'v Arc<Object>>,
    /// The nodes that lack nothing but room.
    pub(super) full: Vec<&'v Arc<Object>>,
    count: usize,
    /// How many nodes there are for each reason.
    refusing: BTreeMap<String, usize>,
}

impl<'v> Nodes<'v> {
    pub(super) fn new(pod: &Object, view: &'v View, usage: &Usage, volumes: &Volumes<'_>) -> Self {
        let (affinity, spreading) = (Affinity::of(pod, view, usage), Spreading::of(pod, view));
        let (mut fitting, mut full, mut waits) = (Vec::new(), Vec::new(), false);
        let mut refusing = BTreeMap::<String, usize>::new();
        for node in view.all(&NODES) {
            let mut reasons = Vec::new();
            if let Some(reason) = refusal(pod, node) {
                reasons.push(reason.to_owned());
            } else {
                reasons = usage.shortages(pod, node);
                let of_volumes = volumes.conflict(view, node);
                let of_pods = || spreading.conflict(node).or_else(|| affinity.conflict(node));
                let conflict = of_volumes.or_else(of_pods);
                waits |= of_volumes.is_none() && conflict.is_some();
                match conflict {
                    Some(conflict) if reasons.is_empty() => reasons.push(conflict.to_owned()),
                    None if reasons.is_empty() => fitting.push(node),
                    None => full.push(node),
                    Some(_) => {}
                }
            }
            for reason in reasons {
                let count = refusing.entry(reason).or_default();
                *count = count.saturating_add(1);
            }
        }
        if waits && fitting.is_empty() {
            usage.wait(pod);
        }
        Nodes { fitting, full, count: view.count(&NODES), refusing }
    }

    /// Returns the node for a pod: of those that admit it, the one that it prefers.
    pub(super) fn choose(
        &self,
        pod: &Object,
        view: &View,
        usage: &Usage,
    ) -> Option<&'v Arc<Object>> {
        if let [] | [_] = self.fitting.as_slice() {
            return self.fitting.first().copied();
        }
        let preferences = Preferences::of(pod, view);
        self.fitting.iter().min_by_key(|node| preferences.rank(node, usage)).copied()
    }

    /// Returns why no node admits a pod.
    pub(super) fn message(&self) -> String {
        let counted = self.refusing.iter().map(|(reason, count)| format!("{count} {reason}"));
        let mut reasons: Vec<String> = counted.collect();
        reasons.sort();
        message(self.count, &reasons.join(", "))
    }
}

/// Returns the message about a pod that none of so many nodes admits.
pub(super) fn message(nodes: usize, reasons: &str) -> String {
    match nodes {
        0 => "no nodes available to schedule pods".to_owned(),
        _ => format!("0/{nodes} nodes are available: {reasons}."),
    }
}

/// Says why no node admits a pod, if that is new, and once more at each try that nothing but time has led
/// to (CP-101).
pub(super) fn explain(pod: &Object, message: &str, usage: &Usage, now: Timestamp) -> Plan {
    let known = pod.condition("PodScheduled").and_then(|it| it.get("message")?.as_str());
    let is_known = known == Some(message);
    let (is_said, next) = usage.next_try(pod, is_known, now);
    if !is_said {
        return Plan::nothing().again_after(next);
    }
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": message, "lastProbeTime": null, "lastTransitionTime": now.to_rfc3339(),
    });
    let patch = json!({"status": {"conditions": [condition]}});
    let patch = Request::patch_in(&PODS, pod.key(), "status", &patch);
    let plan = match is_known {
        true => Plan::nothing(),
        false => Plan::nothing().try_request(patch, &[404]),
    };
    plan.event(Event::warning(&PODS, pod, "FailedScheduling", message.to_owned())).again_after(next)
}

/// Returns why a node does not admit a pod, whatever room it has; `None` if it does.
fn refusal(pod: &Object, node: &Object) -> Option<&'static str> {
    let tolerations = pod.list("/spec/tolerations");
    let unschedulable = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let is_unschedulable = node.get("/spec/unschedulable").as_bool() == Some(true)
        && !tolerations.iter().any(|toleration| tolerates(toleration, &unschedulable));
    match () {
        () if is_unschedulable => Some("node(s) were unschedulable"),
        () if untolerated(node, &["NoSchedule", "NoExecute"], tolerations).is_some() => {
            Some("node(s) had untolerated taint(s)")
        }
        () if !selects(pod.get("/spec"), node) => {
            Some("node(s) didn't match Pod's node affinity/selector")
        }
        () => None,
    }
}
