//! Each active namespace has the certificate of the cluster (CP-26).

use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::namespaces::{add_namespaces, is_active};
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CONFIG_MAPS, NAMESPACES, Resource};
use crate::view::{Change, View};

/// The name of the config map.
const NAME: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "The certificate by which clients in the cluster know the API server.";

/// Publishes the certificate of the authority that has signed that of the server.
#[derive(Debug)]
pub struct RootCertificate {
    data: Value,
}

impl RootCertificate {
    /// Publishes a certificate in PEM.
    pub fn new(pem: &str) -> Self {
        RootCertificate { data: json!({"ca.crt": pem}) }
    }
}

impl Controller for RootCertificate {
    fn name(&self) -> &'static str {
        "root-ca-certificate-publisher-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("root-ca-cert-publisher")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NAMESPACES, &CONFIG_MAPS]
    }

    /// Keys are names of namespaces.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        add_namespaces(change, NAME, keys);
    }

    fn sync(&self, namespace: &str, view: &View, _: Timestamp) -> Plan {
        if !is_active(view, namespace) {
            return Plan::nothing();
        }
        let key = format!("{namespace}/{NAME}");
        match view.get(&CONFIG_MAPS, &key) {
            None => {
                let metadata = json!({
                    "name": NAME, "namespace": namespace,
                    "annotations": {"kubernetes.io/description": DESCRIPTION},
                });
                let map = json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": self.data,
                });
                let create = Request::create(&CONFIG_MAPS, namespace, &map);
                Plan::nothing().try_request(create, &[409])
            }
            Some(map) if *map.get("/data") == self.data => Plan::nothing(),
            Some(map) => {
                let mut map = map.copy();
                if let Some(members) = map.as_object_mut() {
                    members.insert("data".to_owned(), self.data.clone());
                }
                Plan::nothing().request(Request::update(&CONFIG_MAPS, &key, &map))
            }
        }
    }
}
