//! Updates of services: the fields that are kept, those that are cleared, and those that must stay
//! (BK-204, BK-205).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::FieldError;
use serde_json::{Map, Value};

use super::shape;
use crate::rules;
use crate::values::{items, items_mut, path, section, text, value_at};

/// Brings `clusterIPs` in line with `clusterIP` where only one of them was written.
pub(super) fn align_addresses(service: &mut Value, old: Option<&Value>) {
    let address = text(service, "/spec/clusterIP").to_owned();
    let addresses = items(service, "/spec/clusterIPs").to_vec();
    let old_address = old.map(|old| text(old, "/spec/clusterIP"));
    let is_old_list = old.is_some_and(|old| items(old, "/spec/clusterIPs") == addresses);
    let is_new_address = old_address.is_some_and(|old| old != address);
    let Some(spec) = section(service, "spec") else { return };
    if address.is_empty() {
        if is_old_list {
            spec.remove("clusterIPs");
        }
    } else if is_new_address && is_old_list || addresses.is_empty() {
        let stored = old.filter(|_| !is_new_address).map(|old| items(old, "/spec/clusterIPs"));
        let stored = stored.filter(|stored| !stored.is_empty());
        let list = stored.map_or_else(|| vec![address.into()], <[Value]>::to_vec);
        spec.insert("clusterIPs".to_owned(), list.into());
    }
}

/// Keeps what was allocated and is left out.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    if shape::has_addresses(old) && shape::has_addresses(service) {
        keep_members(service, old, &["clusterIP", "clusterIPs"]);
    }
    if shape::has_node_ports(old) && shape::has_node_ports(service) {
        keep_node_ports(service, old);
    }
    if shape::has_health_check_port(old) && shape::has_health_check_port(service) {
        keep_members(service, old, &["healthCheckNodePort"]);
    }
}

fn keep_members(service: &mut Value, old: &Value, names: &[&str]) {
    let Some(spec) = section(service, "spec") else { return };
    for name in names {
        if let Some(value) = old.get("spec").and_then(|spec| spec.get(*name)) {
            spec.entry(*name).or_insert_with(|| value.clone());
        }
    }
}

/// A port keeps the port of the nodes of the stored port of its name, unless another one took it.
fn keep_node_ports(service: &mut Value, old: &Value) {
    let stored = node_ports(old);
    let kept: BTreeSet<i64> = stored.intersection(&node_ports(service)).copied().collect();
    let by_name: BTreeMap<&str, i64> = items(old, "/spec/ports")
        .iter()
        .map(|port| (text(port, "/name"), shape::node_port(port)))
        .collect();
    for port in items_mut(service, "/spec/ports") {
        let stored = by_name.get(text(port, "/name")).copied().filter(|port| *port != 0);
        if let Some(stored) = stored.filter(|stored| !kept.contains(stored))
            && shape::node_port(port) == 0
            && let Value::Object(members) = port
        {
            members.insert("nodePort".to_owned(), stored.into());
        }
    }
}

/// The ports of the nodes that a service has.
fn node_ports(service: &Value) -> BTreeSet<i64> {
    let ports = items(service, "/spec/ports").iter().map(shape::node_port);
    ports.filter(|port| *port != 0).collect()
}

/// Clears what the new type has no use for, where the client left it unchanged.
pub(super) fn clear_unused(service: &mut Value, old: &Value) {
    let loses = |has: fn(&Value) -> bool, service: &Value| has(old) && !has(service);
    if loses(shape::has_addresses, service) {
        if is_same(service, old, "clusterIPs") {
            remove(service, &["clusterIP", "clusterIPs"]);
        }
        clear_unchanged(service, old, &["ipFamilies", "ipFamilyPolicy"]);
    }
    if loses(shape::has_node_ports, service) && node_ports(service) == node_ports(old) {
        for port in items_mut(service, "/spec/ports") {
            port.as_object_mut().and_then(|port| port.remove("nodePort"));
        }
    }
    if loses(shape::has_health_check_port, service) {
        clear_unchanged(service, old, &["healthCheckNodePort"]);
    }
    if loses(shape::is_load_balancer, service) {
        clear_unchanged(service, old, &["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
        if let Some(status) = section(service, "status") {
            status.insert("loadBalancer".to_owned(), Map::new().into());
        }
    }
    if loses(shape::is_externally_accessible, service) {
        clear_unchanged(service, old, &["externalTrafficPolicy"]);
    }
}

fn is_same(service: &Value, old: &Value, name: &str) -> bool {
    let of = |object: &Value| object.get("spec").and_then(|spec| spec.get(name)).cloned();
    of(service) == of(old)
}

fn clear_unchanged(service: &mut Value, old: &Value, names: &[&str]) {
    for name in names {
        if is_same(service, old, name) {
            remove(service, &[name]);
        }
    }
}

fn remove(service: &mut Value, names: &[&str]) {
    if let Some(spec) = section(service, "spec") {
        names.iter().for_each(|name| drop(spec.remove(*name)));
    }
}

/// Validates what must stay.
pub(super) fn validate(service: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if shape::has_addresses(old) && shape::has_addresses(service) {
        let released = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        let unset = "primary clusterIP can not be unset";
        validate_list(service, old, "clusterIPs", unset, released, errors);
        let is_free =
            shape::is_headless(old) && shape::is_headless(service) && !shape::has_selector(service);
        if !is_free {
            let released = "must be set to 'SingleStack' when releasing the secondary ipFamily";
            let unset = "primary ipFamily can not be unset";
            validate_list(service, old, "ipFamilies", unset, released, errors);
        }
    }
    if shape::is_load_balancer(old)
        && shape::is_load_balancer(service)
        && !is_same(service, old, "loadBalancerClass")
    {
        let class = value_at(service, "/spec/loadBalancerClass").cloned().unwrap_or_default();
        let path = path(&["spec", "loadBalancerClass"]);
        errors.push(FieldError::invalid(path, class, "may not change once set"));
    }
    if shape::has_health_check_port(old)
        && shape::has_health_check_port(service)
        && !is_same(service, old, "healthCheckNodePort")
    {
        let path = path(&["spec", "healthCheckNodePort"]);
        errors.push(FieldError::forbidden(path, rules::IMMUTABLE));
    }
}

/// Validates a list whose elements stay, though a second one can come and go.
fn validate_list(
    service: &Value,
    old: &Value,
    name: &str,
    unset: &str,
    released: &str,
    errors: &mut Vec<FieldError>,
) {
    let place = format!("/spec/{name}");
    let (new, old) = (items(service, &place), items(old, &place));
    let mut refuse = |index, detail| {
        let path = path(&["spec", name]).index(index);
        errors.push(FieldError::invalid(path, new.to_vec(), detail));
    };
    if let Some(primary) = old.first() {
        match new.first() {
            None => refuse(0, unset),
            Some(first) if first != primary => refuse(0, "may not change once set"),
            Some(_) => {}
        }
    }
    if let Some(secondary) = old.get(1) {
        let policy = text(service, "/spec/ipFamilyPolicy");
        match new.get(1) {
            Some(second) if second != secondary => refuse(1, "may not change once set"),
            None if !new.is_empty() && policy != "SingleStack" => {
                let path = path(&["spec", "ipFamilyPolicy"]);
                errors.push(FieldError::invalid(path, policy, released));
            }
            _ => {}
        }
    }
}
