//! Security contexts of pods and of their containers (BK-104, BK-106).

use std::collections::BTreeSet;

use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{
    descending_path, is_set, member, member_text, one_of_member, one_of_required, required,
};
use super::internal::show;
use super::scope::Scope;
use crate::generated::core_v1::{SECCOMP_PROFILE, SECURITY_CONTEXT};
use crate::rules::{id, invalid, named};
use crate::values::{items, text};

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

const SYSCTL: &str = "must have at most 253 characters and match regex \
    ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// The security context of a container.
pub(super) fn of_container(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    context: &Value,
    scope: &Scope<'_>,
) {
    if scope.refuses_privileged && is_set(context, "privileged") {
        let detail = "disallowed by cluster policy";
        errors.push(FieldError::forbidden(path.clone().name("privileged"), detail));
    }
    id(errors, &path.clone().name("runAsUser"), context.get("runAsUser"));
    id(errors, &path.clone().name("runAsGroup"), context.get("runAsGroup"));
    one_of_member(errors, path, context, "procMount", &["Default", "Unmasked"]);
    if text(context, "/procMount") == "Unmasked" && scope.has_host_users {
        let detail = "`hostUsers` must be false to use `Unmasked`";
        invalid(errors, &path.clone().name("procMount"), "Unmasked", [detail]);
    }
    seccomp(errors, path, context);
    escalation(errors, path, context);
    windows(errors, path, context);
    app_armor(errors, path, context);
}

/// Who may gain rights cannot be kept from it.
fn escalation(errors: &mut Vec<FieldError>, path: &FieldPath, context: &Value) {
    if context.get("allowPrivilegeEscalation") != Some(&Value::Bool(false)) {
        return;
    }
    let shown = || show(Some(context), Type::Record(|| &SECURITY_CONTEXT));
    let mut refuse = |detail: &str| {
        let error = FieldError::invalid(path.clone(), context.clone(), detail);
        errors.push(error.show_value_as(shown()));
    };
    if is_set(context, "privileged") {
        refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
    if items(context, "/capabilities/add").iter().any(|name| name == "CAP_SYS_ADMIN") {
        refuse(
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
        );
    }
}

fn seccomp(errors: &mut Vec<FieldError>, path: &FieldPath, context: &Value) {
    let Some(profile) = member(context, "seccompProfile") else { return };
    let path = path.clone().name("seccompProfile");
    match text(profile, "/type") {
        "" => {
            let detail = "type is required when seccompProfile is set";
            errors.push(FieldError::required(path.clone().name("type"), detail));
        }
        _ => one_of_member(errors, &path, profile, "type", &PROFILES),
    }
    let at = path.name("localhostProfile");
    let file = member(profile, "localhostProfile").and_then(Value::as_str);
    match (text(profile, "/type"), file) {
        ("Localhost", None) => {
            errors.push(FieldError::required(at, "must be set when seccomp type is Localhost"));
        }
        ("Localhost", Some(file)) => descending_path(errors, &at, file),
        (_, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            let shown = show(Some(profile), Type::Record(|| &SECCOMP_PROFILE));
            errors.push(FieldError::invalid(at, profile.clone(), detail).show_value_as(shown));
        }
        _ => {}
    }
}

fn app_armor(errors: &mut Vec<FieldError>, path: &FieldPath, context: &Value) {
    let Some(profile) = member(context, "appArmorProfile") else { return };
    let path = path.clone().name("appArmorProfile");
    let at = path.clone().name("localhostProfile");
    let name = member(profile, "localhostProfile").and_then(Value::as_str);
    match (text(profile, "/type"), name) {
        ("Localhost", Some(name)) if !name.trim().is_empty() => {
            if name.trim() != name {
                invalid(errors, &at, name, ["must not be padded with whitespace"]);
            }
            if name.len() > 4095 {
                errors.push(FieldError::too_long(at, 4095));
            }
        }
        ("Localhost", _) => {
            errors.push(FieldError::required(at, "must be set when AppArmor type is Localhost"));
        }
        ("RuntimeDefault" | "Unconfined", Some(name)) => {
            invalid(errors, &at, name, ["can only be set when AppArmor type is Localhost"]);
        }
        ("", _) => {
            let detail = "type is required when appArmorProfile is set";
            errors.push(FieldError::required(path.name("type"), detail));
        }
        _ => one_of_member(errors, &path, profile, "type", &PROFILES),
    }
}

fn windows(errors: &mut Vec<FieldError>, path: &FieldPath, context: &Value) {
    let Some(options) = member(context, "windowsOptions") else { return };
    let path = path.clone().name("windowsOptions");
    if let Some(name) = member(options, "gmsaCredentialSpecName").and_then(Value::as_str) {
        named(errors, &path.clone().name("gmsaCredentialSpecName"), name, dns1123_subdomain);
    }
    for name in ["gmsaCredentialSpec", "runAsUserName"] {
        if options.get(name).is_some_and(|value| value == "") {
            let detail = format!("{name} cannot be an empty string");
            invalid(errors, &path.clone().name(name), "", [detail]);
        }
    }
}

/// The security context of a pod.
pub(super) fn of_pod(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    let Some(context) = member(spec, "securityContext") else { return };
    let path = path.clone().name("securityContext");
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(errors, &path.clone().name(name), context.get(name));
    }
    let groups = path.clone().name("supplementalGroups");
    for (index, group) in items(context, "/supplementalGroups").iter().enumerate() {
        id(errors, &groups.clone().index(index), Some(group));
    }
    if is_set(spec, "shareProcessNamespace") && is_set(spec, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        invalid(errors, &path.clone().name("shareProcessNamespace"), true, [detail]);
    }
    sysctls(errors, &path.clone().name("sysctls"), spec, items(context, "/sysctls"));
    let policies = ["Always", "OnRootMismatch"];
    one_of_member(errors, &path, context, "fsGroupChangePolicy", &policies);
    seccomp(errors, &path, context);
    windows(errors, &path, context);
    app_armor(errors, &path, context);
    one_of_member(errors, &path, context, "supplementalGroupsPolicy", &["Merge", "Strict"]);
    if member_text(context, "seLinuxChangePolicy").is_some() {
        one_of_required(errors, &path, context, "seLinuxChangePolicy", &["Recursive"]);
    }
}

fn sysctls(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value, sysctls: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, sysctl) in sysctls.iter().enumerate() {
        let path = path.clone().index(index);
        let name = text(sysctl, "/name");
        let is_new = names.insert(name);
        if !required(errors, &path, sysctl, "name") {
            // A missing name repeats nothing.
        } else if !is_sysctl(name) {
            invalid(errors, &path.clone().name("name"), name, [SYSCTL]);
        } else if !is_new {
            errors.push(FieldError::duplicate(path.clone().name("name"), name));
        }
        if let Some(host) = host_of_sysctl(name).filter(|host| is_set(spec, host)) {
            let detail = format!("may not be specified when '{host}' is true");
            invalid(errors, &path.name("name"), name, [detail]);
        }
    }
}

/// The member that gives a pod the namespace of its node in which a parameter is.
fn host_of_sysctl(name: &str) -> Option<&'static str> {
    let name = name.replace('/', ".");
    let of_ipc = ["kernel.shm", "kernel.msg", "fs.mqueue."];
    if name.starts_with("net.") {
        Some("hostNetwork")
    } else if name == "kernel.sem" || of_ipc.iter().any(|prefix| name.starts_with(prefix)) {
        Some("hostIPC")
    } else {
        None
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        let is_whole = part.starts_with(is_end) && part.ends_with(is_end);
        is_whole && part.chars().all(|c| is_end(c) || c == '-' || c == '_')
    };
    name.len() <= 253 && name.split(['.', '/']).all(is_part)
}
