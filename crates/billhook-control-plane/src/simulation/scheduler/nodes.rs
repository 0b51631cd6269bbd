//! Which nodes admit a pod, and why the others do not.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

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
    count: usize,
    /// How many nodes there are for each reason.
    refusing: BTreeMap<String, usize>,
}

impl<'v> Nodes<'v> {
    pub(super) fn new(pod: &Object, view: &'v View, usage: &Usage, volumes: &Volumes<'_>) -> Self {
        let (mut fitting, mut refusing) = (Vec::new(), BTreeMap::<String, usize>::new());
        for node in view.all(&NODES) {
            let mut reasons = refusals(pod, node, usage);
            if reasons.is_empty() {
                reasons.extend(volumes.conflict(view, node).map(str::to_owned));
            }
            if reasons.is_empty() {
                fitting.push(node);
            }
            for reason in reasons {
                let count = refusing.entry(reason).or_default();
                *count = count.saturating_add(1);
            }
        }
        Nodes { fitting, count: view.count(&NODES), refusing }
    }

    /// Returns the node for a pod: one of those that admit it, by the revision that created it.
    pub(super) fn choose(&self, pod: &Object) -> Option<&'v Arc<Object>> {
        let count = u64::try_from(self.fitting.len()).unwrap_or(u64::MAX);
        let chosen = usize::try_from(pod.created().checked_rem(count)?).ok()?;
        self.fitting.get(chosen).copied()
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

/// Says why no node admits a pod, if that is new (CP-101).
pub(super) fn explain(pod: &Object, message: &str, now: Timestamp) -> Plan {
    let known = pod.condition("PodScheduled").and_then(|it| it.get("message")?.as_str());
    if known == Some(message) {
        return Plan::nothing();
    }
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": message, "lastProbeTime": null, "lastTransitionTime": now.to_rfc3339(),
    });
    let patch = json!({"status": {"conditions": [condition]}});
    Plan::nothing()
        .try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404])
        .event(Event::warning(&PODS, pod, "FailedScheduling", message.to_owned()))
}

/// Returns why a node does not admit a pod; nothing if it does.
fn refusals(pod: &Object, node: &Object, usage: &Usage) -> Vec<String> {
    let tolerations = pod.list("/spec/tolerations");
    let unschedulable = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let is_unschedulable = node.get("/spec/unschedulable").as_bool() == Some(true)
        && !tolerations.iter().any(|toleration| tolerates(toleration, &unschedulable));
    let reason = match () {
        () if is_unschedulable => "node(s) were unschedulable",
        () if untolerated(node, &["NoSchedule", "NoExecute"], tolerations).is_some() => {
            "node(s) had untolerated taint(s)"
        }
        () if !selects(pod.get("/spec"), node) => {
            "node(s) didn't match Pod's node affinity/selector"
        }
        () => return usage.shortages(pod, node),
    };
    vec![reason.to_owned()]
}
