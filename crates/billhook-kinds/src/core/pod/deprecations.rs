//! Warnings about annotations and volumes of pods that have no effect any more (BK-106).

use billhook_apimachinery::FieldPath;
use serde_json::Value;

use super::annotations::{APP_ARMOR, SECCOMP, SECCOMP_OF_POD};
use super::checks::member;
use crate::core::volume_claim;
use crate::values::{items, members, text, value_at};

/// The containers in the order in which warnings come.
pub(super) const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

const NO_SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";

/// Annotations that have been replaced by members of the spec.
const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Annotations of containers, with the member of the security context that replaces each.
const OF_CONTAINERS: [(&str, &str, &str); 2] = [
    (SECCOMP, "seccompProfile", NO_SECCOMP),
    (
        APP_ARMOR,
        "appArmorProfile",
        "deprecated since v1.30; use the \"appArmorProfile\" field instead",
    ),
];

const VOLUMES: [(&str, &str, &str); 9] = [
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// Warns of the annotations of a pod or a template at a path.
pub(super) fn annotations(found: &mut Vec<String>, path: &FieldPath, pod: &Value) {
    let at = path.clone().name("metadata").name("annotations");
    let has = |key: &str| members(pod, "/metadata/annotations").any(|(known, _)| known == key);
    let mut warn = |key: &str, text: &str| {
        if has(key) {
            found.push(format!("{}: {text}", at.clone().key(key)));
        }
    };
    for (key, text) in ANNOTATIONS {
        warn(key, text);
    }
    if !has_profile(pod.get("spec"), "seccompProfile") {
        warn(SECCOMP_OF_POD, NO_SECCOMP);
    }
    let lists = CONTAINERS.map(|list| items(pod, &format!("/spec/{list}")));
    for container in lists.into_iter().flatten() {
        for (prefix, member, replacement) in OF_CONTAINERS {
            if !has_profile(Some(container), member) {
                warn(&format!("{prefix}{}", text(container, "/name")), replacement);
            }
        }
    }
}

fn has_profile(holder: Option<&Value>, name: &str) -> bool {
    let context = holder.and_then(|holder| member(holder, "securityContext"));
    context.is_some_and(|context| member(context, name).is_some())
}

/// Warns of the volumes of a spec at a path.
pub(super) fn volumes(found: &mut Vec<String>, path: &FieldPath, spec: &Value) {
    for (index, volume) in items(spec, "/volumes").iter().enumerate() {
        let at = path.clone().name("volumes").index(index);
        for (name, shown, text) in VOLUMES {
            if member(volume, name).is_some() {
                found.push(format!("{}: {text}", at.clone().name(shown)));
            }
        }
        if let Some(claim) = value_at(volume, "/ephemeral/volumeClaimTemplate/spec") {
            let at = at.name("ephemeral").name("volumeClaimTemplate").name("spec");
            volume_claim::warn(found, &at, claim);
        }
    }
}
