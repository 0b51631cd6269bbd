//! How long kubelets may keep what they have read, by the size of the cluster (CP-87).

use serde_json::json;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, Resource};
use crate::view::{Change, View};

const TTL: &str = "node.alpha.kubernetes.io/ttl";
/// Up to how many nodes a cluster has for so many seconds.
const SIZES: [(usize, &str); 4] = [(100, "0"), (500, "15"), (1000, "30"), (2000, "60")];
const LARGEST: &str = "300";

#[derive(Debug)]
pub(crate) struct NodeTtl;

impl Controller for NodeTtl {
    fn name(&self) -> &'static str {
        "ttl-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES]
    }

    /// A node that comes or goes may concern all others.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        let count = view.count(&NODES);
        let before = match (&change.before, &change.after) {
            (None, Some(_)) => count.saturating_sub(1),
            (Some(_), None) => count.saturating_add(1),
            _ => count,
        };
        if ttl(before) != ttl(count) {
            view.all(&NODES).for_each(|node| keys.add(node.key()));
        }
        keys.add_changed(change, &NODES);
    }

    fn sync(&self, name: &str, view: &View, _: Timestamp) -> Plan {
        let Some(node) = view.get(&NODES, name) else { return Plan::nothing() };
        let wanted = ttl(view.count(&NODES));
        if node.annotation(TTL) == Some(wanted) {
            return Plan::nothing();
        }
        let patch = json!({"metadata": {"annotations": {TTL: wanted}}});
        Plan::nothing().try_request(Request::patch(&NODES, name, &patch), &[404])
    }
}

fn ttl(nodes: usize) -> &'static str {
    SIZES.iter().find(|(size, _)| nodes <= *size).map_or(LARGEST, |(_, seconds)| seconds)
}
