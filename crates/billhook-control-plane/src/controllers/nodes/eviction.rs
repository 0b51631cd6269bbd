//! Pods leave a node whose taints they do not tolerate (CP-85).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::scheduling::tolerates;
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct TaintEviction;

impl Controller for TaintEviction {
    fn name(&self) -> &'static str {
        "taint-eviction-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("node-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&PODS, &NODES]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if change.is_of(&PODS) {
            let is_on_tainted = |pod: &&Arc<Object>| {
                let node = view.get(&NODES, pod.text("/spec/nodeName"));
                node.is_some_and(|node| !node.list("/spec/taints").is_empty())
            };
            let pod = change.after.iter().filter(is_on_tainted);
            return pod.for_each(|pod| keys.add(pod.key()));
        }
        let taints = |node: &Option<Arc<Object>>| {
            node.as_ref().map(|node| node.list("/spec/taints").to_vec()).unwrap_or_default()
        };
        if taints(&change.before) == taints(&change.after) {
            return;
        }
        let Some(node) = &change.after else { return };
        view.pods_on(node.name()).for_each(|pod| keys.add(pod.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let pod = view.get(&PODS, key).filter(|pod| !pod.is_deleting());
        let node = pod.and_then(|pod| view.get(&NODES, pod.text("/spec/nodeName")));
        let Some((pod, node)) = pod.zip(node) else { return Plan::nothing() };
        match time_to_leave(pod, node, now) {
            None => Plan::nothing(),
            Some(Duration::ZERO) => evict(pod, now),
            Some(left) => Plan::nothing().again_after(left),
        }
    }
}

/// Returns how long a pod may stay on a node; `None` if it is not limited.
fn time_to_leave(pod: &Object, node: &Object, now: Timestamp) -> Option<Duration> {
    let is_meant = |taint: &&Value| taint.get("effect").is_some_and(|it| it == "NoExecute");
    let mut first: Option<Duration> = None;
    for taint in node.list("/spec/taints").iter().filter(is_meant) {
        let mut used =
            pod.list("/spec/tolerations").iter().filter(|it| tolerates(it, taint)).peekable();
        if used.peek().is_none() {
            return Some(Duration::ZERO);
        }
        let seconds = used.filter_map(|it| it.get("tolerationSeconds")?.as_i64()).min();
        let Some(seconds) = seconds else { continue };
        let tolerated = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        let left = begin(pod, node, taint, now).plus(tolerated).since(now);
        first = Some(first.map_or(left, |first| first.min(left)));
    }
    first
}

/// Returns since when a pod is on a node with a taint.
fn begin(pod: &Object, node: &Object, taint: &Value, now: Timestamp) -> Timestamp {
    let added = taint.get("timeAdded").and_then(Value::as_str).and_then(Timestamp::parse);
    let tainted = added.or_else(|| last_write_of_taints(node));
    let scheduled = pod
        .condition("PodScheduled")
        .and_then(|condition| Timestamp::parse(condition.get("lastTransitionTime")?.as_str()?));
    let here = scheduled.or_else(|| pod.time("/metadata/creationTimestamp"));
    tainted.max(here).unwrap_or(now)
}

/// Returns when the manager of the taints of a node wrote last.
fn last_write_of_taints(node: &Object) -> Option<Timestamp> {
    let writes = node.writes().managed_fields.into_iter();
    let of_taints = writes.filter(|it| it.fields.pointer("/f:spec/f:taints").is_some());
    of_taints.filter_map(|it| it.time()).max()
}

fn evict(pod: &Arc<Object>, now: Timestamp) -> Plan {
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "lastTransitionTime": now.to_rfc3339(),
    });
    let patch = json!({"metadata": {"uid": pod.uid()}, "status": {"conditions": [condition]}});
    let message = format!("Marking for deletion Pod {}", pod.key());
    Plan::nothing()
        .event(Event::normal(&PODS, pod, "TaintManagerEviction", message))
        .try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404, 409])
        .try_request(Request::delete_seen(&PODS, pod), &[404, 409])
}
