//! The simulated scheduler (CP-100, CP-101).

mod affinity;
mod nodes;
mod ports;
mod preemption;
mod preferences;
mod spreading;
mod terms;
mod usage;
mod volumes;

use std::fmt;

use billhook_apimachinery::UserInfo;
use serde_json::json;

use self::nodes::{Nodes, explain, message};
use self::preemption::preempt;
use self::usage::Usage;
use self::volumes::Volumes;
use super::rules::Simulation;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, NODES, PODS, Resource, VOLUMES};
use crate::view::{Change, View};

/// Binds pods to nodes.
pub(crate) struct Scheduler {
    account: Account,
    simulation: Simulation,
    /// Whether pods make room for others of higher priorities.
    preempts: bool,
    usage: Usage,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Creates a scheduler that leaves pods alone if a simulation says so.
    pub(crate) fn new(simulation: Simulation, preempts: bool) -> Self {
        let user = UserInfo::named("system:kube-scheduler").group("system:authenticated");
        let account = Account::new(user, "kube-scheduler");
        Scheduler { account, simulation, preempts, usage: Usage::default() }
    }
}

/// Why no node admits a pod of which a rule says so.
const SIMULATED: &str = "Insufficient cpu";

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
        vec![&PODS, &NODES, &CLAIMS, &VOLUMES]
    }

    /// A pod concerns itself; what leaves room, or is new, all pods that wait.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if change.is_of(&PODS) {
            let pod = change.after.iter().filter(|pod| is_to_be_scheduled(pod));
            pod.for_each(|pod| keys.add(pod.key()));
            if !self.usage.record(change) {
                return self.usage.take_waiting().iter().for_each(|pod| keys.add(pod));
            }
        }
        let pods = view.pods_on("").filter(|pod| is_to_be_scheduled(pod));
        pods.for_each(|pod| keys.add(pod.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(pod) = view.get(&PODS, key).filter(|pod| is_to_be_scheduled(pod)) else {
            return Plan::nothing();
        };
        let script = self.simulation.script(pod);
        if script.stays_pending {
            return Plan::nothing();
        }
        if script.is_unschedulable {
            let count = view.count(&NODES);
            let why = format!("{count} {SIMULATED}");
            return explain(pod, &message(count, &why), &self.usage, now);
        }
        let volumes = match Volumes::of(pod, view) {
            _ if script.ignores_missing => Volumes::default(),
            Ok(volumes) => volumes,
            Err(why) => {
                let message = message(view.count(&NODES), &why);
                return explain(pod, &message, &self.usage, now);
            }
        };
        let nodes = Nodes::new(pod, view, &self.usage, &volumes);
        let Some(node) = nodes.choose(pod, view, &self.usage) else {
            let explained = explain(pod, &nodes.message(), &self.usage, now);
            return match self.preempts {
                true => explained.and(preempt(pod, &nodes.full, view, &self.usage, now)),
                false => explained,
            };
        };
        if volumes.are_unbound() {
            return volumes.select(node);
        }
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
