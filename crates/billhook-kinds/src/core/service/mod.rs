//! Services (BK-200 to BK-207).

mod addresses;
mod allocation;
mod load_balancer;
mod ports;
mod shape;
mod update;
mod validation;

use std::collections::BTreeSet;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use serde_json::{Value, json};

pub use self::allocation::{AllocatedByServices, AllocationError, ServiceAllocator, ServiceRanges};
pub(crate) use self::load_balancer::validate_host;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::{integer, items, items_mut, object_mut, section, set_missing, text};

/// How long a client stays with a pod if nothing else is said, in seconds.
const AFFINITY_SECONDS: i64 = 10_800;

/// The rules of services.
#[derive(Debug)]
pub(crate) struct Service;

impl Behavior for Service {
    fn set_defaults(&self, service: &mut Value, _: KubernetesVersion) {
        if let Some(spec) = section(service, "spec") {
            spec.entry("type").or_insert_with(|| "ClusterIP".into());
            spec.entry("sessionAffinity").or_insert_with(|| "None".into());
        }
        set_affinity(service);
        set_policies(service);
        items_mut(service, "/spec/ports").iter_mut().for_each(set_target);
        load_balancer::set_defaults(service);
    }

    fn prepare(&self, service: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        if !context.subresource.is_empty() {
            return;
        }
        match (old, &mut *service) {
            (None, Value::Object(members)) => {
                members.insert("status".to_owned(), json!({}));
                update::align_addresses(service, None);
            }
            (Some(old), _) => {
                update::align_addresses(service, Some(old));
                update::keep_allocated(service, old);
                update::clear_unused(service, old);
            }
            _ => {}
        }
        if !shape::has_addresses(service)
            && let Some(spec) = section(service, "spec")
        {
            spec.remove("internalTrafficPolicy");
        }
    }

    fn validate(
        &self,
        service: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        if context.subresource == "status" {
            load_balancer::validate(service, old, context.kubernetes, errors);
            return;
        }
        if let Some(old) = old {
            update::validate(service, old, errors);
        }
        validation::validate(service, old, context.kubernetes, errors);
        validation::warn(service, context.kubernetes, &mut found.warnings);
    }

    fn cells(&self, service: &Value, now: Time) -> Vec<Value> {
        let addresses = texts(service, "/spec/clusterIPs");
        vec![
            cells::name(service),
            cells::at(service, "/spec/type"),
            addresses.first().copied().unwrap_or("<none>").into(),
            external_addresses(service),
            cells::joined(&ports_of(service), "<none>"),
            cells::created(service, now),
            cells::labels(service, "/spec/selector"),
        ]
    }
}

fn set_affinity(service: &mut Value) {
    let affinity = text(service, "/spec/sessionAffinity").to_owned();
    let Some(spec) = section(service, "spec") else { return };
    match affinity.as_str() {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let config = spec.entry("sessionAffinityConfig").or_insert_with(|| json!({}));
            if let Some(client) = section(config, "clientIP") {
                client.entry("timeoutSeconds").or_insert_with(|| AFFINITY_SECONDS.into());
            }
        }
        _ => {}
    }
}

/// Traffic goes to the same port of the pods unless another one is given.
fn set_target(port: &mut Value) {
    let number = integer(port, "/port").unwrap_or_default();
    let target = port.get("targetPort").filter(|target| !target.is_null());
    let is_unset = target.is_none_or(|target| *target == 0 || *target == "");
    if let Value::Object(members) = port
        && is_unset
    {
        members.insert("targetPort".to_owned(), number.into());
    }
}

/// Sets where traffic from outside and inside may go.
fn set_policies(service: &mut Value) {
    let is_external = shape::is_externally_accessible(service);
    let has_known_type =
        matches!(text(service, "/spec/type"), "ClusterIP" | "NodePort" | "LoadBalancer");
    let is_load_balancer = shape::is_load_balancer(service);
    let Some(spec) = object_mut(service, "/spec") else { return };
    if is_external {
        set_missing(spec, "externalTrafficPolicy", "Cluster");
    }
    if has_known_type {
        set_missing(spec, "internalTrafficPolicy", "Cluster");
    }
    if is_load_balancer {
        set_missing(spec, "allocateLoadBalancerNodePorts", true);
    }
}

/// The texts of a list.
fn texts<'o>(object: &'o Value, place: &str) -> Vec<&'o str> {
    items(object, place).iter().map(|text| text.as_str().unwrap_or_default()).collect()
}

/// The cell of the addresses that are reached from outside.
fn external_addresses(service: &Value) -> Value {
    let external = texts(service, "/spec/externalIPs");
    match text(service, "/spec/type") {
        "ClusterIP" | "NodePort" => cells::joined(&external, "<none>"),
        "LoadBalancer" => {
            let balanced = load_balancer_addresses(service);
            let all: Vec<&str> = balanced.into_iter().chain(external).collect();
            cells::joined(&all, "<pending>")
        }
        "ExternalName" => cells::at(service, "/spec/externalName"),
        _ => "<unknown>".into(),
    }
}

/// Returns the addresses or names of a load balancer, in order.
pub(crate) fn load_balancer_addresses(object: &Value) -> BTreeSet<&str> {
    let address = |ingress| match text(ingress, "/ip") {
        "" => text(ingress, "/hostname"),
        address => address,
    };
    let addresses = items(object, "/status/loadBalancer/ingress").iter().map(address);
    addresses.filter(|address| !address.is_empty()).collect()
}

fn ports_of(service: &Value) -> Vec<String> {
    let show = |port: &Value| {
        let (number, protocol) = (integer(port, "/port").unwrap_or(0), text(port, "/protocol"));
        match shape::node_port(port) {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    };
    items(service, "/spec/ports").iter().map(show).collect()
}
