//! The simulated nodes (CP-111 to CP-117).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::UserInfo;
use serde_json::json;

use super::addresses::Addresses;
use super::needs::Needs;
use super::node::{account, is_heard_of, user};
use super::pod::Pod;
use super::pod_events::{changes, lacks_volume, misreads, stops};
use super::rules::Simulation;
use super::script::Script;
use super::status::patch;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::{CONFIG_MAPS, NODES, PODS, Resource, SECRETS};
use crate::view::{Change, View};

/// Runs the pods of all nodes as a [`Simulation`] says.
pub(crate) struct Kubelet {
    account: Account,
    simulation: Simulation,
    /// Whether there are events about all that containers do, not only about failures.
    reports_all: bool,
    addresses: Addresses,
}

impl fmt::Debug for Kubelet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kubelet").finish_non_exhaustive()
    }
}

impl Kubelet {
    /// Creates the nodes' part, whose fields have a manager.
    pub(crate) fn new(manager: &str, simulation: Simulation, reports_all: bool) -> Self {
        let (account, addresses) = (account(manager, "node-0"), Addresses::default());
        Kubelet { account, simulation, reports_all, addresses }
    }

    /// Writes the status of a pod if it has changed, and events about its containers.
    fn write(
        &self,
        [before, pod]: [&Pod<'_>; 2],
        script: &Script,
        view: &View,
        now: Timestamp,
    ) -> Plan {
        let object = pod.object;
        let Some(status) = patch(pod, script, || self.addresses.next(view), now) else {
            return Plan::nothing();
        };
        let patch = json!({"metadata": {"uid": object.uid()}, "status": status});
        let write = Request::patch_in(&PODS, object.key(), "status", &patch);
        let plan = Plan::nothing().try_request(write, &[404, 409]);
        self.report(plan, changes(object, before.all(), pod.all()))
    }

    fn report(&self, plan: Plan, events: Vec<Event>) -> Plan {
        let reported = events.into_iter().filter(|event| self.reports_all || event.is_warning());
        reported.fold(plan, Plan::event)
    }
}

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn account(&self) -> Account {
        self.account.clone()
    }

    fn user(&self, key: &str, view: &View) -> Option<UserInfo> {
        view.get(&PODS, key).map(|pod| user(pod.text("/spec/nodeName")))
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&PODS, &NODES, &SECRETS, &CONFIG_MAPS]
    }

    /// A pod concerns itself; a node that is heard of again, its pods; a Secret or a ConfigMap, the pods of
    /// its namespace whose containers wait.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        let is_on_node = |pod: &&Arc<Object>| !pod.text("/spec/nodeName").is_empty();
        if change.is_of(&PODS) {
            let pod = change.after.iter().filter(is_on_node);
            return pod.for_each(|pod| keys.add(pod.key()));
        }
        let Some(object) = &change.after else { return };
        if change.is_of(&NODES) {
            let was_heard_of = change.before.as_ref().is_some_and(|node| is_heard_of(node));
            let pods = view.pods_on(object.name()).filter(|_| !was_heard_of && is_heard_of(object));
            return pods.for_each(|pod| keys.add(pod.key()));
        }
        let pods = view.list(&PODS, object.namespace()).filter(is_on_node);
        let waiting = pods.filter(|pod| has_waiting(pod));
        waiting.for_each(|pod| keys.add(pod.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(object) = view.get(&PODS, key) else { return Plan::nothing() };
        let node = view.get(&NODES, object.text("/spec/nodeName"));
        if !node.is_some_and(|node| is_heard_of(node)) {
            return Plan::nothing();
        }
        let script = self.simulation.script(object);
        let mut pod = Pod::read(object, now);
        if object.is_deleting() {
            return self.stop(pod, &script, view, now);
        }
        if is_terminal(object) {
            return Plan::nothing();
        }
        let needs = match pod.may_start() && !script.ignores_missing {
            true => Needs::of(object, view),
            false => Needs::default(),
        };
        let before = pod.clone();
        let next = pod.advance(&script, &needs, now);
        let plan = self.write([&before, &pod], &script, view, now);
        let plan = lacks_volume(&pod, &needs).into_iter().fold(plan, Plan::event);
        let plan = misreads(&before).into_iter().fold(plan, Plan::event);
        next.into_iter().filter(|next| !next.is_zero()).fold(plan, Plan::again_after)
    }
}

impl Kubelet {
    /// Stops the containers of a pod that is being deleted, and lets it go (CP-114).
    fn stop(&self, mut pod: Pod<'_>, script: &Script, view: &View, now: Timestamp) -> Plan {
        let object = pod.object;
        if script.ignores_deletion {
            return Plan::nothing();
        }
        let mut plan = Plan::nothing();
        if !is_terminal(object) {
            let before = pod.clone();
            let stopped = before.running_when_deleted(now).map(|it| stops(object, it));
            plan = self.report(plan, stopped.collect());
            let left = pod.stop(script, now);
            plan = plan.and(self.write([&before, &pod], script, view, now));
            if let Some(left) = left {
                return plan.again_after(left.max(Duration::from_millis(1)));
            }
        }
        // Finalizers alone keep it.
        if object.int("/metadata/deletionGracePeriodSeconds") == Some(0) {
            return plan;
        }
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": object.uid()}});
        plan.try_request(Request::delete(&PODS, object.key(), &options), &[404, 409])
    }
}

/// Returns whether a container of a pod waits, as its status says.
fn has_waiting(pod: &Object) -> bool {
    let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let mut statuses = lists.into_iter().flat_map(|list| pod.list(list));
    pod.text("/status/phase") == "Pending"
        || statuses.any(|status| status.pointer("/state/waiting").is_some())
}
