//! Changes of the resources of pods (BK-113).

use billhook_apimachinery::value::semantically_equal;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::annotations::is_static;
use super::checks::{forbid, member, name_of, whole};
use super::resources::class_of_service;
use super::update::{CONTAINERS, take};
use crate::rules::invalid;
use crate::values::{items, items_mut, members, path, section, text, value_at};

/// Checks which resources change.
pub(super) fn validate(errors: &mut Vec<FieldError>, pod: &Value, old: &Value) {
    let (Some(spec), Some(stored)) = (pod.get("spec"), old.get("spec")) else { return };
    let is_of_windows = text(stored, "/os/name") == "windows";
    if is_static(old) || is_of_windows {
        let kind = if is_static(old) { "static" } else { "windows" };
        let detail = format!("{kind} pods cannot be resized");
        *errors = vec![FieldError::forbidden(whole(), &detail)];
        return;
    }
    let class = class_of_service(stored);
    if class_of_service(spec) != class {
        let detail = "Pod QOS Class may not change as a result of resizing";
        invalid(errors, &path(&["spec"]), class, [detail]);
    }
    if !can_be_resized(old) {
        forbid(errors, path(&["spec"]), "Pod running on node without support for resize");
    }
    if !has_same_containers(errors, spec, stored) {
        return;
    }
    kept_of_pod(errors, spec, stored);
    let mut rest = spec.clone();
    for list in CONTAINERS {
        let place = format!("/{list}");
        let containers = items(spec, &place).iter().zip(items(stored, &place)).enumerate();
        for (index, (container, stored)) in containers {
            kept(errors, &path(&["spec", list]).index(index).name("resources"), container, stored);
        }
        for (container, stored) in
            items_mut(&mut rest, &place).iter_mut().zip(items(stored, &place))
        {
            take(container, stored, "resizePolicy");
            take_cpu_and_memory(container, stored);
        }
    }
    take_cpu_and_memory(&mut rest, stored);
    let of_pod = |spec: &Value| spec.get("resources").cloned().unwrap_or_default();
    if !semantically_equal(&of_pod(&rest), &of_pod(stored)) {
        forbid(errors, path(&["spec"]), "only cpu and memory resources are mutable at pod-level");
    }
    take(&mut rest, stored, "resources");
    if !semantically_equal(&rest, stored) {
        forbid(errors, path(&["spec"]), "only cpu and memory resources are mutable");
    }
}

/// Whether the node of a pod tells what its first running container has, as nodes that resize do.
fn can_be_resized(pod: &Value) -> bool {
    let is_running =
        |status: &&Value| value_at(status, "/state/running").is_some_and(|it| !it.is_null());
    let running = items(pod, "/status/containerStatuses").iter().find(is_running);
    running.is_none_or(|status| member(status, "resources").is_some())
}

/// The amounts of a pod as a whole stay, in whatever amount.
fn kept_of_pod(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) {
    let Some(before) = member(stored, "resources") else { return };
    let at = path(&["spec", "resources"]);
    let Some(now) = member(spec, "resources") else {
        return forbid(errors, at, "pod-level resources cannot be removed");
    };
    for name in ["requests", "limits"] {
        let place = format!("/{name}");
        if members(before, &place)
            .any(|(resource, _)| value_at(now, &place).and_then(|it| it.get(resource)).is_none())
        {
            let detail = format!("pod-level resource {name} cannot be removed");
            forbid(errors, at.clone().name(name), &detail);
        }
    }
}

fn has_same_containers(errors: &mut Vec<FieldError>, spec: &Value, stored: &Value) -> bool {
    let before = errors.len();
    for list in CONTAINERS {
        let place = format!("/{list}");
        let (now, stored) = (items(spec, &place), items(stored, &place));
        if now.len() != stored.len() {
            let detail = format!("{list} may not be added or removed on resize");
            forbid(errors, path(&["spec", list]), &detail);
            continue;
        }
        for (index, (container, stored)) in now.iter().zip(stored).enumerate() {
            if name_of(container) != name_of(stored) {
                let detail = format!("{list} may not be renamed or reordered on resize");
                forbid(errors, path(&["spec", list]).index(index).name("name"), &detail);
            }
        }
    }
    errors.len() == before
}

/// A resource that was requested or limited stays so, in whatever amount.
fn kept(errors: &mut Vec<FieldError>, path: &FieldPath, container: &Value, stored: &Value) {
    for (name, detail) in [
        ("requests", "resource requests cannot be removed"),
        ("limits", "resource limits cannot be removed"),
    ] {
        let place = format!("/resources/{name}");
        let amounts = value_at(container, &place);
        let has = |resource: &str| {
            value_at(stored, &format!("{place}/{resource}")).is_some()
                && amounts.and_then(|amounts| amounts.get(resource)).is_none()
        };
        if has("cpu") || has("memory") {
            forbid(errors, path.clone().name(name), detail);
        }
    }
}

fn take_cpu_and_memory(holder: &mut Value, stored: &Value) {
    for list in ["requests", "limits"] {
        for resource in ["cpu", "memory"] {
            let before = value_at(stored, &format!("/resources/{list}/{resource}")).cloned();
            let holds = value_at(holder, &format!("/resources/{list}")).is_some();
            if before.is_none() && !holds {
                continue;
            }
            let Some(resources) = section(holder, "resources") else { continue };
            let amounts = resources.entry(list).or_insert_with(|| serde_json::json!({}));
            let Value::Object(amounts) = amounts else { continue };
            match before {
                Some(amount) => amounts.insert(resource.to_owned(), amount),
                None => amounts.remove(resource),
            };
            if amounts.is_empty() {
                resources.remove(list);
            }
        }
    }
}
