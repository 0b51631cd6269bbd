//! Changes that updates of pods may make (BK-107, BK-112).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::FieldError;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::value::semantically_equal;
use serde_json::Value;

use super::annotations::{APP_ARMOR, MIRROR, is_static};
use super::checks::{forbid, member, name_of, required, whole};
use super::difference::difference;
use super::internal::{show, show_spec};
use crate::generated::core_v1::EPHEMERAL_CONTAINER;
use crate::rules::invalid;
use crate::values::{integer, items, items_mut, members, path};

pub(super) const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

const CHANGES: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks an update of a pod itself.
pub(super) fn validate(errors: &mut Vec<FieldError>, pod: &Value, old: &Value) {
    let (Some(spec), Some(stored)) = (pod.get("spec"), old.get("spec")) else { return };
    for list in CONTAINERS {
        let place = format!("/{list}");
        if items(spec, &place).len() != items(stored, &place).len() {
            let detail = "pod updates may not add or remove containers";
            forbid(errors, path(&["spec", list]), detail);
            return;
        }
        for (index, container) in items(spec, &place).iter().enumerate() {
            required(errors, &path(&["spec", list]).index(index), container, "image");
        }
    }
    deadline(errors, spec, stored);
    tolerations(errors, spec, stored);
    gates(errors, spec, stored);
    let mut rest = spec.clone();
    take_images(&mut rest, stored);
    let mut taken = vec!["activeDeadlineSeconds", "tolerations", "schedulingGates"];
    if !items(stored, "/schedulingGates").is_empty() {
        node_choice(errors, spec, stored, &mut taken);
    }
    for name in taken {
        take(&mut rest, stored, name);
    }
    if !semantically_equal(&rest, stored) {
        let detail = format!("{CHANGES}\n{}", difference(&show_spec(stored), &show_spec(&rest)));
        forbid(errors, path(&["spec"]), &detail);
    }
}

/// Takes a member of another object.
pub(super) fn take(object: &mut Value, other: &Value, name: &str) {
    let Value::Object(members) = object else { return };
    match other.get(name) {
        Some(value) => members.insert(name.to_owned(), value.clone()),
        None => members.remove(name),
    };
}

fn take_images(spec: &mut Value, stored: &Value) {
    for list in CONTAINERS {
        let place = format!("/{list}");
        for (container, stored) in items_mut(spec, &place).iter_mut().zip(items(stored, &place)) {
            take(container, stored, "image");
        }
    }
}

fn deadline(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) {
    let path = path(&["spec", "activeDeadlineSeconds"]);
    let seconds = integer(spec, "/activeDeadlineSeconds");
    match (seconds, integer(stored, "/activeDeadlineSeconds")) {
        (Some(seconds), Some(before)) if before < seconds => {
            invalid(errors, &path, seconds, ["must be less than or equal to previous value"]);
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            invalid(errors, &path, Value::Null, [detail]);
        }
        _ => {}
    }
}

/// Tolerations stay, except for their seconds.
fn tolerations(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        take(&mut toleration, &Value::Null, "tolerationSeconds");
        toleration.to_string()
    };
    let now: BTreeSet<String> = items(spec, "/tolerations").iter().map(without_seconds).collect();
    let mut before = items(stored, "/tolerations").iter().map(without_seconds);
    if before.any(|toleration| !now.contains(&toleration)) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        forbid(errors, path(&["spec", "tolerations"]), detail);
    }
}

fn gates(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) {
    let before: BTreeSet<&str> = items(stored, "/schedulingGates").iter().map(name_of).collect();
    for (index, gate) in items(spec, "/schedulingGates").iter().enumerate() {
        let name = name_of(gate);
        if !before.contains(name) {
            let path = path(&["spec", "schedulingGates"]).index(index).name("name");
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            forbid(errors, path, &detail);
        }
    }
}

/// A pod that is held back by gates may still become choosier about its node.
fn node_choice(
    errors: &mut Vec<FieldError>,
    spec: &Value,
    stored: &Value,
    taken: &mut Vec<&'static str>,
) {
    let before = member(stored, "nodeSelector").and_then(Value::as_object);
    let selector = spec.get("nodeSelector").cloned().unwrap_or_default();
    if before.into_iter().flatten().any(|(name, value)| selector.get(name) != Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        invalid(errors, &path(&["spec", "nodeSelector"]), selector, [detail]);
    }
    taken.push("nodeSelector");
    let others = |spec: &Value| {
        let mut affinity = spec.get("affinity").cloned().unwrap_or_default();
        if let Value::Object(affinity) = &mut affinity {
            affinity.remove("nodeAffinity");
        }
        affinity
    };
    if semantically_equal(&others(spec), &others(stored)) {
        node_terms(errors, spec, stored);
        taken.push("affinity");
    }
}

fn node_terms(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) {
    let place = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/\
                 nodeSelectorTerms";
    let (now, before) = (items(spec, place), items(stored, place));
    if before.is_empty() {
        return;
    }
    let path = path(&["spec", "affinity", "nodeAffinity"]);
    let path =
        path.name("requiredDuringSchedulingIgnoredDuringExecution").name("nodeSelectorTerms");
    if now.len() != before.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        invalid(errors, &path, now, [detail]);
        return;
    }
    for (index, (now, before)) in now.iter().zip(before).enumerate() {
        let keeps = |list: &str| {
            let now = items(now, list);
            items(before, list).iter().all(|expression| now.contains(expression))
        };
        if !keeps("/matchExpressions") || !keeps("/matchFields") {
            let detail = "only additions are allowed (no mutations or deletions)";
            invalid(errors, &path.clone().index(index), now.clone(), [detail]);
        }
    }
}

/// Checks which ephemeral containers stay (BK-112).
pub(super) fn validate_ephemeral_containers(
    errors: &mut Vec<FieldError>,
    pod: &Value,
    old: &Value,
) {
    if is_static(old) {
        let detail = "static pods do not support ephemeral containers";
        *errors = vec![FieldError::forbidden(whole(), detail)];
        return;
    }
    let path = path(&["spec", "ephemeralContainers"]);
    let shown = |container| show(Some(container), Type::Record(|| &EPHEMERAL_CONTAINER));
    // Of several with a name the first one counts.
    let now = items(pod, "/spec/ephemeralContainers").iter().rev();
    let now: BTreeMap<&str, &Value> =
        now.map(|container| (name_of(container), container)).collect();
    for stored in items(old, "/spec/ephemeralContainers") {
        let name = name_of(stored);
        match now.get(name) {
            None => {
                let detail =
                    format!("existing ephemeral containers \"{name}\" may not be removed\n");
                forbid(errors, path.clone(), &detail);
            }
            Some(container) if !semantically_equal(container, stored) => {
                let difference = difference(&shown(stored), &shown(container));
                let detail = format!(
                    "existing ephemeral containers \"{name}\" may not be changed\n{difference}"
                );
                forbid(errors, path.clone(), &detail);
            }
            Some(_) => {}
        }
    }
}

/// Checks annotations that pods keep.
pub(super) fn validate_annotations(errors: &mut Vec<FieldError>, pod: &Value, old: &Value) {
    let of = |pod: &Value| -> BTreeMap<String, Value> {
        let all = members(pod, "/metadata/annotations");
        all.map(|(key, value)| (key.to_owned(), value.clone())).collect()
    };
    let (now, before) = (of(pod), of(old));
    let mut refuse = |key: &str, change: &str| {
        if let Some(kind) = kept_annotation(key) {
            let path = path(&["metadata", "annotations"]).key(key);
            forbid(errors, path, &format!("may not {change} {kind}"));
        }
    };
    for (key, _) in before.iter().filter(|(key, value)| now.get(*key) != Some(*value)) {
        refuse(key, "remove or update");
    }
    for key in now.keys().filter(|key| !before.contains_key(*key)) {
        refuse(key, "add");
    }
}

/// Returns how errors call an annotation that pods keep.
fn kept_annotation(key: &str) -> Option<&'static str> {
    if key.starts_with(APP_ARMOR) {
        Some("AppArmor annotations")
    } else {
        (key == MIRROR).then_some("mirror pod annotation")
    }
}
