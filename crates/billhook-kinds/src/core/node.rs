//! Nodes (BK-483).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{label_value, qualified_name};
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::core_v1::{NODE_ADDRESS, TAINT};
use crate::ip::{AddressRules, Range};
use crate::resource_names::resource_amount;
use crate::rules::{duplicate_internal, invalid, one_of, round_amounts};
use crate::values::{is_set, items, members, path, set_missing, text, value_at};

/// The labels that name roles of a node.
const ROLE: &str = "node-role.kubernetes.io/";

/// The rules of nodes.
#[derive(Debug)]
pub(crate) struct Node;

impl Behavior for Node {
    fn set_defaults(&self, node: &mut Value, _: KubernetesVersion) {
        join_pod_cidrs(node);
        for amounts in ["/status/capacity", "/status/allocatable"] {
            round_amounts(node, amounts);
        }
        let capacity = value_at(node, "/status/capacity").cloned();
        if let (Some(capacity), Some(status)) = (capacity, node.get_mut("status")) {
            set_missing(status, "allocatable", capacity);
        }
    }

    fn takes_status(&self, subresource: &str) -> bool {
        subresource.is_empty()
    }

    fn validate(
        &self,
        node: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
        validate_taints(node, kubernetes, errors);
        if old.is_some() {
            // The server validates the taints of a changed node twice.
            validate_taints(node, kubernetes, errors);
        }
        validate_features(node, errors);
        for list in ["capacity", "allocatable"] {
            for (name, amount) in members(node, &format!("/status/{list}")) {
                resource_amount(errors, &path(&["status", list]).key(name), name, amount);
            }
        }
        validate_pod_cidrs(node, old, kubernetes, errors);
        if let Some(old) = old {
            validate_change(node, old, errors);
        }
    }

    fn selected_field(&self, node: &Value, field: &str) -> Option<String> {
        let is_closed = || is_set(node, "/spec/unschedulable").to_string();
        (field == "spec.unschedulable").then(is_closed)
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let or = |place: &str, default: &str| match text(object, place) {
            "" => default.to_owned(),
            text => text.to_owned(),
        };
        let kernel = or("/status/nodeInfo/kernelVersion", "<unknown>");
        let kernel = match text(object, "/status/nodeInfo/architecture") {
            "" => kernel,
            architecture => format!("{kernel} ({architecture})"),
        };
        vec![
            cells::name(object),
            status(object).into(),
            roles(object).into(),
            cells::created(object, now),
            cells::at(object, "/status/nodeInfo/kubeletVersion"),
            address(object, "InternalIP"),
            address(object, "ExternalIP"),
            or("/status/nodeInfo/osImage", "<unknown>").into(),
            kernel.into(),
            or("/status/nodeInfo/containerRuntimeVersion", "<unknown>").into(),
        ]
    }
}

/// Makes the first of the ranges of pods the one that `podCIDR` names.
fn join_pod_cidrs(node: &mut Value) {
    let first = text(node, "/spec/podCIDRs/0").to_owned();
    let single = text(node, "/spec/podCIDR").to_owned();
    let Some(Value::Object(spec)) = node.get_mut("spec") else { return };
    if !single.is_empty() && single != first {
        spec.insert("podCIDRs".to_owned(), json!([single]));
    } else if !first.is_empty() {
        spec.insert("podCIDR".to_owned(), first.into());
    }
}

fn validate_taints(node: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let taints = items(node, "/spec/taints");
    let mut seen = BTreeSet::new();
    for (index, taint) in taints.iter().enumerate() {
        // The path is the server's, though taints are a part of the spec.
        let at = path(&["metadata", "taints"]).index(index);
        let key = text(taint, "/key");
        let messages = qualified_name(key, kubernetes.wording());
        invalid(errors, &at.clone().name("key"), key, messages);
        let value = text(taint, "/value");
        let messages = label_value(value, kubernetes.wording());
        if !messages.is_empty() {
            let at = at.clone().name("value");
            errors.push(FieldError::invalid(at, value, &messages.join(";")));
        }
        validate_effect(text(taint, "/effect"), &at, errors);
        if !seen.insert((key, text(taint, "/effect"))) {
            // Errors about duplicates have no detail: it stands with the value.
            let shown = show(Some(taint), Type::Record(|| &TAINT));
            let text = format!("{shown}: taints must be unique by key and effect pair");
            errors.push(FieldError::duplicate(at, taint.clone()).show_value_as(text));
        }
    }
}

fn validate_effect(effect: &str, taint: &FieldPath, errors: &mut Vec<FieldError>) {
    let at = taint.clone().name("effect");
    match effect {
        "" => errors.push(FieldError::required(at, "")),
        effect => one_of(errors, &at, effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    }
}

fn validate_features(node: &Value, errors: &mut Vec<FieldError>) {
    let all: Vec<&str> =
        items(node, "/status/declaredFeatures").iter().map(|name| text(name, "")).collect();
    let (mut seen, mut last) = (BTreeSet::new(), "");
    for (index, name) in all.iter().enumerate() {
        let at = path(&["status", "declaredFeatures"]).index(index);
        if !is_feature(name) {
            let detail = format!(
                "invalid feature name \"{name}\": must start with an UpperCamelCase segment, with \
                 subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), \
                 and contain only alphanumeric characters and slashes"
            );
            errors.push(FieldError::invalid(at.clone(), *name, &detail));
        }
        if !seen.insert(*name) {
            errors.push(FieldError::duplicate(at, *name));
        } else if *name < last {
            let detail = "list must be sorted alphabetically";
            errors.push(FieldError::invalid(at, *name, detail));
        }
        last = name;
    }
}

fn is_feature(name: &str) -> bool {
    let is_segment =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_segment)
}

fn validate_pod_cidrs(
    node: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let at = path(&["spec", "podCIDRs"]);
    let ranges = items(node, "/spec/podCIDRs");
    let stored = old.map_or(&[][..], |old| items(old, "/spec/podCIDRs"));
    let rules = AddressRules::new(kubernetes, stored.iter().filter_map(Value::as_str));
    let mut families = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        let range = text(range, "");
        rules.range(errors, &at.clone().index(index), range);
        families.extend(Range::parse(range).map(|range| range.address.is_ipv4()));
    }
    let is_dual = matches!(families.as_slice(), [first, second] if first != second);
    if ranges.len() > 2 || (families.len() == 2 && !is_dual) {
        let detail = "may specify no more than one CIDR for each IP family";
        let ranges = Value::from(ranges.to_vec());
        errors.push(FieldError::invalid(at, ranges, detail).of_strings());
    }
}

fn validate_change(node: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let addresses = items(node, "/status/addresses");
    let mut seen = BTreeSet::new();
    for (index, address) in addresses.iter().enumerate() {
        if !seen.insert(compact_json(address)) {
            let at = path(&["status", "addresses"]).index(index);
            let type_ = Type::Record(|| &NODE_ADDRESS);
            errors.push(duplicate_internal(at, address, type_));
        }
    }
    let ranges = items(old, "/spec/podCIDRs");
    if !ranges.is_empty() && ranges != items(node, "/spec/podCIDRs") {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.push(FieldError::forbidden(path(&["spec", "podCIDRs"]), detail));
    }
    let provider = text(old, "/spec/providerID");
    if !provider.is_empty() && provider != text(node, "/spec/providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.push(FieldError::forbidden(path(&["spec", "providerID"]), detail));
    }
    if text(old, "/spec/externalID") != text(node, "/spec/externalID") {
        errors.push(FieldError::forbidden(path(&["spec", "externalID"]), "may not be updated"));
    }
}

fn status(node: &Value) -> String {
    let conditions = items(node, "/status/conditions");
    let ready = conditions.iter().find(|condition| text(condition, "/type") == "Ready");
    let status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    match value_at(node, "/spec/unschedulable") {
        Some(Value::Bool(true)) => format!("{status},SchedulingDisabled"),
        _ => status.to_owned(),
    }
}

fn roles(node: &Value) -> String {
    let labels = members(node, "/metadata/labels");
    let roles = labels.filter_map(|(name, value)| match name {
        "kubernetes.io/role" => Some(text(value, "")),
        name => name.strip_prefix(ROLE),
    });
    let mut roles: Vec<&str> = roles.filter(|role| !role.is_empty()).collect();
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn address(node: &Value, type_: &str) -> Value {
    let all = items(node, "/status/addresses");
    let address = all.iter().find(|address| text(address, "/type") == type_);
    address.map_or("<none>", |address| text(address, "/address")).into()
}
