//! Simulated kubelets renew the leases of their nodes (CP-102).

use std::time::Duration;

use billhook_apimachinery::UserInfo;
use serde_json::json;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::ownership::reference_to;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{LEASES, NODES, Resource};
use crate::view::{Change, View};

const NAMESPACE: &str = "kube-node-lease";
/// How long a lease counts. It is renewed as rarely as that allows, so that idle time costs little.
const DURATION: Duration = Duration::from_secs(40);

/// Renews the leases of the nodes that were registered.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    account: Account,
    nodes: Vec<String>,
}

impl Heartbeats {
    /// Renews the leases of nodes, as a manager of fields.
    pub(crate) fn new(manager: &str, nodes: Vec<String>) -> Self {
        let user = UserInfo::named("system:node:node-0")
            .group("system:nodes")
            .group("system:authenticated");
        Heartbeats { account: Account::new(user, manager), nodes }
    }
}

impl Controller for Heartbeats {
    fn name(&self) -> &'static str {
        "kubelet-heartbeats"
    }

    fn account(&self) -> Account {
        self.account.clone()
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NODES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        let node =
            change.after.as_ref().filter(|node| self.nodes.iter().any(|it| it == node.name()));
        node.into_iter().for_each(|node| keys.add(node.key()));
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let Some(node) = view.get(&NODES, name) else { return Plan::nothing() };
        let key = format!("{NAMESPACE}/{name}");
        let lease = view.get(&LEASES, &key);
        let renewed = lease.and_then(|lease| lease.time("/spec/renewTime"));
        let left = renewed.map_or(Duration::ZERO, |renewed| renewed.plus(DURATION).since(now));
        if !left.is_zero() {
            return Plan::nothing().again_after(left);
        }
        // A cluster may have no such namespace.
        let again = Plan::nothing().again_after(DURATION);
        again.try_request(renew(node, lease.map(|lease| &**lease), now), &[404, 409])
    }
}

fn renew(node: &Object, lease: Option<&Object>, now: Timestamp) -> Request {
    let mut wanted = match lease {
        Some(lease) => lease.copy(),
        None => json!({
            "apiVersion": LEASES.api_version(), "kind": LEASES.kind,
            "metadata": {
                "name": node.name(), "namespace": NAMESPACE,
                "ownerReferences": [reference_to(&NODES, node)],
            },
            "spec": {
                "holderIdentity": node.name(), "leaseDurationSeconds": DURATION.as_secs(),
            },
        }),
    };
    set(&mut wanted, &["spec", "renewTime"], now.to_rfc3339_micros().into());
    match lease {
        Some(lease) => Request::update(&LEASES, lease.key(), &wanted),
        None => Request::create(&LEASES, NAMESPACE, &wanted),
    }
}
