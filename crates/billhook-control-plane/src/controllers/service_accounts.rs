//! Each active namespace has a service account `default` (CP-25).

use serde_json::json;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::namespaces::{add_namespaces, is_active};
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NAMESPACES, Resource, SERVICE_ACCOUNTS};
use crate::view::{Change, View};

/// The name of the account.
const NAME: &str = "default";

#[derive(Debug)]
pub(crate) struct ServiceAccounts;

impl Controller for ServiceAccounts {
    fn name(&self) -> &'static str {
        "serviceaccount-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("service-account-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NAMESPACES, &SERVICE_ACCOUNTS]
    }

    /// Keys are names of namespaces.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        add_namespaces(change, NAME, keys);
    }

    fn sync(&self, namespace: &str, view: &View, _: Timestamp) -> Plan {
        let key = format!("{namespace}/{NAME}");
        if !is_active(view, namespace) || view.get(&SERVICE_ACCOUNTS, &key).is_some() {
            return Plan::nothing();
        }
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": namespace},
        });
        let create = Request::create(&SERVICE_ACCOUNTS, namespace, &account);
        Plan::nothing().try_request(create, &[409])
    }
}
