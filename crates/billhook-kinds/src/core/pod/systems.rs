//! Operating systems of pods (BK-106).

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{forbid, member, required};
use super::defaults::CONTAINERS;
use crate::rules::one_of;
use crate::values::{items, text};

/// Members that pods of Windows do not have.
const NOT_IN_WINDOWS: [(&str, &str); 15] = [
    ("securityContext", "appArmorProfile"),
    ("securityContext", "seLinuxOptions"),
    ("", "hostUsers"),
    ("", "hostPID"),
    ("", "hostIPC"),
    ("securityContext", "seccompProfile"),
    ("securityContext", "fsGroup"),
    ("securityContext", "fsGroupChangePolicy"),
    ("securityContext", "sysctls"),
    ("", "shareProcessNamespace"),
    ("securityContext", "runAsUser"),
    ("securityContext", "runAsGroup"),
    ("securityContext", "supplementalGroups"),
    ("securityContext", "supplementalGroupsPolicy"),
    ("securityContext", "seLinuxChangePolicy"),
];

/// Members that their containers do not have.
const NOT_IN_WINDOWS_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// The operating system of a pod.
pub(super) fn validate(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    let Some(system) = member(spec, "os") else { return };
    let at = path.clone().name("os");
    if !required(errors, &at, system, "name") {
        return;
    }
    let name = text(system, "/name");
    one_of(errors, &at, name, &["linux", "windows"]);
    let (of_pod, of_containers, detail): (&[_], &[_], _) = match name {
        "linux" => (
            &[("securityContext", "windowsOptions")],
            &["windowsOptions"],
            "windows options cannot be set for a linux pod",
        ),
        "windows" => {
            (&NOT_IN_WINDOWS, &NOT_IN_WINDOWS_CONTAINERS, "cannot be set for a windows pod")
        }
        _ => return,
    };
    for (part, name) in of_pod {
        let holder = if part.is_empty() { Some(spec) } else { member(spec, part) };
        if holder.and_then(|holder| member(holder, name)).is_some() {
            let path = if part.is_empty() { path.clone() } else { path.clone().name(part) };
            forbid(errors, path.name(name), detail);
        }
    }
    for list in CONTAINERS {
        for (index, container) in items(spec, list).iter().enumerate() {
            let Some(context) = member(container, "securityContext") else { continue };
            let list = list.trim_start_matches('/');
            let path = path.clone().name(list).index(index).name("securityContext");
            for name in of_containers.iter().filter(|name| member(context, name).is_some()) {
                forbid(errors, path.clone().name(name), detail);
            }
        }
    }
}
