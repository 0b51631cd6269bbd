//! EndpointSlices of services (CP-70).

use std::sync::Arc;

use serde_json::{Value, json};

use super::placement::{Common, Group, Groups, sorted};
use super::ports::ports_on;
use super::services::{
    TRIGGER_TIME, add_services, address, families, has_endpoint, hostname, labels, pods,
    publishes_unready, reference, selector,
};
use super::trigger_times::TriggerTimes;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::pods::is_ready;
use crate::request::Outcome;
use crate::resource::{ENDPOINT_SLICES, NODES, PODS, Resource, SERVICES};
use crate::view::{Change, View};

/// The label with the name of the service of a slice.
pub(super) const SERVICE: &str = "kubernetes.io/service-name";
/// The label with the name of the controller of a slice.
pub(super) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY: usize = 100;

/// Writes the EndpointSlices of services that have a selector.
#[derive(Debug, Default)]
pub(crate) struct EndpointSlices {
    trigger_times: TriggerTimes,
}

impl Controller for EndpointSlices {
    fn name(&self) -> &'static str {
        "endpointslice-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn event_source(&self) -> &'static str {
        "endpoint-slice-controller"
    }

    fn max_tries(&self) -> Option<u32> {
        Some(15)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&SERVICES, &PODS, &ENDPOINT_SLICES]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if !change.is_of(&ENDPOINT_SLICES) {
            return add_services(change, view, keys);
        }
        for slice in change.objects().filter(|slice| is_managed_by(slice, MANAGER)) {
            let service = slice.labels().get(SERVICE).and_then(Value::as_str).unwrap_or_default();
            keys.add(&[slice.namespace(), "/", service].concat().into());
        }
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(service) = view.get(&SERVICES, key) else {
            self.trigger_times.forget(key);
            return Plan::nothing();
        };
        let Some(selector) = selector(service) else { return Plan::nothing() };
        let pods = pods(view, service, &selector);
        let trigger_time = self.trigger_times.next(service, &pods);
        let mut labels = labels(service);
        labels.insert(SERVICE.to_owned(), service.name().into());
        labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
        let trigger_time = trigger_time.map_or(Value::Null, |it| it.to_rfc3339().into());
        let common = Common {
            owner: service,
            reference: Owner { resource: &SERVICES, object: service }.reference(),
            labels: labels.into(),
            annotations: vec![(TRIGGER_TIME.to_owned(), trigger_time)],
            capacity: CAPACITY,
        };
        let requests =
            common.requests(slices(view, service, MANAGER), groups(view, service, &pods));
        let service = Arc::clone(service);
        Plan::nothing().then(requests, move |outcomes| {
            let failures = outcomes.iter().filter_map(|it| Some((Plan::of_outcome(it)?, it)));
            failures.map(|(plan, it)| failed(&service, it).and(plan)).next().unwrap_or_default()
        })
    }
}

/// Returns the slices of an object that a controller has made.
pub(super) fn slices(view: &View, object: &Object, manager: &str) -> Vec<Arc<Object>> {
    let slices = view.list(&ENDPOINT_SLICES, object.namespace());
    let is_of_object = |slice: &&Arc<Object>| {
        slice.labels().get(SERVICE).is_some_and(|it| it == object.name())
            && is_managed_by(slice, manager)
            && !slice.is_deleting()
    };
    slices.filter(is_of_object).cloned().collect()
}

/// Returns whether a slice is one of a controller.
pub(super) fn is_managed_by(slice: &Object, manager: &str) -> bool {
    slice.labels().get(MANAGED_BY).is_some_and(|it| it == manager)
}

fn failed(service: &Arc<Object>, outcome: &Outcome) -> Plan {
    let why = outcome.failure().map(|failure| failure.message).unwrap_or_default();
    let message = format!("Error updating Endpoint Slices for Service {}: {why}", service.key());
    let reason = "FailedToUpdateEndpointSlices";
    Plan::nothing().event(Event::warning(&SERVICES, service, reason, message))
}

/// Returns the endpoints of a service by family and ports; an empty group for a family without any.
fn groups(view: &View, service: &Object, pods: &[&Arc<Object>]) -> Groups {
    let mut groups = Groups::new();
    for family in families(service) {
        let mut is_empty = true;
        for pod in pods.iter().filter(|pod| has_endpoint(pod)) {
            let Some(address) = address(pod, family) else { continue };
            let ports = ports_on(service, pod);
            let key = (family.to_owned(), sorted(ports.clone()));
            let group = groups.entry(key).or_insert_with(|| Group { ports, ..Group::default() });
            group.endpoints.push(endpoint(view, service, pod, address));
            is_empty = false;
        }
        if is_empty {
            groups.insert((family.to_owned(), Vec::new()), Group::default());
        }
    }
    groups
}

fn endpoint(view: &View, service: &Object, pod: &Object, address: &str) -> Value {
    let (is_serving, is_terminating) = (is_ready(pod), pod.is_deleting());
    let is_ready = publishes_unready(service) || is_serving && !is_terminating;
    let mut endpoint = json!({
        "addresses": [address],
        "conditions": {
            "ready": is_ready, "serving": is_serving, "terminating": is_terminating,
        },
        "targetRef": reference(pod),
    });
    let node = pod.text("/spec/nodeName");
    if !node.is_empty() {
        set(&mut endpoint, &["nodeName"], node.into());
    }
    if let Some(zone) = view.get(&NODES, node).and_then(|node| node.labels().get(ZONE)) {
        set(&mut endpoint, &["zone"], zone.clone());
    }
    if let Some(hostname) = hostname(pod, service) {
        set(&mut endpoint, &["hostname"], hostname.into());
    }
    endpoint
}
