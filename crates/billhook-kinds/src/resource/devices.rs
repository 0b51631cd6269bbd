//! The devices that claims ask for, and what is configured for them (BK-489).

use std::collections::BTreeSet;

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain, label_value};
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::names;
use crate::generated::resource_v1::DEVICE_REQUEST;
use crate::rules::{
    driver_name, invalid, invalid_internal, named, one_of, qualified_name, required,
};
use crate::values::{integer, items, members, text};

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// The claim of devices at a path.
pub(super) fn claim(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    claim: &Value,
    kubernetes: KubernetesVersion,
) {
    let list = path.clone().name("requests");
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (index, entry) in items(claim, "/requests").iter().enumerate() {
        let path = list.clone().index(index);
        request(errors, &path, entry, kubernetes);
        let name = text(entry, "/name");
        if !known.insert(name.to_owned()) {
            errors.push(FieldError::duplicate(path.name("name"), name));
        }
    }
    for entry in items(claim, "/requests") {
        let parts = items(entry, "/firstAvailable").iter();
        known.extend(parts.map(|part| format!("{}/{}", text(entry, "/name"), text(part, "/name"))));
    }
    let list = path.clone().name("constraints");
    for (index, entry) in items(claim, "/constraints").iter().enumerate() {
        constraint(errors, &list.clone().index(index), entry, &known);
    }
    let list = path.clone().name("config");
    for (index, entry) in items(claim, "/config").iter().enumerate() {
        let path = list.clone().index(index);
        references(errors, &path, entry, &known);
        configuration(errors, &path, entry);
    }
}

fn request(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    request: &Value,
    kubernetes: KubernetesVersion,
) {
    named(errors, &path.clone().name("name"), text(request, "/name"), dns1123_label);
    let alternatives = items(request, "/firstAvailable");
    let exactly = request.get("exactly");
    let detail = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly, alternatives.is_empty()) {
        (None, true) => errors.push(FieldError::required(path.clone(), detail)),
        (Some(_), false) => {
            let detail = format!("{detail}, but multiple fields are set");
            let type_ = (Type::Record(|| &DEVICE_REQUEST), "resource");
            errors.push(invalid_internal(path.clone(), Some(request), type_, &detail));
        }
        _ => {}
    }
    if let Some(exactly) = exactly {
        wanted(errors, &path.clone().name("exactly"), exactly, kubernetes);
    }
    let list = path.clone().name("firstAvailable");
    let mut names = BTreeSet::new();
    for (index, part) in alternatives.iter().enumerate() {
        let path = list.clone().index(index);
        let (at, name) = (path.clone().name("name"), text(part, "/name"));
        named(errors, &at, name, dns1123_label);
        wanted(errors, &path, part, kubernetes);
        if !names.insert(name) {
            errors.push(FieldError::duplicate(at, name));
        }
    }
}

/// How many devices of which class.
fn wanted(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    wanted: &Value,
    kubernetes: KubernetesVersion,
) {
    let at = |name: &str| path.clone().name(name);
    match text(wanted, "/deviceClassName") {
        "" => errors.push(FieldError::required(at("deviceClassName"), "")),
        class => named(errors, &at("deviceClassName"), class, dns1123_subdomain),
    }
    selectors(errors, &at("selectors"), wanted);
    let count = integer(wanted, "/count").unwrap_or_default();
    match text(wanted, "/allocationMode") {
        "All" if count != 0 => {
            let detail = "must not be specified when allocationMode is 'All'";
            invalid(errors, &at("count"), count, [detail]);
        }
        "ExactCount" if count <= 0 => {
            invalid(errors, &at("count"), count, ["must be greater than zero"]);
        }
        mode => one_of(errors, &at("allocationMode"), mode, &["All", "ExactCount"]),
    }
    let list = at("tolerations");
    for (index, entry) in items(wanted, "/tolerations").iter().enumerate() {
        toleration(errors, &list.clone().index(index), entry, kubernetes);
    }
    let amounts = at("capacity").name("requests");
    for (name, _) in members(wanted, "/capacity/requests") {
        names::qualified(errors, &amounts.clone().key(name), name);
    }
}

/// The selectors of a request or a class.
pub(super) fn selectors(errors: &mut Vec<FieldError>, path: &FieldPath, holder: &Value) {
    for (index, selector) in items(holder, "/selectors").iter().enumerate() {
        let at = path.clone().index(index).name("cel");
        match selector.get("cel") {
            None => errors.push(FieldError::required(at, "")),
            Some(cel) => required(errors, &at.name("expression"), text(cel, "/expression")),
        }
    }
}

fn toleration(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    toleration: &Value,
    kubernetes: KubernetesVersion,
) {
    let at = |name: &str| path.clone().name(name);
    let key = text(toleration, "/key");
    if !key.is_empty() {
        qualified_name(errors, &at("key"), key, kubernetes);
    }
    let value = text(toleration, "/value");
    match text(toleration, "/operator") {
        "Exists" if !value.is_empty() => {
            invalid(errors, &at("value"), value, ["must be empty for operator `Exists`"]);
        }
        "Equal" => invalid(errors, &at("value"), value, label_value(value, kubernetes.wording())),
        operator => one_of(errors, &at("operator"), operator, &["Equal", "Exists"]),
    }
    let effect = text(toleration, "/effect");
    if !effect.is_empty() {
        one_of(errors, &at("effect"), effect, &EFFECTS);
    }
}

/// A taint of a device.
pub(super) fn taint(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    taint: &Value,
    kubernetes: KubernetesVersion,
) {
    let at = |name: &str| path.clone().name(name);
    let value = text(taint, "/value");
    qualified_name(errors, &at("key"), text(taint, "/key"), kubernetes);
    invalid(errors, &at("value"), value, label_value(value, kubernetes.wording()));
    match text(taint, "/effect") {
        "" => errors.push(FieldError::required(at("effect"), "")),
        effect => one_of(errors, &at("effect"), effect, &EFFECTS),
    }
}

/// An attribute that the devices of several requests have in common, or must not.
fn constraint(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    constraint: &Value,
    known: &BTreeSet<String>,
) {
    references(errors, path, constraint, known);
    let of = |name: &str| constraint.get(name);
    match (of("matchAttribute"), of("distinctAttribute")) {
        (Some(_), Some(_)) => {
            let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, \
                          but multiple fields are set";
            errors.push(FieldError::required(path.clone(), detail));
        }
        (None, None) => errors.push(FieldError::required(path.clone().name("matchAttribute"), "")),
        _ => {}
    }
    for name in ["matchAttribute", "distinctAttribute"] {
        if let Some(attribute) = of(name) {
            names::fully_qualified(errors, &path.clone().name(name), text(attribute, ""));
        }
    }
}

/// The requests that a constraint or a configuration is for.
fn references(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    holder: &Value,
    known: &BTreeSet<String>,
) {
    let requests = items(holder, "/requests");
    let mut seen = BTreeSet::new();
    for (index, name) in requests.iter().enumerate() {
        let path = path.clone().name("requests").index(index);
        let reference = text(name, "");
        if !known.contains(reference) {
            let detail = "must be the name of a request in the claim or the name of a request and a \
                          subrequest separated by '/'";
            invalid(errors, &path, reference, [detail]);
        }
        if !seen.insert(reference) {
            errors.push(FieldError::duplicate(path, reference));
        }
    }
}

/// A configuration for the driver of devices.
pub(super) fn configuration(errors: &mut Vec<FieldError>, path: &FieldPath, config: &Value) {
    let path = path.clone().name("opaque");
    let Some(opaque) = config.get("opaque") else {
        return errors.push(FieldError::required(path, ""));
    };
    driver_name(errors, &path.clone().name("driver"), text(opaque, "/driver"));
    let at = path.name("parameters");
    match opaque.get("parameters") {
        None | Some(Value::Null) => required(errors, &at, ""),
        Some(Value::Object(_)) => {}
        Some(other) => invalid(errors, &at, other.clone(), ["must be a valid JSON object"]),
    }
}
