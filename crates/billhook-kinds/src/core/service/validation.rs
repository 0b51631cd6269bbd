//! The rules of the spec of a service, and its warnings (BK-206).

use billhook_apimachinery::{FieldError, KubernetesVersion, names};
use serde_json::Value;

use super::{addresses, ports, shape, texts};
use crate::edition::EDITIONS;
use crate::ip::{AddressRules, endpoint_address};
use crate::rules;
use crate::values::{integer, path, text, value_at};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

const POLICIES: [&str; 2] = ["Cluster", "Local"];

/// The annotation that asked for pods nearby.
const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";

/// The longest time that a client stays with a pod: a day.
const MAX_AFFINITY_SECONDS: i64 = 86_400;

/// Validates the spec, in the server's order.
pub(super) fn validate(
    service: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    if !shape::has_addresses(service) {
        validate_external_name(service, errors);
    }
    ports::validate(service, kubernetes, errors);
    let selector = value_at(service, "/spec/selector");
    rules::labels(errors, &path(&["spec", "selector"]), selector, kubernetes);
    validate_affinity(service, errors);
    addresses::validate(service, old, kubernetes, errors);
    validate_external_addresses(service, old, kubernetes, errors);
    rules::one_of(errors, &path(&["spec", "type"]), text(service, "/spec/type"), &TYPES);
    ports::validate_together(service, errors);
    validate_load_balancer(service, old, kubernetes, errors);
    validate_external_traffic(service, errors);
    if let Some(policy) = value_at(service, "/spec/internalTrafficPolicy") {
        let path = path(&["spec", "internalTrafficPolicy"]);
        rules::one_of(errors, &path, text(policy, ""), &POLICIES);
    }
    if let Some(distribution) = value_at(service, "/spec/trafficDistribution") {
        let path = path(&["spec", "trafficDistribution"]);
        rules::one_of(errors, &path, text(distribution, ""), distributions(kubernetes));
    }
}

/// The ways to prefer near endpoints (BK-770).
fn distributions(kubernetes: KubernetesVersion) -> &'static [&'static str] {
    if EDITIONS.of(kubernetes).prefers_same_zone {
        &["PreferClose", "PreferSameZone", "PreferSameNode"]
    } else {
        &["PreferClose"]
    }
}

fn validate_external_name(service: &Value, errors: &mut Vec<FieldError>) {
    for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if service.get("spec").and_then(|spec| spec.get(name)).is_some() {
            let detail = "may not be set for ExternalName services";
            errors.push(FieldError::forbidden(path(&["spec", name]), detail));
        }
    }
    let (name, path) = (text(service, "/spec/externalName"), path(&["spec", "externalName"]));
    match name.strip_suffix('.').unwrap_or(name) {
        "" if name.is_empty() => errors.push(FieldError::required(path, "")),
        name => rules::named(errors, &path, name, names::dns1123_subdomain),
    }
}

fn validate_affinity(service: &Value, errors: &mut Vec<FieldError>) {
    let affinity = text(service, "/spec/sessionAffinity");
    rules::one_of(errors, &path(&["spec", "sessionAffinity"]), affinity, &["ClientIP", "None"]);
    let seconds = integer(service, "/spec/sessionAffinityConfig/clientIP/timeoutSeconds");
    if let Some(seconds) = seconds.filter(|_| affinity == "ClientIP")
        && !(1..=MAX_AFFINITY_SECONDS).contains(&seconds)
    {
        let path = path(&["spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
        let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
        errors.push(FieldError::invalid(path, seconds, &detail));
    }
}

fn validate_external_addresses(
    service: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let place = "/spec/externalIPs";
    let stored = old.map(|old| texts(old, place)).unwrap_or_default();
    let rules = AddressRules::new(kubernetes, stored);
    for (index, address) in texts(service, place).into_iter().enumerate() {
        let path = path(&["spec", "externalIPs"]).index(index);
        let before = errors.len();
        rules.address(errors, &path, address);
        if errors.len() == before {
            endpoint_address(errors, &path, address);
        }
    }
}

/// Validates what only services of load balancers have.
fn validate_load_balancer(
    service: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let is_allowed = shape::is_load_balancer(service);
    let forbidden = |name| {
        let detail = "may only be used when `type` is 'LoadBalancer'";
        FieldError::forbidden(path(&["spec", name]), detail)
    };
    let place = "/spec/loadBalancerSourceRanges";
    let ranges = texts(service, place);
    if !ranges.is_empty() && !is_allowed {
        errors.push(forbidden("LoadBalancerSourceRanges"));
    }
    let stored = old.map(|old| texts(old, place)).unwrap_or_default();
    let rules_of_ranges = AddressRules::new(kubernetes, stored);
    for (index, range) in ranges.into_iter().enumerate() {
        let path = path(&["spec", "LoadBalancerSourceRanges"]).index(index);
        rules_of_ranges.range(errors, &path, range.trim());
    }
    if !is_allowed && value_at(service, "/spec/allocateLoadBalancerNodePorts").is_some() {
        errors.push(forbidden("allocateLoadBalancerNodePorts"));
    }
    if let Some(class) = value_at(service, "/spec/loadBalancerClass") {
        if is_allowed {
            let path = path(&["spec", "loadBalancerClass"]);
            rules::qualified_name(errors, &path, text(class, ""), kubernetes);
        } else {
            errors.push(forbidden("loadBalancerClass"));
        }
    }
}

/// Validates where traffic from outside may go, and the port for checks of nodes.
fn validate_external_traffic(service: &Value, errors: &mut Vec<FieldError>) {
    let policy = text(service, "/spec/externalTrafficPolicy");
    let policy_path = path(&["spec", "externalTrafficPolicy"]);
    match (shape::is_externally_accessible(service), policy) {
        (true, "") => errors.push(FieldError::required(policy_path, "")),
        (true, policy) => rules::one_of(errors, &policy_path, policy, &POLICIES),
        (false, "") => {}
        (false, policy) => {
            let detail = "may only be set for externally-accessible services";
            errors.push(FieldError::invalid(policy_path, policy, detail));
        }
    }
    let (port, path) = (shape::health_check_port(service), path(&["spec", "healthCheckNodePort"]));
    if port == 0 {
        return;
    }
    if shape::has_health_check_port(service) {
        rules::port(errors, &path, port);
    } else {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` \
            is 'Local'";
        errors.push(FieldError::invalid(path, port, detail));
    }
}

/// Warns of what has no effect, or soon has none.
pub(super) fn warn(service: &Value, kubernetes: KubernetesVersion, warnings: &mut Vec<String>) {
    let has_external_addresses = !texts(service, "/spec/externalIPs").is_empty();
    let mut warn = |warning: &str| warnings.push(warning.to_owned());
    let annotations = value_at(service, "/metadata/annotations");
    if annotations.is_some_and(|all| all.get(TOPOLOGY_HINTS).is_some()) {
        warn(
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
             service.kubernetes.io/topology-mode instead",
        );
    }
    if has_external_addresses && EDITIONS.of(kubernetes).deprecates_external_addresses {
        warn("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if shape::is_headless(service) {
        if !text(service, "/spec/loadBalancerIP").is_empty() {
            warn("spec.loadBalancerIP is ignored for headless services");
        }
        if has_external_addresses {
            warn("spec.externalIPs is ignored for headless services");
        }
        if text(service, "/spec/sessionAffinity") != "None" {
            warn("spec.SessionAffinity is ignored for headless services");
        }
    }
    if has_external_addresses && !shape::has_addresses(service) {
        warn("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if text(service, "/spec/trafficDistribution") == "PreferClose"
        && EDITIONS.of(kubernetes).prefers_same_zone
    {
        warn("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}
