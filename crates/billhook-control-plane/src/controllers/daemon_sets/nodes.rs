//! Which nodes a DaemonSet has pods on, and the pods for them (CP-58).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::controllers::revisions::REVISION;
use crate::document::set;
use crate::object::Object;
use crate::ownership::Owner;
use crate::pods::{is_terminal, pod_of};
use crate::scheduling::{selects, untolerated};

const GENERATION: &str = "deprecated.daemonset.template.generation";
const POD_GENERATION: &str = "pod-template-generation";
const AFFINITY: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The taints that pods of DaemonSets tolerate.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
const TOLERATED_WITH_HOST_NETWORK: (&str, &str) =
    ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Whether a node is to have a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is to have one.
    Run,
    /// It may keep the one that it has.
    Keep,
    /// It must not have one.
    None,
}

/// Returns whether a node is to have a pod of a set.
pub(super) fn fit(daemon_set: &Object, node: &Object) -> Fit {
    let spec = daemon_set.get("/spec/template/spec");
    let wanted = daemon_set.text("/spec/template/spec/nodeName");
    if !(wanted.is_empty() || wanted == node.name()) || !selects(spec, node) {
        return Fit::None;
    }
    let tolerations = tolerations(spec);
    let has_untolerated = |effects: &[&str]| untolerated(node, effects, &tolerations).is_some();
    match () {
        () if has_untolerated(&["NoExecute"]) => Fit::None,
        () if has_untolerated(&["NoSchedule"]) => Fit::Keep,
        () => Fit::Run,
    }
}

/// Returns the tolerations of the pods of a template.
fn tolerations(spec: &Value) -> Vec<Value> {
    let own = spec.get("tolerations").and_then(Value::as_array);
    let mut tolerations = own.cloned().unwrap_or_default();
    let has_host_network = spec.get("hostNetwork") == Some(&json!(true));
    let last = has_host_network.then_some(TOLERATED_WITH_HOST_NETWORK);
    for (key, effect) in TOLERATED.into_iter().chain(last) {
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    tolerations
}

/// Returns the pod for a node, which the scheduler binds to it.
pub(super) fn new_pod(owner: &Owner<'_>, hash: &str, node: &str) -> Value {
    let mut pod = pod_of(owner, owner.object.get("/spec/template"));
    set(&mut pod, &["metadata", "labels", REVISION], hash.into());
    if let Some(generation) = owner.object.annotation(GENERATION) {
        set(&mut pod, &["metadata", "labels", POD_GENERATION], generation.into());
    }
    let tolerations = tolerations(owner.object.get("/spec/template/spec"));
    set(&mut pod, &["spec", "tolerations"], tolerations.into());
    let is_node = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    let terms = json!([{"matchFields": [is_node]}]);
    set(&mut pod, &["spec", "affinity", "nodeAffinity", AFFINITY, "nodeSelectorTerms"], terms);
    pod
}

/// Returns whether a pod is of the newest template.
pub(super) fn is_updated(daemon_set: &Object, pod: &Object, hash: &str) -> bool {
    let label = |name: &str| pod.labels().get(name).and_then(Value::as_str);
    let generation = daemon_set.annotation(GENERATION);
    label(REVISION) == Some(hash) || (generation.is_some() && label(POD_GENERATION) == generation)
}

/// The pods of a set by the nodes that they are on or are meant for, the oldest first.
pub(super) type OnNodes = BTreeMap<String, Vec<Arc<Object>>>;

/// Returns the pods by their nodes, without those that are done and being deleted.
pub(super) fn by_node(pods: Vec<Arc<Object>>) -> OnNodes {
    let mut on_nodes = OnNodes::new();
    for pod in pods.into_iter().filter(|pod| !(is_terminal(pod) && pod.is_deleting())) {
        if let Some(node) = node_of(&pod).map(str::to_owned) {
            on_nodes.entry(node).or_default().push(pod);
        }
    }
    let place = |pod: &Arc<Object>| (pod.text("/spec/nodeName").is_empty(), pod.created());
    on_nodes.values_mut().for_each(|pods| pods.sort_by_key(place));
    on_nodes
}

/// Returns the node that a pod is on or is meant for.
pub(super) fn node_of(pod: &Object) -> Option<&str> {
    let bound = pod.text("/spec/nodeName");
    if !bound.is_empty() {
        return Some(bound);
    }
    let terms = pod.list(&format!("/spec/affinity/nodeAffinity/{AFFINITY}/nodeSelectorTerms"));
    terms.iter().find_map(|term| term.pointer("/matchFields/0/values/0")?.as_str())
}
