//! The conditions of nodes whose kubelets are not heard of any more (CP-85).

use std::time::Duration;

use serde_json::{Value, json};

use super::LIFECYCLE;
use super::heartbeat::last_heartbeat;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::conditions::set_condition;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::namespaces::NODE_LEASES;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{LEASES, NODES, Resource};
use crate::view::{Change, View};

/// How long a kubelet may be silent.
const PATIENCE: Duration = Duration::from_secs(50);
/// How long a new one may be.
const STARTUP: Duration = Duration::from_secs(60);
/// The conditions that only a kubelet knows.
const OF_KUBELET: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// The annotation of nodes that need not renew their leases to be heard of, so that idle time costs
/// nothing. A node that loses it falls silent.
pub(crate) const SIMULATED: &str = "billhook.dev/simulated";

/// The reasons of the conditions of a node that has fallen silent, or was never heard of.
const STOPPED: &str = "NodeStatusUnknown";
const NEVER_HEARD: &str = "NodeStatusNeverUpdated";

#[derive(Debug)]
pub(crate) struct SilentNodes;

impl Controller for SilentNodes {
    fn name(&self) -> &'static str {
        LIFECYCLE[0]
    }

    fn account(&self) -> Account {
        Account::of_controller(LIFECYCLE[1])
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES, &LEASES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if keys.add_changed(change, &NODES) {
            return;
        }
        let lease = change.object().filter(|lease| lease.namespace() == NODE_LEASES);
        lease.into_iter().for_each(|lease| keys.add(&lease.name().into()));
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let node = view.get(&NODES, name).filter(|node| !is_unknown(node) && !is_simulated(node));
        let Some(node) = node else { return Plan::nothing() };
        let heard = last_heartbeat(node, view).map(|heard| heard.plus(PATIENCE));
        let created = node.time("/metadata/creationTimestamp").unwrap_or(now);
        let left = heard.unwrap_or_else(|| created.plus(STARTUP)).since(now);
        if !left.is_zero() {
            return Plan::nothing().again_after(left);
        }
        let mut changed = node.copy();
        set(&mut changed, &["status", "conditions"], unknown(node, now).into());
        Plan::nothing().request(Request::update_in(&NODES, name, "status", &changed))
    }
}

/// Returns whether a node is one on which pods are simulated.
pub(crate) fn is_simulated(node: &Object) -> bool {
    node.annotation(SIMULATED).is_some()
}

/// Returns whether a node counts as silent.
pub(crate) fn is_silent(node: &Object) -> bool {
    let ready = node.condition("Ready");
    let reason = ready.and_then(|ready| ready.get("reason")?.as_str());
    reason.is_some_and(|reason| [STOPPED, NEVER_HEARD].contains(&reason))
}

fn is_unknown(node: &Object) -> bool {
    let status = |kind: &&str| node.condition(kind)?.get("status")?.as_str();
    OF_KUBELET.iter().all(|kind| status(kind) == Some("Unknown"))
}

/// Returns the conditions of a node of which nothing is known any more.
fn unknown(node: &Object, now: Timestamp) -> Vec<Value> {
    let mut conditions = node.list("/status/conditions").to_vec();
    for kind in OF_KUBELET {
        let known = node.condition(kind);
        let [reason, message] = match known {
            Some(_) => [STOPPED, "Kubelet stopped posting node status."],
            None => [NEVER_HEARD, "Kubelet never posted node status."],
        };
        set_condition(&mut conditions, [kind, "Unknown", reason, message], now);
        let beat = known.and_then(|known| known.get("lastHeartbeatTime")).cloned();
        let beat = beat.unwrap_or_else(|| json!(node.get("/metadata/creationTimestamp")));
        let is_of_kind = |it: &&mut Value| it.get("type").is_some_and(|it| it == kind);
        if let Some(condition) = conditions.iter_mut().find(is_of_kind) {
            set(condition, &["lastHeartbeatTime"], beat);
        }
    }
    conditions
}
