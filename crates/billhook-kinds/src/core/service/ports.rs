//! The ports of a service (BK-206).

use std::collections::BTreeSet;

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use super::shape;
use crate::rules;
use crate::values::{integer, items, path, text};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Validates each port.
pub(super) fn validate(
    service: &Value,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let ports = items(service, "/spec/ports");
    if ports.is_empty() && shape::has_addresses(service) && !shape::is_headless(service) {
        errors.push(FieldError::required(path(&["spec", "ports"]), ""));
    }
    validate_address_of_nodes(service, errors);
    let mut names_before = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path(&["spec", "ports"]).index(index);
        let name = text(port, "/name");
        let name_path = path.clone().name("name");
        match name {
            "" if ports.len() > 1 => errors.push(FieldError::required(name_path, "")),
            "" => {}
            _ => {
                rules::named(errors, &name_path, name, names::dns1123_label);
                if !names_before.insert(name) {
                    errors.push(FieldError::duplicate(name_path, name));
                }
            }
        }
        validate_port(port, &path, kubernetes, errors);
    }
}

/// A service without an address cannot have ports of nodes.
fn validate_address_of_nodes(service: &Value, errors: &mut Vec<FieldError>) {
    if shape::is_headless(service) && shape::has_node_ports(service) {
        let kind = text(service, "/spec/type");
        let path = path(&["spec", "clusterIPs"]).index(0);
        let detail = format!("may not be set to 'None' for {kind} services");
        errors.push(FieldError::invalid(path, shape::HEADLESS, &detail));
    }
}

fn validate_port(
    port: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let at = |name: &str| path.clone().name(name);
    rules::port(errors, &at("port"), integer(port, "/port").unwrap_or_default());
    rules::one_of(errors, &at("protocol"), text(port, "/protocol"), &PROTOCOLS);
    let target = port.get("targetPort").cloned().unwrap_or_else(|| 0.into());
    rules::port_or_name(errors, &at("targetPort"), &target);
    if let Some(protocol) = port.get("appProtocol") {
        let protocol = text(protocol, "");
        rules::qualified_name(errors, &at("appProtocol"), protocol, kubernetes);
    }
}

/// Validates the ports together with those of the nodes.
pub(super) fn validate_together(service: &Value, errors: &mut Vec<FieldError>) {
    let ports = items(service, "/spec/ports");
    let path = |index| path(&["spec", "ports"]).index(index);
    if text(service, "/spec/type") == "ClusterIP" {
        for (index, _) in ports.iter().enumerate().filter(|(_, port)| shape::node_port(port) != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.push(FieldError::forbidden(path(index).name("nodePort"), detail));
        }
    }
    let mut before = BTreeSet::new();
    for (index, port) in ports.iter().enumerate().filter(|(_, port)| shape::node_port(port) != 0) {
        if !before.insert((text(port, "/protocol"), shape::node_port(port))) {
            let path = path(index).name("nodePort");
            errors.push(FieldError::duplicate(path, shape::node_port(port)));
        }
    }
    let mut before = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        if !before.insert((text(port, "/protocol"), integer(port, "/port"))) {
            errors.push(duplicate(port, path(index)));
        }
    }
}

/// The error shows the port with only what is repeated.
fn duplicate(port: &Value, path: FieldPath) -> FieldError {
    let (protocol, number) = (text(port, "/protocol"), integer(port, "/port").unwrap_or_default());
    let shown = format!(
        "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\
         \"NodePort\":0}}",
        Value::from(protocol)
    );
    FieldError::duplicate(path, port.clone()).show_value_as(shown)
}
