//! Endpoints: the addresses of the pods of a service, by ports (CP-71).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::ports::{Port, ports_on};
use super::services::{
    TRIGGER_TIME, add_services, address, families, has_endpoint, hostname, labels, pods,
    publishes_unready, reference, selector,
};
use super::trigger_times::TriggerTimes;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::{remove, set};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_ready;
use crate::request::Request;
use crate::resource::{ENDPOINTS, PODS, Resource, SERVICES};
use crate::view::{Change, View};

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
const CAPACITY: usize = 1000;

/// Writes the Endpoints of services that have a selector.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    trigger_times: TriggerTimes,
}

impl Controller for Endpoints {
    fn name(&self) -> &'static str {
        "endpoints-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.event_source())
    }

    fn event_source(&self) -> &'static str {
        "endpoint-controller"
    }

    fn max_tries(&self) -> Option<u32> {
        Some(15)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&SERVICES, &PODS, &ENDPOINTS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if !change.is_of(&ENDPOINTS) {
            return add_services(change, view, keys);
        }
        let object = change.object().filter(|it| view.get(&SERVICES, it.key()).is_some());
        object.into_iter().for_each(|object| keys.add(object.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let known = view.get(&ENDPOINTS, key);
        let Some(service) = view.get(&SERVICES, key) else {
            self.trigger_times.forget(key);
            let delete = Request::delete(&ENDPOINTS, key, &Value::Null);
            return known
                .map_or_else(Plan::nothing, |_| Plan::nothing().try_request(delete, &[404]));
        };
        let Some(selector) = selector(service) else { return Plan::nothing() };
        let pods = pods(view, service, &selector);
        let trigger_time = self.trigger_times.next(service, &pods);
        let Subsets { by_ports, is_truncated } = Subsets::of_pods(service, &pods);
        let mut wanted = known.map_or_else(
            || json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": service.name()}}),
            |known| known.copy(),
        );
        let mut labels = labels(service);
        labels.insert(MANAGED_BY.to_owned(), self.event_source().into());
        set(&mut wanted, &["metadata", "labels"], labels.into());
        remove(&mut wanted, &["metadata", "annotations", OVER_CAPACITY]);
        if is_truncated {
            set(&mut wanted, &["metadata", "annotations", OVER_CAPACITY], "truncated".into());
        }
        remove(&mut wanted, &["subsets"]);
        if !by_ports.is_empty() {
            set(&mut wanted, &["subsets"], by_ports.into());
        }
        if known.is_some_and(|known| known.copy() == wanted) {
            return Plan::nothing();
        }
        remove(&mut wanted, &["metadata", "annotations", TRIGGER_TIME]);
        if let Some(time) = trigger_time {
            let time = time.to_rfc3339().into();
            set(&mut wanted, &["metadata", "annotations", TRIGGER_TIME], time);
        }
        write(service, known.is_some(), &wanted)
    }
}

/// Creates or replaces the Endpoints of a service, and tells about a failure.
fn write(service: &Arc<Object>, is_known: bool, endpoints: &Value) -> Plan {
    let (request, reason, doing) = match is_known {
        true => {
            let request = Request::update(&ENDPOINTS, service.key(), endpoints);
            (request, "FailedToUpdateEndpoint", "update")
        }
        false => {
            let request = Request::create(&ENDPOINTS, service.namespace(), endpoints);
            (request, "FailedToCreateEndpoint", "create")
        }
    };
    let service = Arc::clone(service);
    Plan::nothing().then(vec![request], move |outcomes| {
        let failed = outcomes.first().and_then(|it| Some((Plan::of_outcome(it)?, it.failure()?)));
        let Some((plan, failure)) = failed else { return Plan::nothing() };
        let key = service.key();
        let message = format!("Failed to {doing} endpoint for service {key}: {}", failure.message);
        // Events of this controller are about the Endpoints, which have the name of the service.
        Plan::nothing().event(Event::warning(&ENDPOINTS, &service, reason, message)).and(plan)
    })
}

/// The subsets of an Endpoints.
struct Subsets {
    by_ports: Vec<Value>,
    is_truncated: bool,
}

/// The addresses of pods with the same ports: those that are ready, and the others.
#[derive(Default)]
struct Addresses {
    ready: Vec<Value>,
    unready: Vec<Value>,
}

impl Subsets {
    fn of_pods(service: &Object, pods: &[&Arc<Object>]) -> Self {
        let publishes_unready = publishes_unready(service);
        let mut by_ports: BTreeMap<Vec<Port>, Addresses> = BTreeMap::new();
        for pod in pods {
            if !has_endpoint(pod) || pod.is_deleting() && !publishes_unready {
                continue;
            }
            let mut ports = ports_on(service, pod);
            if ports.is_empty() && !service.list("/spec/ports").is_empty() {
                continue;
            }
            let Some(address) = address_of(pod, service) else { continue };
            ports.sort_by(|left, right| {
                (left.number, &left.protocol).cmp(&(right.number, &right.protocol))
            });
            let addresses = by_ports.entry(ports).or_default();
            match publishes_unready || is_ready(pod) {
                true => addresses.ready.push(address),
                false => addresses.unready.push(address),
            }
        }
        let is_truncated = truncate(&mut by_ports);
        let by_ports = by_ports.into_iter().map(|(ports, addresses)| {
            let mut subset = Map::new();
            let ports = ports.iter().map(Port::of_subset).collect();
            for (name, list) in [
                ("addresses", addresses.ready),
                ("notReadyAddresses", addresses.unready),
                ("ports", ports),
            ] {
                if !list.is_empty() {
                    subset.insert(name.to_owned(), list.into());
                }
            }
            Value::Object(subset)
        });
        Subsets { by_ports: by_ports.collect(), is_truncated }
    }
}

fn address_of(pod: &Object, service: &Object) -> Option<Value> {
    let family = families(service).into_iter().next()?.to_owned();
    let mut address = json!({
        "ip": address(pod, &family)?, "nodeName": pod.get("/spec/nodeName"),
        "targetRef": reference(pod),
    });
    if let Some(hostname) = hostname(pod, service) {
        set(&mut address, &["hostname"], hostname.into());
    }
    Some(address)
}

/// Takes away what is too much, those first that are not ready. Returns whether there was any.
fn truncate(by_ports: &mut BTreeMap<Vec<Port>, Addresses>) -> bool {
    let mut room = CAPACITY;
    let mut is_truncated = false;
    let mut cut = |list: &mut Vec<Value>| {
        is_truncated |= list.len() > room;
        list.truncate(room);
        room = room.saturating_sub(list.len());
    };
    by_ports.values_mut().for_each(|addresses| cut(&mut addresses.ready));
    by_ports.values_mut().for_each(|addresses| cut(&mut addresses.unready));
    by_ports.retain(|_, it| !(it.ready.is_empty() && it.unready.is_empty()));
    is_truncated
}
