//! The status of services of load balancers (BK-207).

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use super::shape;
use crate::ip::{AddressRules, parse_address};
use crate::rules;
use crate::values::{items, items_mut, path, set_missing, text};

const INGRESS: &str = "/status/loadBalancer/ingress";

/// Sets how traffic to an address is delivered.
pub(super) fn set_defaults(service: &mut Value) {
    if !shape::is_load_balancer(service) {
        return;
    }
    for ingress in items_mut(service, INGRESS) {
        if !text(ingress, "/ip").is_empty() {
            set_missing(ingress, "ipMode", "VIP");
        }
    }
}

/// Validates the status.
pub(super) fn validate(
    service: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let path = path(&["status", "loadBalancer", "ingress"]);
    let ingress = items(service, INGRESS);
    if !ingress.is_empty() && !shape::is_load_balancer(service) {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(path, detail));
        return;
    }
    let stored = old.map_or(&[][..], |old| items(old, INGRESS));
    let stored = stored.iter().map(|ingress| text(ingress, "/ip"));
    let rules = AddressRules::new(kubernetes, stored);
    for (index, ingress) in ingress.iter().enumerate() {
        let path = path.clone().index(index);
        validate_address(ingress, &path, &rules, errors);
        validate_host(ingress, &path, errors);
    }
}

fn validate_address(
    ingress: &Value,
    path: &FieldPath,
    rules: &AddressRules<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (address, mode) = (text(ingress, "/ip"), ingress.get("ipMode"));
    if !address.is_empty() {
        rules.address(errors, &path.clone().name("ip"), address);
    }
    let path = path.clone().name("ipMode");
    match (address, mode) {
        ("", Some(_)) => {
            let detail = "may not be specified when `ip` is not set";
            errors.push(FieldError::forbidden(path, detail));
        }
        ("", None) => {}
        (_, None) => {
            errors.push(FieldError::required(path, "must be specified when `ip` is set"));
        }
        (_, Some(mode)) => rules::one_of(errors, &path, text(mode, ""), &["Proxy", "VIP"]),
    }
}

/// Validates the name of a load balancer.
pub(crate) fn validate_host(ingress: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (host, path) = (text(ingress, "/hostname"), path.clone().name("hostname"));
    if host.is_empty() {
        return;
    }
    rules::named(errors, &path, host, names::dns1123_subdomain);
    if parse_address(host).is_some() {
        errors.push(FieldError::invalid(path, host, "must be a DNS name, not an IP address"));
    }
}
