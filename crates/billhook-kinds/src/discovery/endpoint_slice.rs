//! EndpointSlices (BK-210).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::ip::{AddressRules, canonical_address, endpoint_address, parse_address};
use crate::values::{integer, items, items_mut, path, set_missing, text};
use crate::{cells, rules};

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

const MAX_ENDPOINTS: usize = 1000;

const MAX_ADDRESSES: usize = 100;

const MAX_PORTS: usize = 20_000;

const MAX_HINTS: usize = 8;

/// The rules of EndpointSlices.
#[derive(Debug)]
pub(crate) struct EndpointSlice;

impl Behavior for EndpointSlice {
    fn set_defaults(&self, slice: &mut Value, _: KubernetesVersion) {
        for port in items_mut(slice, "/ports") {
            set_missing(port, "name", "");
            set_missing(port, "protocol", "TCP");
        }
    }

    /// The topology is a field of older versions of the API.
    fn prepare(&self, slice: &mut Value, _: Option<&Value>, _: &WriteContext<'_>) {
        for endpoint in items_mut(slice, "/endpoints") {
            endpoint.as_object_mut().and_then(|endpoint| endpoint.remove("deprecatedTopology"));
        }
    }

    fn validate(
        &self,
        slice: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let kind = text(slice, "/addressType");
        match kind {
            "" => errors.push(FieldError::required(path(&["addressType"]), "")),
            kind => rules::one_of(errors, &path(&["addressType"]), kind, &ADDRESS_TYPES),
        }
        validate_ports(slice, context.kubernetes, errors);
        let stored = old.map(addresses).unwrap_or_default();
        let rules_of_addresses = AddressRules::new(context.kubernetes, stored);
        validate_endpoints(slice, &rules_of_addresses, errors);
        if let Some(old) = old
            && text(old, "/addressType") != kind
        {
            let path = path(&["addressType"]);
            errors.push(FieldError::invalid(path, kind, rules::IMMUTABLE));
        }
        if kind == "FQDN" {
            let warning = "spec.addressType: FQDN endpoints are deprecated";
            found.warnings.push(warning.to_owned());
        }
    }

    fn cells(&self, slice: &Value, now: Time) -> Vec<Value> {
        let ports: Vec<String> = items(slice, "/ports").iter().map(port_cell).collect();
        let addresses: Vec<String> = addresses(slice).into_iter().map(str::to_owned).collect();
        vec![
            cells::name(slice),
            cells::at(slice, "/addressType"),
            cells::first_three(&ports, "<unset>"),
            cells::first_three(&addresses, "<unset>"),
            cells::created(slice, now),
        ]
    }
}

/// A port has a number, or is known by its name.
fn port_cell(port: &Value) -> String {
    match (integer(port, "/port"), text(port, "/name")) {
        (Some(number), _) => number.to_string(),
        (None, "") => "*".to_owned(),
        (None, name) => name.to_owned(),
    }
}

/// The addresses of all endpoints.
fn addresses(slice: &Value) -> Vec<&str> {
    let addresses = items(slice, "/endpoints").iter().flat_map(|it| items(it, "/addresses"));
    addresses.map(|address| text(address, "")).collect()
}

fn validate_ports(slice: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let (ports, path) = (items(slice, "/ports"), path(&["ports"]));
    if ports.len() > MAX_PORTS {
        errors.push(FieldError::too_many(path, ports.len(), MAX_PORTS as i64));
        return;
    }
    let mut before = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = |name: &str| path.clone().index(index).name(name);
        let name = text(port, "/name");
        if !name.is_empty() {
            rules::named(errors, &at("name"), name, names::dns1123_label);
        }
        if !before.insert(name) {
            errors.push(FieldError::duplicate(at("name"), name));
        }
        rules::one_of(errors, &at("protocol"), text(port, "/protocol"), &PROTOCOLS);
        if let Some(protocol) = port.get("appProtocol") {
            let protocol = text(protocol, "");
            rules::qualified_name(errors, &at("appProtocol"), protocol, kubernetes);
        }
    }
}

fn validate_endpoints(
    slice: &Value,
    rules_of_addresses: &AddressRules<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (endpoints, path) = (items(slice, "/endpoints"), path(&["endpoints"]));
    if endpoints.len() > MAX_ENDPOINTS {
        errors.push(FieldError::too_many(path, endpoints.len(), MAX_ENDPOINTS as i64));
        return;
    }
    let kind = text(slice, "/addressType");
    for (index, endpoint) in endpoints.iter().enumerate() {
        let path = path.clone().index(index);
        validate_addresses(endpoint, kind, &path, rules_of_addresses, errors);
        if let Some(node) = endpoint.get("nodeName") {
            let path = path.clone().name("nodeName");
            rules::named(errors, &path, text(node, ""), names::dns1123_subdomain);
        }
        if let Some(host) = endpoint.get("hostname") {
            let path = path.clone().name("hostname");
            rules::named(errors, &path, text(host, ""), names::dns1123_label);
        }
        let path = path.name("hints");
        validate_hints(endpoint, "forZones", &path, zone_name, errors);
        validate_hints(endpoint, "forNodes", &path, names::dns1123_subdomain, errors);
    }
}

/// The name of a zone is the value of a label of nodes.
fn zone_name(name: &str) -> Vec<String> {
    names::label_value(name, KubernetesVersion::default().wording())
}

fn validate_addresses(
    endpoint: &Value,
    kind: &str,
    path: &FieldPath,
    rules_of_addresses: &AddressRules<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (addresses, path) = (items(endpoint, "/addresses"), path.clone().name("addresses"));
    if addresses.is_empty() {
        errors.push(FieldError::required(path.clone(), "must contain at least 1 address"));
    } else if addresses.len() > MAX_ADDRESSES {
        errors.push(FieldError::too_many(path.clone(), addresses.len(), MAX_ADDRESSES as i64));
    }
    for (index, address) in addresses.iter().enumerate() {
        let (address, item) = (text(address, ""), path.clone().index(index));
        let before = errors.len();
        // An address that is stored stays, whatever happens to the type.
        if rules_of_addresses.has(address) {
            continue;
        }
        match kind {
            "IPv4" => rules_of_addresses.address(errors, &item, address),
            "IPv6" => rules::named(errors, &item, address, canonical_address),
            "FQDN" => validate_domain(errors, &item, address),
            _ => {}
        }
        if kind.starts_with("IP") && errors.len() == before {
            let is_v4 = parse_address(address).is_some_and(|address| address.is_ipv4());
            if is_v4 != (kind == "IPv4") {
                let detail = format!("must be an {kind} address");
                errors.push(FieldError::invalid(path.clone(), address, &detail));
            }
            endpoint_address(errors, &item, address);
        }
    }
}

/// Validates a domain name, which has at least two labels.
fn validate_domain(errors: &mut Vec<FieldError>, path: &FieldPath, domain: &str) {
    if domain.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
        return;
    }
    let name = domain.strip_suffix('.').unwrap_or(domain);
    let messages = names::dns1123_subdomain(name);
    let detail = match messages.as_slice() {
        [] if name.contains('.') => return,
        [] => "should be a domain with at least two segments separated by dots".to_owned(),
        messages => messages.join(","),
    };
    errors.push(FieldError::invalid(path.clone(), name, &detail));
}

/// Validates where an endpoint should be used.
fn validate_hints(
    endpoint: &Value,
    list: &str,
    path: &FieldPath,
    rule: fn(&str) -> Vec<String>,
    errors: &mut Vec<FieldError>,
) {
    let hints = items(endpoint, &format!("/hints/{list}"));
    let path = path.clone().name(list);
    if hints.len() > MAX_HINTS {
        errors.push(FieldError::too_many(path, hints.len(), MAX_HINTS as i64));
        return;
    }
    for (index, hint) in hints.iter().enumerate() {
        let (name, path) = (text(hint, "/name"), path.clone().index(index).name("name"));
        if hints.iter().take(index).any(|earlier| text(earlier, "/name") == name) {
            errors.push(FieldError::duplicate(path.clone(), name));
        }
        rules::named(errors, &path, name, rule);
    }
}
