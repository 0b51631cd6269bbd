//! The simulated scheduler (CP-100, CP-101).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::UserInfo;
use serde_json::json;

use super::rules::Simulation;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::scheduling::{selects, tolerates, untolerated};
use crate::view::{Change, View};

/// Binds pods to nodes.
pub(crate) struct Scheduler {
    account: Account,
    simulation: Simulation,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Creates a scheduler that leaves pods alone if a simulation says so.
    pub(crate) fn new(simulation: Simulation) -> Self {
        let user = UserInfo::named("system:kube-scheduler").group("system:authenticated");
        Scheduler { account: Account::new(user, "kube-scheduler"), simulation }
    }
}

/// The name of this scheduler in pods.
const NAME: &str = "default-scheduler";

impl Controller for Scheduler {
    fn name(&self) -> &'static str {
        "kube-scheduler"
    }

    fn account(&self) -> Account {
        self.account.clone()
    }

    fn event_source(&self) -> &'static str {
        NAME
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&PODS, &NODES]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if change.is_of(&PODS) {
            let pod = change.after.iter().filter(|pod| is_to_be_scheduled(pod));
            pod.for_each(|pod| keys.add(pod.key()));
        } else {
            let pods = view.pods_on("").filter(|pod| is_to_be_scheduled(pod));
            pods.for_each(|pod| keys.add(pod.key()));
        }
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let pod = view.get(&PODS, key).filter(|pod| is_to_be_scheduled(pod));
        let Some(pod) = pod.filter(|pod| !self.simulation.script(pod).stays_pending) else {
            return Plan::nothing();
        };
        let nodes = Nodes::new(pod, view);
        let Some(node) = nodes.choose(pod) else { return nodes.explain(pod, now) };
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node.name()},
        });
        let message = format!("Successfully assigned {key} to {}", node.name());
        Plan::nothing()
            .request(Request::create_in(&PODS, key, "binding", &binding))
            .event(Event::normal(&PODS, pod, "Scheduled", message))
    }
}

/// Returns whether a pod waits for this scheduler; one that has gates has a condition of the server.
fn is_to_be_scheduled(pod: &Object) -> bool {
    pod.text("/spec/nodeName").is_empty()
        && !pod.is_deleting()
        && pod.list("/spec/schedulingGates").is_empty()
        && pod.text("/spec/schedulerName") == NAME
}

/// The nodes that admit a pod, and why others do not.
struct Nodes<'v> {
    fitting: Vec<&'v Arc<Object>>,
    /// How many nodes there are for each reason.
    refusing: BTreeMap<&'static str, usize>,
}

impl<'v> Nodes<'v> {
    fn new(pod: &Object, view: &'v View) -> Self {
        let mut nodes = Nodes { fitting: Vec::new(), refusing: BTreeMap::new() };
        for node in view.all(&NODES) {
            match refusal(pod, node) {
                None => nodes.fitting.push(node),
                Some(reason) => {
                    let count = nodes.refusing.entry(reason).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
        nodes
    }

    /// Returns the node for a pod: one of those that admit it, by the revision that created it.
    fn choose(&self, pod: &Object) -> Option<&'v Arc<Object>> {
        let count = u64::try_from(self.fitting.len()).unwrap_or(u64::MAX);
        let chosen = usize::try_from(pod.created().checked_rem(count)?).ok()?;
        self.fitting.get(chosen).copied()
    }

    /// Says why no node admits a pod, if that is new (CP-101).
    fn explain(&self, pod: &Object, now: Timestamp) -> Plan {
        let count: usize = self.refusing.values().sum();
        let reasons: Vec<String> =
            self.refusing.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let message = match count {
            0 => "no nodes available to schedule pods".to_owned(),
            _ => format!("0/{count} nodes are available: {}.", reasons.join(", ")),
        };
        let known = pod.condition("PodScheduled").and_then(|it| it.get("message")?.as_str());
        if known == Some(&*message) {
            return Plan::nothing();
        }
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": message, "lastProbeTime": null, "lastTransitionTime": now.to_rfc3339(),
        });
        let patch = json!({"status": {"conditions": [condition]}});
        Plan::nothing()
            .try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404])
            .event(Event::warning(&PODS, pod, "FailedScheduling", message))
    }
}

/// Returns why a node does not admit a pod; `None` if it does.
fn refusal(pod: &Object, node: &Object) -> Option<&'static str> {
    let tolerations = pod.list("/spec/tolerations");
    let unschedulable = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let is_unschedulable = node.get("/spec/unschedulable").as_bool() == Some(true)
        && !tolerations.iter().any(|toleration| tolerates(toleration, &unschedulable));
    if is_unschedulable {
        return Some("node(s) were unschedulable");
    }
    if untolerated(node, &["NoSchedule", "NoExecute"], tolerations).is_some() {
        return Some("node(s) had untolerated taint(s)");
    }
    let reason = "node(s) didn't match Pod's node affinity/selector";
    (!selects(pod.get("/spec"), node)).then_some(reason)
}
