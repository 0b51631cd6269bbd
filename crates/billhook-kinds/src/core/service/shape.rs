//! Which parts a service has, by its type.

use serde_json::Value;

use crate::values::{integer, items, text, value_at};

/// The address of a service that has none.
pub(super) const HEADLESS: &str = "None";

/// Whether it has addresses and IP families.
pub(super) fn has_addresses(service: &Value) -> bool {
    text(service, "/spec/type") != "ExternalName"
}

/// Whether it has no address, and clients find its pods by name.
pub(super) fn is_headless(service: &Value) -> bool {
    let addresses = items(service, "/spec/clusterIPs");
    matches!(addresses, [address] if address == HEADLESS)
        || addresses.is_empty() && text(service, "/spec/clusterIP") == HEADLESS
}

/// Whether it says which pods it is for.
pub(super) fn has_selector(service: &Value) -> bool {
    let selector = value_at(service, "/spec/selector").and_then(Value::as_object);
    selector.is_some_and(|selector| !selector.is_empty())
}

/// Whether it is one of a load balancer.
pub(super) fn is_load_balancer(service: &Value) -> bool {
    text(service, "/spec/type") == "LoadBalancer"
}

/// Whether nodes can have ports for it.
pub(super) fn has_node_ports(service: &Value) -> bool {
    matches!(text(service, "/spec/type"), "NodePort" | "LoadBalancer")
}

/// Whether its ports get a port of the nodes.
pub(super) fn allocates_node_ports(service: &Value) -> bool {
    let refuses = value_at(service, "/spec/allocateLoadBalancerNodePorts") == Some(&false.into());
    has_node_ports(service) && !(is_load_balancer(service) && refuses)
}

/// Whether the nodes have a port for it where a load balancer asks for their health.
pub(super) fn has_health_check_port(service: &Value) -> bool {
    is_load_balancer(service) && text(service, "/spec/externalTrafficPolicy") == "Local"
}

/// Whether traffic can come from outside.
pub(super) fn is_externally_accessible(service: &Value) -> bool {
    has_node_ports(service)
        || text(service, "/spec/type") == "ClusterIP"
            && !items(service, "/spec/externalIPs").is_empty()
}

/// The port of the nodes for a port; 0 if absent.
pub(super) fn node_port(port: &Value) -> i64 {
    integer(port, "/nodePort").unwrap_or_default()
}

/// The port of the nodes for checks of their health; 0 if absent.
pub(super) fn health_check_port(service: &Value) -> i64 {
    integer(service, "/spec/healthCheckNodePort").unwrap_or_default()
}
