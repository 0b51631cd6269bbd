//! Services and their pods, as the controllers of endpoints ask for them.

use std::sync::Arc;

use billhook_apimachinery::label_selector::{LabelSelector, Selector};
use serde_json::{Map, Value, json};

use crate::controller::Keys;
use crate::object::Object;
use crate::pods::is_terminal;
use crate::resource::{PODS, SERVICES};
use crate::view::{Change, View};

const HEADLESS: &str = "service.kubernetes.io/headless";

/// The annotation with the time of the change that endpoints follow.
pub(super) const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// Returns the selector of a service; `None` if its endpoints are not found by a selector.
pub(super) fn selector(service: &Object) -> Option<Selector> {
    let labels = service.get("/spec/selector");
    if service.text("/spec/type") == "ExternalName" || !labels.is_object() {
        return None;
    }
    LabelSelector::from_value(&json!({"matchLabels": labels})).ok()?.parse().ok()
}

/// Adds the services that a change of a service or of a pod concerns.
pub(super) fn add_services(change: &Change, view: &View, keys: &mut Keys) {
    if keys.add_changed(change, &SERVICES) || !change.is_of(&PODS) {
        return;
    }
    let Some(pod) = change.object() else { return };
    let selects = |service: &&Arc<Object>| {
        let selector = selector(service);
        selector.is_some_and(|it| change.objects().any(|pod| it.matches(pod.labels())))
    };
    let services = view.list(&SERVICES, pod.namespace()).filter(selects);
    services.for_each(|service| keys.add(service.key()));
}

/// Returns the pods that a service selects.
pub(super) fn pods<'v>(
    view: &'v View,
    service: &Object,
    selector: &Selector,
) -> Vec<&'v Arc<Object>> {
    let pods = view.list(&PODS, service.namespace());
    pods.filter(|pod| selector.matches(pod.labels())).collect()
}

/// Returns whether a pod is to be among the endpoints: it has an address and has not ended.
pub(super) fn has_endpoint(pod: &Object) -> bool {
    !pod.text("/status/podIP").is_empty() && !is_terminal(pod)
}

/// Returns whether the endpoints of a service are ready before its pods are.
pub(super) fn publishes_unready(service: &Object) -> bool {
    service.get("/spec/publishNotReadyAddresses").as_bool() == Some(true)
}

/// Returns the families of addresses of a service, the first one first.
pub(super) fn families(service: &Object) -> Vec<&str> {
    let families = service.list("/spec/ipFamilies").iter().filter_map(Value::as_str);
    let families: Vec<_> = families.collect();
    if families.is_empty() { vec!["IPv4"] } else { families }
}

/// Returns the address that a pod has of a family.
pub(super) fn address<'p>(pod: &'p Object, family: &str) -> Option<&'p str> {
    let addresses = pod.list("/status/podIPs").iter();
    let addresses = addresses.filter_map(|it| it.get("ip").and_then(Value::as_str));
    let mut addresses = addresses.chain([pod.text("/status/podIP")]);
    addresses.find(|address| family_of(address) == Some(family))
}

/// Returns the family of an address.
pub(super) fn family_of(address: &str) -> Option<&'static str> {
    let address: std::net::IpAddr = address.parse().ok()?;
    Some(if address.is_ipv4() { "IPv4" } else { "IPv6" })
}

/// Returns the host name of a pod, if it is one in the domain of the service.
pub(super) fn hostname<'p>(pod: &'p Object, service: &Object) -> Option<&'p str> {
    let hostname = pod.text("/spec/hostname");
    let is_in_domain = pod.text("/spec/subdomain") == service.name();
    (is_in_domain && !hostname.is_empty()).then_some(hostname)
}

/// Returns a reference to a pod.
pub(super) fn reference(pod: &Object) -> Value {
    json!({
        "kind": PODS.kind, "namespace": pod.namespace(), "name": pod.name(), "uid": pod.uid(),
    })
}

/// Returns the labels of the endpoints of a service: its own ones, and whether it is headless.
pub(super) fn labels(service: &Object) -> Map<String, Value> {
    let mut labels = service.labels().clone();
    labels.remove(HEADLESS);
    if service.text("/spec/clusterIP") == "None" {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    labels
}
