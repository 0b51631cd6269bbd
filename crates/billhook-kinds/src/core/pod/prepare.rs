//! Preparation of pods for writes (BK-100, BK-107, BK-108, BK-112, BK-113).

use std::collections::BTreeMap;

use billhook_apimachinery::KubernetesVersion;
use serde_json::{Value, json};

use super::edition::EDITIONS;
use super::gates::drop_of_status;
use super::resources::class_of_service;
use crate::behavior::WriteContext;
use crate::values::{items, items_mut, object_mut, text, value_at};

/// Prepares a new pod.
pub(super) fn create(pod: &mut Value, context: &WriteContext<'_>) {
    let Some(spec) = pod.get("spec") else { return };
    let mut status = json!({"phase": "Pending", "qosClass": class_of_service(spec)});
    if !items(spec, "/schedulingGates").is_empty()
        && let Value::Object(status) = &mut status
    {
        let gated = json!({
            "type": "PodScheduled", "status": "False", "lastTransitionTime": context.now,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        });
        status.insert("conditions".to_owned(), json!([gated]));
    }
    set(pod, "status", Some(status));
    select_by_own_labels(pod, context.kubernetes);
}

/// Prepares a pod that replaces another one.
pub(super) fn update(pod: &mut Value, old: &Value, context: &WriteContext<'_>) {
    match context.subresource {
        "status" => of_status(pod, old, context.kubernetes),
        "ephemeralcontainers" => {
            let added = value_at(pod, "/spec/ephemeralContainers").cloned();
            replace_but_managers(pod, old);
            if let Some(spec) = object_mut(pod, "/spec") {
                set(spec, "ephemeralContainers", added);
            }
        }
        "resize" => {
            let spec = resized(pod, old);
            replace_but_managers(pod, old);
            set(pod, "spec", spec);
        }
        _ => {}
    }
}

fn set(object: &mut Value, name: &str, value: Option<Value>) {
    if let Value::Object(members) = object {
        match value {
            Some(value) => members.insert(name.to_owned(), value),
            None => members.remove(name),
        };
    }
}

fn of_status(pod: &mut Value, old: &Value, kubernetes: KubernetesVersion) {
    let owners = value_at(old, "/metadata/ownerReferences").cloned();
    if let Some(metadata) = object_mut(pod, "/metadata") {
        set(metadata, "ownerReferences", owners);
    }
    keep_observed_generations(pod, old);
    let class = value_at(old, "/status/qosClass").cloned();
    if text(pod, "/status/qosClass").is_empty()
        && let Some(status) = object_mut(pod, "/status")
    {
        set(status, "qosClass", class);
    }
    if let Some(status) = object_mut(pod, "/status") {
        drop_of_status(status, kubernetes);
    }
    complete_addresses(pod);
}

/// The generations that a status is about stay unless it says others (BK-108).
fn keep_observed_generations(pod: &mut Value, old: &Value) {
    const NAME: &str = "observedGeneration";
    let generation = |of: &Value| of.get(NAME).filter(|it| it.as_i64() != Some(0)).cloned();
    let Some(status) = object_mut(pod, "/status") else { return };
    let stored = old.get("status").unwrap_or(&Value::Null);
    if generation(status).is_none() {
        set(status, NAME, generation(stored));
    }
    let stored: BTreeMap<&str, &Value> = items(stored, "/conditions")
        .iter()
        .rev()
        .map(|condition| (text(condition, "/type"), condition))
        .collect();
    for condition in items_mut(status, "/conditions") {
        if generation(condition).is_none() {
            let before = stored.get(text(condition, "/type"));
            set(condition, NAME, before.and_then(|before| generation(before)));
        }
    }
}

/// The first address of a pod stands for itself, too.
fn complete_addresses(pod: &mut Value) {
    let Some(status) = object_mut(pod, "/status") else { return };
    let (one, first) = (text(status, "/podIP").to_owned(), text(status, "/podIPs/0/ip").to_owned());
    if one.is_empty() && !first.is_empty() {
        set(status, "podIP", Some(first.into()));
    } else if one != first {
        set(status, "podIPs", Some(json!([{ "ip": one }])));
    }
}

/// Takes the stored pod, with the managers of fields and the version that were sent.
fn replace_but_managers(pod: &mut Value, old: &Value) {
    let mut kept = old.clone();
    if let Some(metadata) = object_mut(&mut kept, "/metadata") {
        for name in ["managedFields", "resourceVersion"] {
            set(metadata, name, value_at(pod, &format!("/metadata/{name}")).cloned());
        }
    }
    *pod = kept;
}

/// The stored spec with the resources that were sent. Containers stay as they were sent if they are
/// not the stored ones: validation refuses them.
fn resized(pod: &Value, old: &Value) -> Option<Value> {
    let mut spec = old.get("spec").cloned()?;
    for list in ["containers", "initContainers"] {
        let place = format!("/{list}");
        let sent = items(pod.get("spec")?, &place);
        if !are_the_same(sent, items(&spec, &place)) {
            set(&mut spec, list, Some(sent.into()));
            continue;
        }
        for (container, sent) in items_mut(&mut spec, &place).iter_mut().zip(sent) {
            set(container, "resources", sent.get("resources").cloned());
            set(container, "resizePolicy", sent.get("resizePolicy").cloned());
        }
    }
    set(&mut spec, "resources", value_at(pod, "/spec/resources").cloned());
    Some(spec)
}

/// Whether two lists of containers have the same names in the same order.
fn are_the_same(containers: &[Value], others: &[Value]) -> bool {
    let names = |containers: &[Value]| -> Vec<String> {
        containers.iter().map(|container| text(container, "/name").to_owned()).collect()
    };
    names(containers) == names(others)
}

/// Selectors that say so select pods by the values that the labels of this one have.
fn select_by_own_labels(pod: &mut Value, kubernetes: KubernetesVersion) {
    let Some(labels) = value_at(pod, "/metadata/labels").cloned() else { return };
    let Some(spec) = object_mut(pod, "/spec") else { return };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let required = format!("/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution");
        for term in items_mut(spec, &required) {
            select_in_term(term, &labels);
        }
        let preferred = format!("/affinity/{kind}/preferredDuringSchedulingIgnoredDuringExecution");
        for term in items_mut(spec, &preferred) {
            if let Some(term) = object_mut(term, "/podAffinityTerm") {
                select_in_term(term, &labels);
            }
        }
    }
    if EDITIONS.of(kubernetes).spreads_by_label_keys {
        for constraint in items_mut(spec, "/topologySpreadConstraints") {
            select(constraint, "/matchLabelKeys", "In", &labels);
        }
    }
}

fn select_in_term(term: &mut Value, labels: &Value) {
    select(term, "/matchLabelKeys", "In", labels);
    select(term, "/mismatchLabelKeys", "NotIn", labels);
}

/// Adds an expression to the selector of an object for each of the keys that is a label.
fn select(object: &mut Value, keys: &str, operator: &str, labels: &Value) {
    let keys = items(object, keys).to_vec();
    let Some(Value::Object(selector)) = object.get_mut("labelSelector") else { return };
    for key in keys {
        let Some(value) = key.as_str().and_then(|key| labels.get(key)) else { continue };
        let expression = json!({"key": key, "operator": operator, "values": [value]});
        let expressions = selector.entry("matchExpressions").or_insert_with(|| json!([]));
        if let Value::Array(expressions) = expressions {
            expressions.push(expression);
        }
    }
}
