//! Taints that follow the conditions of a node (CP-85).

use std::time::Duration;

use serde_json::{Value, json};

use super::LIFECYCLE;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::{remove, set};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, Resource};
use crate::view::{Change, View};

/// The taint of nodes that are not ready, or new.
pub(crate) const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Conditions, their statuses, and the taints that these bring.
const OF_CONDITIONS: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];
/// How long it takes at least from one node that pods have to leave to the next.
const PACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct NodeTaints;

impl Controller for NodeTaints {
    fn name(&self) -> &'static str {
        LIFECYCLE[0]
    }

    fn account(&self) -> Account {
        Account::of_controller(LIFECYCLE[1])
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &NODES);
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let Some(node) = view.get(&NODES, name) else { return Plan::nothing() };
        let mut wanted = no_schedule(node);
        let mut plan = Plan::nothing();
        if let Some(key) = no_execute(node) {
            let wait = match has(node, (key, "NoExecute")) {
                true => Duration::ZERO,
                false => pace(view, now),
            };
            match wait.is_zero() {
                true => wanted.push((key, "NoExecute")),
                false => plan = plan.again_after(wait),
            }
        }
        let known = node.list("/spec/taints");
        let is_kept = |taint: &&Value| {
            let (key, effect) = identity(taint);
            !is_ours(key, effect) || wanted.contains(&(key, effect))
        };
        let mut taints: Vec<Value> = known.iter().filter(is_kept).cloned().collect();
        for (key, effect) in wanted.iter().filter(|wanted| !has(node, **wanted)) {
            taints.push(json!({"key": key, "effect": effect, "timeAdded": now.to_rfc3339()}));
        }
        if taints == known {
            return plan;
        }
        let mut changed = node.copy();
        match taints.is_empty() {
            true => remove(&mut changed, &["spec", "taints"]),
            false => set(&mut changed, &["spec", "taints"], taints.into()),
        }
        plan.request(Request::update(&NODES, name, &changed))
    }
}

/// Returns the taints that keep new pods from a node.
fn no_schedule(node: &Object) -> Vec<(&'static str, &'static str)> {
    let is_met = |(kind, status, _): &&(&str, &str, &str)| {
        node.condition(kind).is_some_and(|it| it.get("status").is_some_and(|it| it == status))
    };
    let keys = OF_CONDITIONS.iter().filter(is_met).map(|(_, _, key)| *key);
    let is_unschedulable = node.get("/spec/unschedulable").as_bool() == Some(true);
    let unschedulable = is_unschedulable.then_some(UNSCHEDULABLE);
    keys.chain(unschedulable).map(|key| (key, "NoSchedule")).collect()
}

/// Returns the taint that pods have to leave a node for, if they have to.
fn no_execute(node: &Object) -> Option<&'static str> {
    match node.condition("Ready")?.get("status")?.as_str()? {
        "False" => Some(NOT_READY),
        "Unknown" => Some(UNREACHABLE),
        _ => None,
    }
}

/// Returns how long it takes until one more node may be left.
fn pace(view: &View, now: Timestamp) -> Duration {
    let taints = view.all(&NODES).flat_map(|node| node.list("/spec/taints"));
    let ours = taints.filter(|taint| {
        let (key, effect) = identity(taint);
        effect == "NoExecute" && is_ours(key, effect)
    });
    let added = ours.filter_map(|it| Timestamp::parse(it.get("timeAdded")?.as_str()?)).max();
    added.map_or(Duration::ZERO, |added| added.plus(PACE).since(now))
}

fn is_ours(key: &str, effect: &str) -> bool {
    match effect {
        "NoSchedule" => key == UNSCHEDULABLE || OF_CONDITIONS.iter().any(|(_, _, it)| *it == key),
        "NoExecute" => key == NOT_READY || key == UNREACHABLE,
        _ => false,
    }
}

fn has(node: &Object, taint: (&str, &str)) -> bool {
    node.list("/spec/taints").iter().any(|it| identity(it) == taint)
}

fn identity(taint: &Value) -> (&str, &str) {
    let text = |name: &str| taint.get(name).and_then(Value::as_str).unwrap_or_default();
    (text("key"), text("effect"))
}
