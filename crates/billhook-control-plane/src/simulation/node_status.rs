//! The status of simulated nodes that others create, or that were silent (CP-102).

use billhook_apimachinery::UserInfo;
use serde_json::{Map, Value, json};

use super::node::{account, conditions, info, places, room, user};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::controllers::{NOT_READY, is_silent, is_simulated};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, Resource};
use crate::view::{Change, View};

/// Says that simulated nodes are ready which have never said so, or which were silent and are simulated
/// again. What others say about a node stays.
#[derive(Debug)]
pub(crate) struct NodeStatuses {
    account: Account,
    /// The version of the kubelets.
    version: Value,
}

impl NodeStatuses {
    pub(crate) fn new(manager: &str, version: Value) -> Self {
        NodeStatuses { account: account(manager, "node-0"), version }
    }
}

impl Controller for NodeStatuses {
    fn name(&self) -> &'static str {
        "kubelet-status"
    }

    fn account(&self) -> Account {
        self.account.clone()
    }

    fn user(&self, key: &str, _: &View) -> Option<UserInfo> {
        Some(user(key))
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &NODES);
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let node = view.get(&NODES, name).filter(|node| is_simulated(node));
        let Some(node) = node.filter(|node| node.condition("Ready").is_none() || is_silent(node))
        else {
            return Plan::nothing();
        };
        let patch = json!({"metadata": {"uid": node.uid()}, "status": self.status(node, now)});
        let write = Request::patch_in(&NODES, name, "status", &patch);
        let plan = Plan::nothing().try_request(write, &[404, 409]);
        // The server taints new nodes. Where there is a controller of taints, it would do the same.
        let is_other = |taint: &&Value| taint.get("key").is_none_or(|key| key != NOT_READY);
        let taints = node.list("/spec/taints");
        let others: Vec<&Value> = taints.iter().filter(is_other).collect();
        if others.len() == taints.len() {
            return plan;
        }
        let patch = json!({"metadata": {"uid": node.uid()}, "spec": {"taints": others}});
        plan.try_request(Request::merge_patch(&NODES, name, &patch), &[404, 409])
    }
}

impl NodeStatuses {
    /// Returns what changes in the status of a node.
    fn status(&self, node: &Object, now: Timestamp) -> Value {
        let mut status = Map::new();
        status.insert("conditions".to_owned(), conditions(now).into());
        if !node.get("/status/capacity").is_object() && !node.get("/status/allocatable").is_object()
        {
            status.insert("capacity".to_owned(), room());
            status.insert("allocatable".to_owned(), room());
        }
        if node.list("/status/addresses").is_empty() {
            status.insert("addresses".to_owned(), places(node.name()));
        }
        if node.text("/status/nodeInfo/kubeletVersion").is_empty() {
            status.insert("nodeInfo".to_owned(), info(&self.version));
        }
        Value::Object(status)
    }
}
