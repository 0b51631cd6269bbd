//! Endpoints (BK-209).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::ip::{AddressRules, endpoint_address};
use crate::values::{integer, items, items_mut, path, set_missing, text};
use crate::{cells, rules};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// The lists of addresses in a subset.
const LISTS: [&str; 2] = ["addresses", "notReadyAddresses"];

/// The rules of Endpoints.
#[derive(Debug)]
pub(crate) struct Endpoints;

impl Behavior for Endpoints {
    fn set_defaults(&self, endpoints: &mut Value, _: KubernetesVersion) {
        for subset in items_mut(endpoints, "/subsets") {
            for port in items_mut(subset, "/ports") {
                set_missing(port, "protocol", "TCP");
            }
        }
    }

    fn validate(
        &self,
        endpoints: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        // What is stored may stay, even if it is not valid.
        if old.is_some_and(|old| old.get("subsets") == endpoints.get("subsets")) {
            return;
        }
        let stored = old.map(addresses).unwrap_or_default();
        let rules = AddressRules::new(context.kubernetes, stored);
        for (index, subset) in items(endpoints, "/subsets").iter().enumerate() {
            let path = path(&["subsets"]).index(index);
            validate_subset(subset, &path, &rules, &mut found.errors);
            validate_ports(subset, &path, context.kubernetes, &mut found.errors);
        }
    }

    fn cells(&self, endpoints: &Value, now: Time) -> Vec<Value> {
        let subsets = items(endpoints, "/subsets").iter();
        let endpoints_of: Vec<String> = subsets.flat_map(endpoints_in).collect();
        vec![
            cells::name(endpoints),
            cells::first_three(&endpoints_of, "<none>"),
            cells::created(endpoints, now),
        ]
    }
}

/// The addresses in all subsets.
fn addresses(endpoints: &Value) -> Vec<&str> {
    let lists = items(endpoints, "/subsets").iter().flat_map(|subset| LISTS.map(|l| (subset, l)));
    let addresses = lists.flat_map(|(subset, list)| items(subset, list));
    addresses.map(|address| text(address, "/ip")).collect()
}

fn validate_subset(
    subset: &Value,
    path: &FieldPath,
    rules_of_addresses: &AddressRules<'_>,
    errors: &mut Vec<FieldError>,
) {
    if LISTS.iter().all(|list| items(subset, list).is_empty()) {
        let detail = "must specify `addresses` or `notReadyAddresses`";
        errors.push(FieldError::required(path.clone(), detail));
    }
    for list in LISTS {
        for (index, address) in items(subset, list).iter().enumerate() {
            let path = path.clone().name(list).index(index);
            let (ip, ip_path) = (text(address, "/ip"), path.clone().name("ip"));
            rules_of_addresses.address(errors, &ip_path, ip);
            match text(address, "/hostname") {
                "" => {}
                host => {
                    rules::named(
                        errors,
                        &path.clone().name("hostname"),
                        host,
                        names::dns1123_label,
                    );
                }
            }
            if let Some(node) = address.get("nodeName") {
                let path = path.name("nodeName");
                rules::named(errors, &path, text(node, ""), names::dns1123_subdomain);
            }
            endpoint_address(errors, &ip_path, ip);
        }
    }
}

fn validate_ports(
    subset: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let ports = items(subset, "/ports");
    for (index, port) in ports.iter().enumerate() {
        let path = path.clone().name("ports").index(index);
        let at = |name: &str| path.clone().name(name);
        match text(port, "/name") {
            "" if ports.len() > 1 => errors.push(FieldError::required(at("name"), "")),
            "" => {}
            name => rules::named(errors, &at("name"), name, names::dns1123_label),
        }
        rules::port(errors, &at("port"), integer(port, "/port").unwrap_or_default());
        rules::one_of(errors, &at("protocol"), text(port, "/protocol"), &PROTOCOLS);
        if let Some(protocol) = port.get("appProtocol") {
            let protocol = text(protocol, "");
            rules::qualified_name(errors, &at("appProtocol"), protocol, kubernetes);
        }
    }
}

/// The addresses of a subset that are ready, with each port.
fn endpoints_in(subset: &Value) -> Vec<String> {
    let addresses = || items(subset, "/addresses").iter().map(|address| text(address, "/ip"));
    let ports = items(subset, "/ports");
    if ports.is_empty() {
        return addresses().map(str::to_owned).collect();
    }
    let of_port = |port: &Value| {
        let port = integer(port, "/port").unwrap_or_default();
        addresses().map(move |address| match address.contains(':') {
            true => format!("[{address}]:{port}"),
            false => format!("{address}:{port}"),
        })
    };
    ports.iter().flat_map(of_port).collect()
}
