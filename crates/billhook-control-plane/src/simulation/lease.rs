//! The leases by which simulated nodes say that they are there (CP-102).

use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::UserInfo;
use serde_json::{Value, json};

use super::node::{account, user};
use crate::account::Account;
use crate::clock::{Clock, Timestamp};
use crate::controller::{Controller, Keys};
use crate::controllers::is_simulated;
use crate::document::set;
use crate::namespaces::NODE_LEASES;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{LEASES, NAMESPACES, NODES, Resource};
use crate::view::{Change, View};

/// How often a lease is renewed, and how long it counts.
const PERIOD: Duration = Duration::from_secs(10);
const DURATION: u64 = 40;

/// Renews the leases of simulated nodes: every ten seconds by the clock of the machine; in virtual time when
/// nodes change and when as much time has passed as was asked for, so that idle time costs nothing.
#[derive(Debug)]
pub(crate) struct Leases {
    account: Account,
    clock: Clock,
}

impl Leases {
    pub(crate) const NAME: &str = "kubelet-leases";

    pub(crate) fn new(manager: &str, clock: Clock) -> Self {
        Leases { account: account(manager, "node-0"), clock }
    }
}

impl Controller for Leases {
    fn name(&self) -> &'static str {
        Leases::NAME
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
        let Some(node) = node.filter(|_| view.get(&NAMESPACES, NODE_LEASES).is_some()) else {
            return Plan::nothing();
        };
        let key = format!("{NODE_LEASES}/{name}");
        let lease = view.get(&LEASES, &key);
        let renewed = lease.and_then(|lease| lease.time("/spec/renewTime"));
        let left = renewed.map_or(Duration::ZERO, |renewed| renewed.plus(PERIOD).since(now));
        let plan = match self.clock.is_virtual() {
            true => Plan::nothing(),
            false => Plan::nothing().again_after(if left.is_zero() { PERIOD } else { left }),
        };
        match lease {
            _ if !left.is_zero() => plan,
            Some(lease) => {
                let mut renewed = lease.copy();
                set(&mut renewed, &["spec", "renewTime"], now.to_rfc3339_micros().into());
                plan.try_request(Request::update(&LEASES, &key, &renewed), &[404, 409])
            }
            None => {
                plan.try_request(Request::create(&LEASES, NODE_LEASES, &new(node, now)), &[409])
            }
        }
    }
}

fn new(node: &Arc<Object>, now: Timestamp) -> Value {
    let owner = json!({
        "apiVersion": NODES.api_version(), "kind": NODES.kind, "name": node.name(), "uid": node.uid(),
    });
    json!({
        "apiVersion": LEASES.api_version(), "kind": LEASES.kind,
        "metadata": {"name": node.name(), "namespace": NODE_LEASES, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": node.name(), "leaseDurationSeconds": DURATION,
            "renewTime": now.to_rfc3339_micros(),
        },
    })
}
