//! The simulated nodes (CP-111 to CP-114).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use billhook_apimachinery::UserInfo;
use serde_json::{Value, json};

use super::script::Script;
use super::status::{Address, exited, readiness, running};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::{is_ready, is_terminal};
use crate::request::Request;
use crate::resource::{NODES, PODS, Resource};
use crate::view::{Change, View};

/// Runs the pods of all nodes by scripts.
pub struct Kubelet {
    account: Account,
    script: Arc<dyn Fn(&Object) -> Script + Send + Sync>,
    /// How many pods have got an address.
    addresses: AtomicU32,
}

impl fmt::Debug for Kubelet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kubelet").finish_non_exhaustive()
    }
}

impl Kubelet {
    /// Creates the nodes' part that asks for the script of each pod, and whose fields have a manager.
    pub fn new(manager: &str, script: Arc<dyn Fn(&Object) -> Script + Send + Sync>) -> Self {
        let user = UserInfo::named("system:node:node-0")
            .group("system:nodes")
            .group("system:authenticated");
        Kubelet { account: Account::new(user, manager), script, addresses: AtomicU32::new(0) }
    }

    fn next_address(&self) -> Address {
        Address::nth(self.addresses.fetch_add(1, Ordering::Relaxed))
    }
}

/// The exit code of a container that is stopped.
const KILLED: i32 = 137;

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn account(&self) -> Account {
        self.account.clone()
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&PODS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        let pod = change.after.iter().filter(|pod| !pod.text("/spec/nodeName").is_empty());
        pod.for_each(|pod| keys.add(pod.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(pod) = view.get(&PODS, key) else { return Plan::nothing() };
        if view.get(&NODES, pod.text("/spec/nodeName")).is_none() {
            return Plan::nothing();
        }
        let script = (self.script)(pod);
        if pod.is_deleting() {
            return stop(pod, &script, now);
        }
        if is_terminal(pod) {
            return Plan::nothing();
        }
        let Some(started) = pod.time("/status/startTime") else {
            return write(pod, &running(pod, self.next_address(), &script, now));
        };
        if let Some(exit) = script.exit {
            let left = started.plus(exit.after).since(now);
            return match left.is_zero() {
                true => write(pod, &exited(pod, exit.code, now)),
                false => Plan::nothing().again_after(left),
            };
        }
        match is_ready(pod) == script.unready.is_none() {
            true => Plan::nothing(),
            false => write(pod, &readiness(pod, &script, now)),
        }
    }
}

/// Stops the containers of a pod that is being deleted, and lets it go (CP-114).
fn stop(pod: &Object, script: &Script, now: Timestamp) -> Plan {
    let is_gone = pod.int("/metadata/deletionGracePeriodSeconds") == Some(0);
    if script.ignores_deletion || is_gone {
        return Plan::nothing();
    }
    let code = script.exit.map_or(KILLED, |exit| exit.code);
    let stopped = match is_terminal(pod) {
        true => Plan::nothing(),
        false => write(pod, &exited(pod, code, now)),
    };
    let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid()}});
    stopped.try_request(Request::delete(&PODS, pod.key(), &options), &[404, 409])
}

/// Writes the status of a pod.
fn write(pod: &Object, status: &Value) -> Plan {
    let patch = json!({"metadata": {"uid": pod.uid()}, "status": status});
    Plan::nothing().try_request(Request::patch_in(&PODS, pod.key(), "status", &patch), &[404, 409])
}
