//! The status of pods (BK-108).

use std::collections::BTreeSet;
use std::net::IpAddr;

use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::checks::{forbid, ip, member, member_text, name_of, subdomain_member};
use super::edition::EDITIONS;
use super::resources::is_sidecar;
use crate::behavior::WriteContext;
use crate::rules::{immutable, invalid, qualified_name};
use crate::values::{integer, items, members, path, text, value_at};

/// Checks an update of the status of a pod.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    pod: &Value,
    old: &Value,
    context: &WriteContext<'_>,
) {
    let Some(status) = pod.get("status") else { return };
    let kubernetes = context.kubernetes;
    for (index, condition) in items(status, "/conditions").iter().enumerate() {
        let path = path(&["status", "conditions"]).index(index).name("Type");
        qualified_name(errors, &path, text(condition, "/type"), kubernetes);
    }
    nominated_node(errors, pod, old, kubernetes);
    let policy = text(old, "/spec/restartPolicy");
    restarts(errors, status, old, "containerStatuses", policy);
    restarts(errors, status, old, "initContainerStatuses", policy);
    restarts(errors, status, old, "ephemeralContainerStatuses", "Never");
    claims(errors, pod, status);
    extended_resources(errors, pod, status);
    addresses(errors, status, "podIPs", kubernetes);
    addresses(errors, status, "hostIPs", kubernetes);
    let class = path(&["status", "qosClass"]);
    let before = value_at(old, "/status/qosClass");
    immutable(errors, &class, status.get("qosClass"), before);
    if let Some(number) =
        integer(status, "/observedGeneration").filter(|generation| *generation < 0)
    {
        let path = path(&["status", "observedGeneration"]);
        invalid(errors, &path, number, ["must be a non-negative integer"]);
    }
}

/// The claims of devices that were made for the pod.
fn claims(errors: &mut Vec<FieldError>, pod: &Value, status: &Value) {
    let named: BTreeSet<&str> = items(pod, "/spec/resourceClaims").iter().map(name_of).collect();
    let statuses = items(status, "/resourceClaimStatuses");
    let mut seen = BTreeSet::new();
    for (index, claim) in statuses.iter().enumerate() {
        let path = path(&["status", "resourceClaimStatuses"]).index(index);
        let (at, name) = (path.clone().name("name"), name_of(claim));
        if !named.contains(name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            invalid(errors, &at, name, [detail]);
        }
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at, name));
        }
        subdomain_member(errors, &path, claim, "resourceClaimName");
    }
}

/// The claim that was made for extended resources of containers.
fn extended_resources(errors: &mut Vec<FieldError>, pod: &Value, status: &Value) {
    let Some(claim) = member(status, "extendedResourceClaimStatus") else { return };
    let list = path(&["status", "extendedResourceClaimStatus", "requestMappings"]);
    let mappings = items(claim, "/requestMappings");
    if mappings.is_empty() {
        let detail = "at least one request mapping is required";
        errors.push(FieldError::required(list.clone(), detail));
    }
    let containers =
        items(pod, "/spec/initContainers").iter().chain(items(pod, "/spec/containers"));
    let names: BTreeSet<&str> = containers.clone().map(name_of).collect();
    let requested: BTreeSet<&str> = containers
        .flat_map(|container| members(container, "/resources/requests"))
        .map(|(name, _)| name)
        .collect();
    for (index, mapping) in mappings.iter().enumerate() {
        let path = list.clone().index(index);
        let (container, resource) =
            (text(mapping, "/containerName"), text(mapping, "/resourceName"));
        if !requested.contains(resource) {
            let detail = "must match the extended resource name of an entry in \
                          spec.initContainers.resources.requests or spec.containers.resources.requests";
            invalid(errors, &path.clone().name("resourceName"), resource, [detail]);
        }
        if !names.contains(container) {
            let detail = "must match the name of an entry in spec.initContainers.name or \
                          spec.containers.name";
            invalid(errors, &path.name("containerName"), container, [detail]);
        }
    }
}

fn nominated_node(
    errors: &mut Vec<FieldError>,
    pod: &Value,
    old: &Value,
    kubernetes: KubernetesVersion,
) {
    let Some(status) = pod.get("status") else { return };
    let Some(name) = member_text(status, "nominatedNodeName") else { return };
    subdomain_member(errors, &path(&["status"]), status, "nominatedNodeName");
    let is_changed = name != text(old, "/status/nominatedNodeName");
    let is_bound = !text(pod, "/spec/nodeName").is_empty();
    if is_changed && is_bound && EDITIONS.of(kubernetes).refuses_late_nominations {
        let detail = "may not be set on pods that are already bound to a node";
        forbid(errors, path(&["status", "nominatedNodeName"]), detail);
    }
}

/// A container that has ended runs again only if its policy says so.
fn restarts(errors: &mut Vec<FieldError>, status: &Value, old: &Value, list: &str, policy: &str) {
    if policy == "Always" {
        return;
    }
    let is_init = list == "initContainerStatuses";
    for stored in items(old, &format!("/status/{list}")) {
        let Some(end) = value_at(stored, "/state/terminated").filter(|end| !end.is_null()) else {
            continue;
        };
        let failed = integer(end, "/exitCode").unwrap_or_default() != 0;
        let restarts_by_itself = restarts_by_itself(old, name_of(stored), is_init, failed);
        if failed && policy == "OnFailure" || restarts_by_itself {
            continue;
        }
        let found = items(status, list).iter().enumerate();
        for (index, now) in found.filter(|(_, now)| name_of(now) == name_of(stored)) {
            if value_at(now, "/state/terminated").is_none_or(Value::is_null) {
                let path = path(&["status", list]).index(index).name("state");
                forbid(errors, path, "may not be transitioned to non-terminated state");
            }
        }
    }
}

/// Whether a container has a policy of its own by which it is restarted, after a failure or any end.
fn restarts_by_itself(pod: &Value, name: &str, is_init: bool, failed: bool) -> bool {
    let list = if is_init { "/spec/initContainers" } else { "/spec/containers" };
    let mut same = items(pod, list).iter().filter(|container| name_of(container) == name);
    same.next().is_some_and(|container| {
        is_sidecar(container)
            || (failed && text(container, "/restartPolicy") == "OnFailure")
            || !items(container, "/restartPolicyRules").is_empty()
    })
}

/// Addresses: at most one of each family.
fn addresses(
    errors: &mut Vec<FieldError>,
    status: &Value,
    list: &str,
    kubernetes: KubernetesVersion,
) {
    let entries = items(status, list);
    let at = path(&["status", list]);
    let address = |entry: &Value| text(entry, "/ip").to_owned();
    let before = errors.len();
    for (index, entry) in entries.iter().enumerate() {
        ip(errors, &at.clone().index(index).name("ip"), &address(entry), kubernetes);
    }
    let mut seen = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        if !seen.insert(address(entry)) {
            errors.push(FieldError::duplicate(at.clone().index(index), entry.clone()));
        }
    }
    if list == "hostIPs"
        && let Some(first) = entries.first()
        && address(first) != text(status, "/hostIP")
    {
        let detail = "must be equal to `hostIP`";
        invalid(errors, &at.clone().index(0).name("ip"), address(first), [detail]);
    }
    let families = |is_v6: bool| {
        let parsed = entries.iter().filter_map(|entry| address(entry).parse::<IpAddr>().ok());
        parsed.filter(|ip| ip.is_ipv6() == is_v6).count()
    };
    if errors.len() == before && (families(false) > 1 || families(true) > 1) {
        let values: Vec<String> = entries.iter().map(address).collect();
        invalid(errors, &at, values, ["may specify no more than one IP for each IP family"]);
    }
}
