//! The pods of a node that is not ready any more are not ready either (CP-85).

use std::sync::Arc;

use serde_json::json;

use super::LIFECYCLE;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_ready;
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct UnreadyNodes;

impl Controller for UnreadyNodes {
    fn name(&self) -> &'static str {
        LIFECYCLE[0]
    }

    fn account(&self) -> Account {
        Account::of_controller(LIFECYCLE[1])
    }

    fn event_source(&self) -> &'static str {
        LIFECYCLE[1]
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES]
    }

    /// Only the change counts: pods that get ready afterwards are so.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        let was_ready = change.before.as_ref().is_some_and(|node| node.is_condition_true("Ready"));
        if was_ready && change.after.as_ref().is_some_and(|it| !it.is_condition_true("Ready")) {
            keys.add_changed(change, &NODES);
        }
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let node = view.get(&NODES, name).filter(|node| !node.is_condition_true("Ready"));
        let Some(node) = node else { return Plan::nothing() };
        let message = format!("Node {name} status is now: NodeNotReady");
        let plan = Plan::nothing().event(Event::normal(&NODES, node, "NodeNotReady", message));
        let ready = view.pods_on(name).filter(|pod| is_ready(pod));
        ready.fold(plan, |plan, pod| plan.and(unready(pod, now)))
    }
}

fn unready(pod: &Arc<Object>, now: Timestamp) -> Plan {
    let time = now.to_rfc3339();
    let condition = json!({"type": "Ready", "status": "False", "lastTransitionTime": time});
    let patch = json!({
        "metadata": {"uid": pod.uid()}, "status": {"conditions": [condition]},
    });
    let message = "Node is not ready".to_owned();
    Plan::nothing()
        .event(Event::warning(&PODS, pod, "NodeNotReady", message))
        .try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404, 409])
}
