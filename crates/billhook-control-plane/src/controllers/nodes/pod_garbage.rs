//! Pods that no kubelet looks after any more (CP-86).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::view::{Change, View};

/// How long a node may be missing.
const QUARANTINE: Duration = Duration::from_secs(40);
/// How many pods that have ended are kept.
const ENDED: usize = 12_500;
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// The key of the pods that are bound to no node, and of those that have ended.
const ALL: &str = "";

/// Deletes pods of nodes that are gone, and those that are too many. Remembers since when a node is
/// missing, which nothing that is stored says.
#[derive(Debug, Default)]
pub(crate) struct PodGarbage {
    missing: Mutex<BTreeMap<String, Timestamp>>,
}

impl Controller for PodGarbage {
    fn name(&self) -> &'static str {
        "pod-garbage-collector-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("pod-garbage-collector")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES, &PODS]
    }

    /// Keys are names of nodes.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &NODES) {
            return;
        }
        let Some(pod) = &change.after else { return };
        let node = pod.text("/spec/nodeName");
        if is_terminal(pod) || node.is_empty() && pod.is_deleting() {
            keys.add(&ALL.into());
        }
        let is_concerned = view.get(&NODES, node).is_none_or(|node| is_out_of_service(node));
        if is_concerned && !node.is_empty() {
            keys.add(&node.into());
        }
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let deleted = view.pods_on(key).filter(|pod| pod.is_deleting());
        if key == ALL {
            return surplus(view).and(delete_all(deleted, now));
        }
        let Some(node) = view.get(&NODES, key) else {
            return self.left(key, view.pods_on(key).collect(), now);
        };
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
        if !is_out_of_service(node) || node.is_condition_true("Ready") {
            return Plan::nothing();
        }
        delete_all(deleted, now)
    }
}

impl PodGarbage {
    /// Deletes the pods of a node that is gone, after some time and another look.
    fn left(&self, node: &str, pods: Vec<&Arc<Object>>, now: Timestamp) -> Plan {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if pods.is_empty() {
            missing.remove(node);
            return Plan::nothing();
        }
        let since = *missing.entry(node.to_owned()).or_insert(now);
        let left = since.plus(QUARANTINE).since(now);
        if !left.is_zero() {
            return Plan::nothing().again_after(left);
        }
        let pods: Vec<Arc<Object>> = pods.into_iter().cloned().collect();
        Plan::nothing().then(vec![Request::get(&NODES, node)], move |outcomes| {
            match outcomes.first().map(|outcome| outcome.code()) {
                Some(404) => delete_all(pods.iter(), now),
                _ => Plan::nothing(),
            }
        })
    }
}

fn is_out_of_service(node: &Object) -> bool {
    let mut taints = node.list("/spec/taints").iter();
    taints.any(|taint| taint.get("key").is_some_and(|key| key == OUT_OF_SERVICE))
}

/// Deletes the oldest pods that have ended, if there are too many.
fn surplus(view: &View) -> Plan {
    if view.count(&PODS) <= ENDED {
        return Plan::nothing();
    }
    let mut ended: Vec<_> = view.all(&PODS).filter(|pod| is_terminal(pod)).collect();
    let count = ended.len().saturating_sub(ENDED);
    ended.sort_by_key(|pod| pod.created());
    let delete = |plan: Plan, pod: &Arc<Object>| plan.try_request(delete(pod), &[404, 409]);
    ended.into_iter().take(count).fold(Plan::nothing(), delete)
}

/// Says of pods that they have failed, if they have not ended, and deletes them.
fn delete_all<'p>(pods: impl Iterator<Item = &'p Arc<Object>>, now: Timestamp) -> Plan {
    pods.fold(Plan::nothing(), |mut plan, pod| {
        if !is_terminal(pod) {
            let patch = json!({"metadata": {"uid": pod.uid()}, "status": failed(now)});
            let patch = Request::patch_in(&PODS, pod.key(), "status", &patch);
            plan = plan.try_request(patch, &[404, 409]);
        }
        plan.try_request(delete(pod), &[404, 409])
    })
}

fn failed(now: Timestamp) -> Value {
    json!({"phase": "Failed", "conditions": [{
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists", "lastTransitionTime": now.to_rfc3339(),
    }]})
}

fn delete(pod: &Object) -> Request {
    let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid()}});
    Request::delete(&PODS, pod.key(), &options)
}
