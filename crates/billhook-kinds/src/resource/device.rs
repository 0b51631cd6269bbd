//! The devices of a slice, and the counters that they share (BK-489).

use std::collections::BTreeSet;

use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Quantity};
use serde_json::Value;

use super::{devices, names, nodes};
use crate::generated::resource_v1::{DEVICE, DEVICE_ATTRIBUTE};
use crate::rules::{invalid, invalid_internal, named, qualified_name, quantity, required};
use crate::values::{items, members, text, value_at};

/// The forms of a value of an attribute.
const VALUES: [&str; 8] =
    ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"];

/// The devices of a slice.
pub(super) fn validate_all(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    kubernetes: KubernetesVersion,
) {
    let is_by_device = spec.get("perDeviceNodeSelection") == Some(&Value::Bool(true));
    let mut names = BTreeSet::new();
    for (index, device) in items(spec, "/devices").iter().enumerate() {
        let path = path.clone().index(index);
        let (at, name) = (path.clone().name("name"), text(device, "/name"));
        named(errors, &at, name, dns1123_label);
        if !names.insert(name) {
            errors.push(FieldError::duplicate(at, name));
        }
        for (name, attribute) in members(device, "/attributes") {
            let at = path.clone().name("attributes").key(name);
            names::qualified(errors, &at, name);
            validate_attribute(errors, &at, attribute);
        }
        for (name, capacity) in members(device, "/capacity") {
            let at = path.clone().name("capacity").key(name);
            names::qualified(errors, &at, name);
            validate_capacity(errors, &at, capacity, device);
        }
        validate_nodes(errors, &path, device, is_by_device, kubernetes);
        let list = path.clone().name("taints");
        for (index, taint) in items(device, "/taints").iter().enumerate() {
            devices::taint(errors, &list.clone().index(index), taint, kubernetes);
        }
        let list = path.clone().name("consumesCounters");
        for (index, counters) in items(device, "/consumesCounters").iter().enumerate() {
            let at = list.clone().index(index);
            required(errors, &at.clone().name("counterSet"), text(counters, "/counterSet"));
            some_counters(errors, at, counters);
        }
        validate_binding(errors, &path, device, kubernetes);
    }
}

fn some_counters(errors: &mut Vec<FieldError>, path: FieldPath, holder: &Value) {
    if members(holder, "/counters").next().is_none() {
        errors.push(FieldError::required(path.name("counters"), ""));
    }
}

/// The counters that devices share.
pub(super) fn validate_counters(errors: &mut Vec<FieldError>, path: &FieldPath, sets: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, set) in sets.iter().enumerate() {
        let path = path.clone().index(index);
        let (at, name) = (path.clone().name("name"), text(set, "/name"));
        required(errors, &at, name);
        if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(at, name));
        }
        some_counters(errors, path, set);
    }
}

/// An attribute has one value.
fn validate_attribute(errors: &mut Vec<FieldError>, path: &FieldPath, attribute: &Value) {
    for name in ["bools", "ints", "strings", "versions"] {
        if let Some(Value::Array(values)) = attribute.get(name)
            && values.is_empty()
        {
            let at = path.clone().name(name);
            invalid(errors, &at, Vec::<Value>::new(), ["must not be empty if specified"]);
        }
    }
    let versions = path.clone().name("versions");
    let of_list = items(attribute, "/versions").iter().enumerate();
    let of_list = of_list.map(|(index, version)| (versions.clone().index(index), version));
    let single = attribute.get("version").map(|version| (path.clone().name("version"), version));
    for (at, version) in single.into_iter().chain(of_list) {
        if !is_version(text(version, "")) {
            let detail = "must be a string compatible with semver.org spec 2.0.0";
            invalid(errors, &at, version.clone(), [detail]);
        }
    }
    if VALUES.iter().filter(|name| attribute.get(**name).is_some()).count() != 1 {
        let type_ = (Type::Record(|| &DEVICE_ATTRIBUTE), "resource");
        let detail = "exactly one value must be specified";
        errors.push(invalid_internal(path.clone(), Some(attribute), type_, detail));
    }
}

/// Whether a text is a semantic version: three numbers, with what comes before a release and what tells of
/// a build after them.
fn is_version(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_digits = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let has_zeros = |name: &str| name.len() > 1 && name.starts_with('0');
    let is_number = |name: &str| is_name(name) && is_digits(name) && !has_zeros(name);
    let (text, build) = cut(text, '+');
    let (numbers, release) = cut(text, '-');
    let is_before = |name: &str| is_name(name) && !(is_digits(name) && has_zeros(name));
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && release.is_none_or(|names| names.split('.').all(is_before))
        && build.is_none_or(|names| names.split('.').all(is_name))
}

/// Cuts a text at the first of these signs.
fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// How much of a capacity may be asked for.
fn validate_capacity(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    capacity: &Value,
    device: &Value,
) {
    let Some(policy) = capacity.get("requestPolicy") else { return };
    let path = path.clone().name("requestPolicy");
    if device.get("allowMultipleAllocations") != Some(&Value::Bool(true)) {
        errors.push(FieldError::forbidden(path, "allowMultipleAllocations must be true"));
        return;
    }
    let values = !items(policy, "/validValues").is_empty();
    let range = policy.get("validRange");
    if values && range.is_some() {
        let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \
                      \"validRange\" at the same time";
        errors.push(FieldError::forbidden(path, detail));
        return;
    }
    for (is_given, name) in [(values, "validValues"), (range.is_some(), "validRange")] {
        if is_given && policy.get("default").is_none_or(Value::is_null) {
            let detail = format!("required when {name} is defined");
            errors.push(FieldError::required(path.clone().name("default"), &detail));
        }
    }
    if values {
        validate_values(errors, &path.clone().name("validValues"), policy, capacity);
    }
    if let Some(range) = range {
        validate_range(errors, &path.clone().name("validRange"), range, policy, capacity);
        validate_steps(errors, &path, policy, capacity);
    }
}

/// The amounts that may be asked for ascend to the capacity, and the default is one of them.
fn validate_values(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    policy: &Value,
    capacity: &Value,
) {
    let values: Vec<Quantity> = items(policy, "/validValues").iter().filter_map(quantity).collect();
    let value = capacity.get("value").and_then(quantity);
    for (index, pair) in values.windows(2).enumerate() {
        if let [before, amount] = pair
            && amount < before
        {
            let at = path.clone().index(index + 1);
            let detail = "values must be sorted in ascending order";
            invalid(errors, &at, amount.to_string(), [detail]);
        }
    }
    if let Some(value) = &value {
        for amount in values.iter().filter(|amount| *amount > value) {
            let detail = format!("option is larger than capacity value: {value}");
            invalid(errors, path, amount.to_string(), [detail]);
        }
    }
    let default = policy.get("default").and_then(quantity);
    if let Some(default) = default.filter(|default| !values.contains(default)) {
        let detail = "default value is not valid according to the requestPolicy";
        invalid(errors, path, default.to_string(), [detail]);
    }
}

/// A range of amounts has the default in it, and is not above the capacity.
fn validate_range(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    range: &Value,
    policy: &Value,
    capacity: &Value,
) {
    let of = |holder: &Value, name: &str| holder.get(name).and_then(quantity);
    let Some(min) = of(range, "min") else {
        let detail = "required when validRange is defined";
        errors.push(FieldError::required(path.clone().name("min"), detail));
        return;
    };
    let (max, default) = (of(range, "max"), of(policy, "default"));
    let (value, max, default) = (of(capacity, "value"), max.as_ref(), default.as_ref());
    let value = value.as_ref();
    let mut refuse = |name: &str, amount: &Quantity, text: &str, other: &Quantity| {
        let detail = format!("{text}: {other}");
        invalid(errors, &path.clone().name(name), amount.to_string(), [detail]);
    };
    if let Some(value) = value.filter(|value| min > **value) {
        refuse("min", &min, "min is larger than capacity value", value);
    }
    if default.is_some_and(|default| *default < min) {
        refuse("min", &min, "default is less than min", &min);
    }
    let Some(max) = max else { return };
    if min > *max {
        refuse("max", max, "min is larger than max", max);
    }
    if let Some(value) = value.filter(|value| max > *value) {
        refuse("max", max, "max is larger than capacity value", value);
    }
    if default.is_some_and(|default| default > max) {
        refuse("max", max, "default is more than max", max);
    }
}

/// The amounts in a range that may be asked for are steps away from its beginning.
fn validate_steps(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    policy: &Value,
    capacity: &Value,
) {
    let of = |holder: &Value, place: &str| value_at(holder, place).and_then(quantity);
    let [min, max, step] =
        ["min", "max", "step"].map(|name| of(policy, &format!("/validRange/{name}")));
    let (Some(min), Some(step)) = (min, step) else { return };
    let range = path.clone().name("validRange");
    if let (Some(first), Some(value)) = (min.plus(&step), of(capacity, "/value"))
        && first > value
    {
        let detail = format!("one step {first} is larger than capacity value: {value}");
        invalid(errors, &range.clone().name("step"), step.to_string(), [detail]);
    }
    let default = of(policy, "/default");
    for (at, amount) in [(range.name("max"), max), (path.clone().name("default"), default)] {
        let Some(amount) = amount else { continue };
        let above = amount.plus(&min.negated());
        if above.and_then(|above| above.is_multiple_of(&step)) == Some(false) {
            let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
            invalid(errors, &at, amount.to_string(), [detail]);
        }
    }
}

/// The nodes of a device, if each says its own.
fn validate_nodes(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    device: &Value,
    is_by_device: bool,
    kubernetes: KubernetesVersion,
) {
    let at = |name: &str| path.clone().name(name);
    let ways = ["nodeName", "nodeSelector", "allNodes"];
    let count = ways.iter().filter(|name| device.get(**name).is_some()).count();
    let refuse = |errors: &mut Vec<FieldError>, detail: &str| {
        let type_ = (Type::Record(|| &DEVICE), "resource");
        errors.push(invalid_internal(path.clone(), Some(device), type_, detail));
    };
    if !is_by_device {
        if count > 0 {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if \
                          `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            refuse(errors, detail);
        }
        return;
    }
    if device.get("nodeName").is_some_and(|name| name == "") {
        invalid(errors, &at("nodeName"), "", ["must not be empty"]);
    }
    if let Some(selector) = device.get("nodeSelector") {
        nodes::one_term(errors, &at("nodeSelector"), selector, kubernetes);
    }
    nodes::only_true(errors, &at("allNodes"), device.get("allNodes"));
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                  `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match count {
        0 => errors.push(FieldError::required(path.clone(), detail)),
        1 => {}
        _ => refuse(errors, detail),
    }
}

/// The conditions that decide whether a device can be used.
fn validate_binding(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    device: &Value,
    kubernetes: KubernetesVersion,
) {
    let [wanted, failed] = ["bindingConditions", "bindingFailureConditions"];
    let of = |name: &str| items(device, name);
    let all_wanted: BTreeSet<&str> = of(wanted).iter().map(|it| text(it, "")).collect();
    for name in [wanted, failed] {
        let (list, all) = (path.clone().name(name), of(name));
        let mut seen = BTreeSet::new();
        for (index, condition) in all.iter().enumerate() {
            let at = list.clone().index(index);
            qualified_name(errors, &at, text(condition, ""), kubernetes);
            if !seen.insert(text(condition, "")) {
                errors.push(FieldError::duplicate(at.clone(), condition.clone()));
            }
            if name == failed && all_wanted.contains(text(condition, "")) {
                let detail = "bindingFailureConditions must not overlap with bindingConditions";
                invalid(errors, &at, condition.clone(), [detail]);
            }
        }
    }
    for (missing, given) in [(wanted, failed), (failed, wanted)] {
        if of(missing).is_empty() && !of(given).is_empty() {
            let detail = format!("{missing} are required to use {given}");
            invalid(errors, &path.clone().name(missing), Value::Null, [detail]);
        }
    }
}
