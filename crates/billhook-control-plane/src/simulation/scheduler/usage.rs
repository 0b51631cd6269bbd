//! The use of nodes by pods, counted with each change, so that scheduling a pod does not look at all
//! others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use billhook_apimachinery::Quantity;
use billhook_kinds::pod_requests;

use super::ports::{HostPort, host_ports};
use crate::object::Object;
use crate::pods::is_terminal;
use crate::view::Change;

/// The amounts and ports that are used on each node.
#[derive(Debug, Default)]
pub(super) struct Usage {
    nodes: Mutex<BTreeMap<String, Used>>,
}

/// The use of one node.
#[derive(Debug, Default)]
struct Used {
    pods: i64,
    amounts: BTreeMap<String, Quantity>,
    ports: BTreeMap<HostPort, usize>,
}

impl Usage {
    /// Counts a change of a pod. Returns whether a node has more room than before.
    pub(super) fn record(&self, change: &Change) -> bool {
        let counted = |pod: &&Object| !pod.text("/spec/nodeName").is_empty() && !is_terminal(pod);
        let before = change.before.as_deref().filter(counted);
        let after = change.after.as_deref().filter(counted);
        if before.map(|pod| pod.get("/spec")) == after.map(|pod| pod.get("/spec")) {
            return false;
        }
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pod) = before {
            let node = pod.text("/spec/nodeName");
            let left = nodes.get_mut(node).is_some_and(|used| used.remove(pod));
            if !left {
                nodes.remove(node);
            }
        }
        if let Some(pod) = after {
            nodes.entry(pod.text("/spec/nodeName").to_owned()).or_default().add(pod);
        }
        before.is_some()
    }

    /// Returns what keeps a pod from a node, in the words of the scheduler; empty if nothing does.
    pub(super) fn shortages(&self, pod: &Object, node: &Object) -> Vec<String> {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = Used::default();
        let used = nodes.get(node.name()).unwrap_or(&unused);
        let wanted = host_ports(pod);
        if wanted.iter().any(|port| used.ports.keys().any(|it| it.conflicts(port))) {
            return vec!["node(s) didn't have free ports for the requested pod ports".to_owned()];
        }
        // A node that does not say how much room it has is not limited.
        if !node.get("/status/allocatable").is_object() {
            return Vec::new();
        }
        let room = |name: &str| {
            let text = node.get("/status/allocatable").get(name).and_then(|it| it.as_str());
            text.and_then(|text| text.parse().ok()).unwrap_or_else(|| Quantity::from(0))
        };
        let mut shortages = Vec::new();
        if Quantity::from(used.pods.saturating_add(1)) > room("pods") {
            shortages.push("Too many pods".to_owned());
        }
        for (name, amount) in pod_requests(pod.get("/spec")) {
            let sum = used.amounts.get(&name).map_or(Some(amount.clone()), |it| it.plus(&amount));
            if amount.signum() > 0 && sum.is_none_or(|sum| sum > room(&name)) {
                shortages.push(format!("Insufficient {name}"));
            }
        }
        shortages
    }
}

impl Used {
    fn add(&mut self, pod: &Object) {
        self.pods = self.pods.saturating_add(1);
        for (name, amount) in pod_requests(pod.get("/spec")) {
            self.change(name, &amount);
        }
        for port in host_ports(pod) {
            let count = self.ports.entry(port).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns whether other pods are left.
    fn remove(&mut self, pod: &Object) -> bool {
        self.pods = self.pods.saturating_sub(1);
        for (name, amount) in pod_requests(pod.get("/spec")) {
            self.change(name, &amount.negated());
        }
        for port in host_ports(pod) {
            if let Some(count) = self.ports.get_mut(&port) {
                *count = count.saturating_sub(1);
            }
        }
        self.ports.retain(|_, count| *count > 0);
        self.pods > 0
    }

    fn change(&mut self, name: String, by: &Quantity) {
        let amount = self.amounts.entry(name).or_insert_with(|| Quantity::from(0));
        if let Some(sum) = amount.plus(by) {
            *amount = sum;
        }
    }
}
