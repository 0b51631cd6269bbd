//! The simulated scheduler (CP-100, CP-101).

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::UserInfo;
use serde_json::json;

use super::script::Script;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::scheduling::{selects, untolerated};
use crate::view::{Change, View};

/// Binds pods to nodes.
pub struct Scheduler {
    account: Account,
    script: Arc<dyn Fn(&Object) -> Script + Send + Sync>,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Creates a scheduler that asks for the script of each pod.
    pub fn new(script: Arc<dyn Fn(&Object) -> Script + Send + Sync>) -> Self {
        let user = UserInfo::named("system:kube-scheduler").group("system:authenticated");
        Scheduler { account: Account::new(user, "kube-scheduler"), script }
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
            let pods = view.all(&PODS).filter(|pod| is_to_be_scheduled(pod));
            pods.for_each(|pod| keys.add(pod.key()));
        }
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let pod = view.get(&PODS, key).filter(|pod| is_to_be_scheduled(pod));
        let Some(pod) = pod.filter(|pod| !(self.script)(pod).stays_pending) else {
            return Plan::nothing();
        };
        let Some(node) = choose(pod, view) else { return Plan::nothing() };
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

fn is_to_be_scheduled(pod: &Object) -> bool {
    pod.text("/spec/nodeName").is_empty()
        && !pod.is_deleting()
        && pod.list("/spec/schedulingGates").is_empty()
        && pod.text("/spec/schedulerName") == NAME
}

/// Returns the node for a pod: one of those that admit it, which the age of the pod decides.
fn choose<'v>(pod: &Object, view: &'v View) -> Option<&'v Arc<Object>> {
    let (spec, tolerations) = (pod.get("/spec"), pod.list("/spec/tolerations"));
    let admits = |node: &&Arc<Object>| {
        node.get("/spec/unschedulable").as_bool() != Some(true)
            && untolerated(node, &["NoSchedule", "NoExecute"], tolerations).is_none()
            && selects(spec, node)
    };
    let nodes: Vec<_> = view.all(&NODES).filter(admits).collect();
    let count = u64::try_from(nodes.len()).unwrap_or(u64::MAX);
    let chosen = usize::try_from(pod.created().checked_rem(count)?).ok()?;
    nodes.get(chosen).copied()
}
