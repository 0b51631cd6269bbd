//! The rules that the level `restricted` adds.

use std::collections::BTreeSet;

use serde_json::Value;

use super::baseline::{added, must_not_add, unconfined};
use super::pod::{Finding, Pod, container_names, containers_must, counted, quoted};
use crate::values::{integer, items, text, value_at};

const SAFE_VOLUMES: [&str; 8] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

pub(super) fn privilege_escalation(pod: &Pod<'_>) -> Option<Finding> {
    let place = "/securityContext/allowPrivilegeEscalation";
    let is_bad = |container: &Value| {
        !pod.is_of_windows() && value_at(container, place) != Some(&Value::Bool(false))
    };
    let rule = "must set securityContext.allowPrivilegeEscalation=false";
    containers_must(pod, is_bad, "allowPrivilegeEscalation != false", rule)
}

pub(super) fn capabilities(pod: &Pod<'_>) -> Option<Finding> {
    if pod.is_of_windows() {
        return None;
    }
    let keeps = |container: &Value| {
        !items(container, "/securityContext/capabilities/drop").iter().any(|name| name == "ALL")
    };
    let keeping = pod.named(keeps);
    let (adding, capabilities) = added(pod, |name| name == "NET_BIND_SERVICE");
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let names = container_names(&keeping);
        details.push(format!("{names} must set securityContext.capabilities.drop=[\"ALL\"]"));
    }
    if !adding.is_empty() {
        details.push(must_not_add(&adding, &capabilities));
    }
    let reason = "unrestricted capabilities".to_owned();
    (!details.is_empty()).then(|| (reason, details.join("; ")))
}

pub(super) fn volumes(pod: &Pod<'_>) -> Option<Finding> {
    let mut names = Vec::new();
    let mut types = BTreeSet::new();
    for volume in items(pod.spec, "/volumes") {
        let sources = volume.as_object().into_iter().flatten();
        let sources = sources.filter(|(name, value)| *name != "name" && !value.is_null());
        let bad = sources.map(|(name, _)| name.as_str()).find(|it| !SAFE_VOLUMES.contains(it));
        if let Some(bad) = bad {
            names.push(text(volume, "/name"));
            types.insert(bad);
        }
    }
    let detail = format!(
        "{} {} {} {} {}",
        counted("volume", "volumes", names.len()),
        quoted(names.iter().copied()),
        counted("uses", "use", names.len()),
        counted("restricted volume type", "restricted volume types", types.len()),
        quoted(types.iter().copied()),
    );
    (!names.is_empty()).then(|| ("restricted volume types".to_owned(), detail))
}

pub(super) fn non_root(pod: &Pod<'_>) -> Option<Finding> {
    let at =
        |holder: &Value| value_at(holder, "/securityContext/runAsNonRoot").and_then(Value::as_bool);
    let reason = "runAsNonRoot != true".to_owned();
    let setters = pod.setters(|holder| at(holder) == Some(false));
    if !setters.is_empty() {
        return Some((
            reason,
            format!("{setters} must not set securityContext.runAsNonRoot=false"),
        ));
    }
    let silent = pod.named(|container| at(container).is_none());
    let is_missing = at(pod.spec) != Some(true) && !silent.is_empty();
    let names = container_names(&silent);
    is_missing
        .then(|| (reason, format!("pod or {names} must set securityContext.runAsNonRoot=true")))
}

pub(super) fn root_user(pod: &Pod<'_>) -> Option<Finding> {
    let setters = pod.setters(|holder| integer(holder, "/securityContext/runAsUser") == Some(0));
    (!setters.is_empty())
        .then(|| ("runAsUser=0".to_owned(), format!("{setters} must not set runAsUser=0")))
}

pub(super) fn seccomp(pod: &Pod<'_>) -> Option<Finding> {
    if pod.is_of_windows() {
        return None;
    }
    if let Some(found) = unconfined(pod) {
        return Some(found);
    }
    let has = |holder: &Value| value_at(holder, "/securityContext/seccompProfile/type").is_some();
    let silent = pod.named(|container| !has(container));
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \
         \"Localhost\"",
        container_names(&silent)
    );
    (!has(pod.spec) && !silent.is_empty()).then(|| ("seccompProfile".to_owned(), detail))
}
