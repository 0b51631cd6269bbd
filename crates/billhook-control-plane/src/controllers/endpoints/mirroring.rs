//! Endpoints that were made by hand have EndpointSlices, too (CP-71).

use std::sync::Arc;

use serde_json::{Value, json};

use super::placement::{Common, Group, Groups, sorted};
use super::ports::Port;
use super::services::{TRIGGER_TIME, family_of};
use super::slices::{MANAGED_BY, SERVICE, is_managed_by, slices};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{ENDPOINT_SLICES, ENDPOINTS, Resource, SERVICES};
use crate::view::{Change, View};

const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
const SKIP: &str = "endpointslice.kubernetes.io/skip-mirror";
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const CAPACITY: usize = 1000;

/// Mirrors the Endpoints of services that have no selector.
#[derive(Debug)]
pub(crate) struct Mirroring;

impl Controller for Mirroring {
    fn name(&self) -> &'static str {
        "endpointslice-mirroring-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("endpointslicemirroring-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&ENDPOINTS, &SERVICES, &ENDPOINT_SLICES]
    }

    /// The Endpoints, the service and the label of a slice have the same name.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if keys.add_changed(change, &ENDPOINTS) || keys.add_changed(change, &SERVICES) {
            return;
        }
        for slice in change.objects().filter(|slice| is_managed_by(slice, MANAGER)) {
            let name = slice.labels().get(SERVICE).and_then(Value::as_str).unwrap_or_default();
            keys.add(&[slice.namespace(), "/", name].concat().into());
        }
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(endpoints) = view.get(&ENDPOINTS, key) else { return Plan::nothing() };
        let known = slices(view, endpoints, MANAGER);
        let has_no_selector = |service: &Object| !service.get("/spec/selector").is_object();
        let is_mirrored = is_hand_made(endpoints)
            && view.get(&SERVICES, key).is_some_and(|service| has_no_selector(service));
        let requests: Vec<Request> = if is_mirrored {
            common(endpoints).requests(known, groups(endpoints))
        } else {
            known.iter().map(|slice| Request::delete_seen(&ENDPOINT_SLICES, slice)).collect()
        };
        requests.into_iter().fold(Plan::nothing(), |plan, it| plan.try_request(it, &[404]))
    }
}

/// Returns whether Endpoints are neither those of another controller nor a lock of a leader.
fn is_hand_made(endpoints: &Object) -> bool {
    let label = |name: &str| endpoints.labels().get(name).and_then(Value::as_str);
    label(SKIP) != Some("true")
        && label("endpoints.kubernetes.io/managed-by") != Some("endpoint-controller")
        && endpoints.annotation(LEADER).is_none()
}

fn common(endpoints: &Arc<Object>) -> Common<'_> {
    let mut labels = endpoints.labels().clone();
    labels.insert(SERVICE.to_owned(), endpoints.name().into());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
    let is_copied = |name: &str| name != LAST_APPLIED && name != TRIGGER_TIME;
    let annotations = endpoints.annotations().iter().filter(|(name, _)| is_copied(name));
    Common {
        owner: endpoints,
        reference: Owner { resource: &ENDPOINTS, object: endpoints }.reference(),
        labels: labels.into(),
        annotations: annotations.map(|(name, value)| (name.clone(), value.clone())).collect(),
        capacity: CAPACITY,
    }
}

/// Returns the addresses of Endpoints by family and ports.
fn groups(endpoints: &Object) -> Groups {
    let mut groups = Groups::new();
    for subset in endpoints.list("/subsets") {
        let list = |name: &str| subset.get(name).and_then(Value::as_array).into_iter().flatten();
        let ports: Vec<Port> = list("ports").map(Port::parse).collect();
        let ready = list("addresses").map(|address| (address, true));
        let unready = list("notReadyAddresses").map(|address| (address, false));
        for (address, is_ready) in ready.chain(unready) {
            let ip = address.get("ip").and_then(Value::as_str).unwrap_or_default();
            let Some(family) = family_of(ip) else { continue };
            let key = (family.to_owned(), sorted(ports.clone()));
            let group = groups.entry(key);
            let group = group.or_insert_with(|| Group { ports: ports.clone(), ..Group::default() });
            group.endpoints.push(endpoint(address, ip, is_ready));
        }
    }
    groups
}

fn endpoint(address: &Value, ip: &str, is_ready: bool) -> Value {
    let mut endpoint = json!({"addresses": [ip], "conditions": {"ready": is_ready}});
    for name in ["hostname", "nodeName", "targetRef"] {
        if let (Some(value), Some(members)) = (address.get(name), endpoint.as_object_mut()) {
            members.insert(name.to_owned(), value.clone());
        }
    }
    endpoint
}
