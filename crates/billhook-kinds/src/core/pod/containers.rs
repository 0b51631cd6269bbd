//! The containers of a pod (BK-104).

use std::collections::BTreeSet;

use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{
    forbid, member, member_text, name_of, one_of_member, one_of_required, required,
};
use super::edition::EDITIONS;
use super::resources::is_sidecar;
use super::scope::Scope;
use super::{amounts, mounts, probes, security, variables};
use crate::rules::{invalid, named, one_of, port, port_name};
use crate::values::{integer, items, text};

const RESTARTS: [&str; 3] = ["Always", "Never", "OnFailure"];

/// Members that ephemeral containers do not have.
const NOT_EPHEMERAL: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// The three lists of containers of a pod.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    let containers = items(spec, "/containers");
    let list = path.clone().name("containers");
    if containers.is_empty() {
        errors.push(FieldError::required(list.clone(), ""));
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = list.clone().index(index);
        common(errors, &path, container, scope);
        repeated(errors, &path, container, &mut names);
        probes::validate(errors, &path, container, scope);
        restarts(errors, &path, container, scope);
    }
    host_ports(errors, &list, containers);
    init_containers(errors, &path.clone().name("initContainers"), spec, names.clone(), scope);
    let path = path.clone().name("ephemeralContainers");
    ephemeral_containers(errors, &path, spec, names, scope);
}

/// The name of a container is its own. `names` are those of the containers before it.
fn repeated<'c>(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &'c Value,
    names: &mut BTreeSet<&'c str>,
) {
    let name = name_of(container);
    if !names.insert(name) && !name.is_empty() {
        errors.push(FieldError::duplicate(path.clone().name("name"), name));
    }
}

/// The members that all containers have.
fn common(errors: &mut Vec<FieldError>, path: &FieldPath, container: &Value, scope: &Scope<'_>) {
    let at = |name: &str| path.clone().name(name);
    if required(errors, path, container, "name") {
        named(errors, &at("name"), name_of(container), dns1123_label);
    }
    required(errors, path, container, "image");
    let policies = ["File", "FallbackToLogsOnError"];
    one_of_required(errors, path, container, "terminationMessagePolicy", &policies);
    ports(errors, &at("ports"), items(container, "/ports"));
    variables::validate(errors, path, container, scope);
    mounts::validate(errors, path, container, scope);
    let policies = ["Always", "IfNotPresent", "Never"];
    one_of_required(errors, path, container, "imagePullPolicy", &policies);
    if let Some(resources) = member(container, "resources") {
        amounts::of_container(errors, &at("resources"), resources, scope);
    }
    resize_policy(errors, &at("resizePolicy"), items(container, "/resizePolicy"), scope);
    if let Some(context) = member(container, "securityContext") {
        security::of_container(errors, &at("securityContext"), context, scope);
    }
}

fn ports(errors: &mut Vec<FieldError>, path: &FieldPath, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, entry) in ports.iter().enumerate() {
        let path = path.clone().index(index);
        if let Some(name) = member_text(entry, "name") {
            let at = path.clone().name("name");
            let messages = port_name(name);
            if !messages.is_empty() {
                invalid(errors, &at, name, messages);
            } else if !names.insert(name) {
                errors.push(FieldError::duplicate(at, name));
            }
        }
        match integer(entry, "/containerPort").unwrap_or_default() {
            0 => errors.push(FieldError::required(path.clone().name("containerPort"), "")),
            number => port(errors, &path.clone().name("containerPort"), number),
        }
        let of_host = integer(entry, "/hostPort").unwrap_or_default();
        if of_host != 0 {
            port(errors, &path.clone().name("hostPort"), of_host);
        }
        one_of_required(errors, &path, entry, "protocol", &["SCTP", "TCP", "UDP"]);
    }
}

/// A port of the node is taken once.
fn host_ports(errors: &mut Vec<FieldError>, path: &FieldPath, containers: &[Value]) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, entry) in items(container, "/ports").iter().enumerate() {
            let number = integer(entry, "/hostPort").unwrap_or_default();
            if number == 0 {
                continue;
            }
            let (protocol, ip) = (text(entry, "/protocol"), text(entry, "/hostIP"));
            let whole = format!("{protocol}/{ip}/{number}");
            if !taken.insert(whole.clone()) {
                let path = path.clone().index(index).name("ports").index(port_index);
                errors.push(FieldError::duplicate(path.name("hostPort"), whole));
            }
        }
    }
}

fn resize_policy(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    policies: &[Value],
    scope: &Scope<'_>,
) {
    let mut names = BTreeSet::new();
    for (index, policy) in policies.iter().enumerate() {
        let (name, restart) = (text(policy, "/resourceName"), text(policy, "/restartPolicy"));
        if !names.insert(name) {
            errors.push(FieldError::duplicate(path.clone().index(index), name));
        }
        for (value, supported) in
            [(name, ["cpu", "memory"]), (restart, ["NotRequired", "RestartContainer"])]
        {
            if value.is_empty() {
                errors.push(FieldError::required(path.clone(), ""));
            } else {
                one_of(errors, path, value, &supported);
            }
        }
        if scope.restart_policy == "Never" && !matches!(restart, "" | "NotRequired") {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            invalid(errors, path, restart, [detail]);
        }
    }
}

/// When a container is restarted by itself.
fn restarts(errors: &mut Vec<FieldError>, path: &FieldPath, container: &Value, scope: &Scope<'_>) {
    if !EDITIONS.of(scope.kubernetes).has_restart_rules {
        if member(container, "restartPolicy").is_some() {
            let detail = "may not be set for non-init containers";
            forbid(errors, path.clone().name("restartPolicy"), detail);
        }
        return;
    }
    restart_rules(errors, path, container);
}

fn restart_rules(errors: &mut Vec<FieldError>, path: &FieldPath, container: &Value) {
    let rules = items(container, "/restartPolicyRules");
    let at = path.clone().name("restartPolicyRules");
    if member(container, "restartPolicy").is_some() {
        one_of_member(errors, path, container, "restartPolicy", &RESTARTS);
    } else if !rules.is_empty() {
        let detail = "must specify restartPolicy when restart rules are used";
        errors.push(FieldError::required(path.clone().name("restartPolicy"), detail));
    }
    if rules.len() > 20 {
        errors.push(FieldError::too_many(at.clone(), rules.len(), 20));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = at.clone().index(index);
        let actions = ["Restart", "RestartAllContainers"];
        one_of(errors, &path.clone().name("action"), text(rule, "/action"), &actions);
        let path = path.name("exitCodes");
        let Some(codes) = member(rule, "exitCodes") else {
            errors.push(FieldError::required(path, "must be specified"));
            continue;
        };
        let operator = text(codes, "/operator");
        one_of(errors, &path.clone().name("operator"), operator, &["In", "NotIn"]);
        let values = items(codes, "/values").len();
        if values > 255 {
            errors.push(FieldError::too_many(path.name("values"), values, 255));
        }
    }
}

fn init_containers<'s>(
    errors: &mut Vec<FieldError>,
    list: &FieldPath,
    spec: &'s Value,
    mut names: BTreeSet<&'s str>,
    scope: &Scope<'_>,
) {
    let containers = items(spec, "/initContainers");
    for (index, container) in containers.iter().enumerate() {
        let path = list.clone().index(index);
        common(errors, &path, container, scope);
        init_restarts(errors, &path, container, scope);
        repeated(errors, &path, container, &mut names);
        if is_sidecar(container) {
            probes::validate(errors, &path, container, scope);
            continue;
        }
        for (index, policy) in items(container, "/resizePolicy").iter().enumerate() {
            if text(policy, "/restartPolicy") == "RestartContainer" {
                let path = path.clone().name("resizePolicy").index(index).name("restartPolicy");
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                invalid(errors, &path, "RestartContainer", [detail]);
            }
        }
        for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if member(container, name).is_some() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                forbid(errors, path.clone().name(name), detail);
            }
        }
    }
}

fn init_restarts(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &Value,
    scope: &Scope<'_>,
) {
    if !EDITIONS.of(scope.kubernetes).has_restart_rules {
        one_of_member(errors, path, container, "restartPolicy", &["Always"]);
        return;
    }
    if is_sidecar(container) && !items(container, "/restartPolicyRules").is_empty() {
        let detail =
            "restartPolicyRules are not allowed for init containers with restart policy Always";
        forbid(errors, path.clone().name("restartPolicyRules"), detail);
        return;
    }
    restart_rules(errors, path, container);
}

fn ephemeral_containers<'s>(
    errors: &mut Vec<FieldError>,
    list: &FieldPath,
    spec: &'s Value,
    mut names: BTreeSet<&'s str>,
    scope: &Scope<'_>,
) {
    let containers = items(spec, "/ephemeralContainers");
    let targets: BTreeSet<&str> = items(spec, "/containers").iter().map(name_of).collect();
    names.extend(items(spec, "/initContainers").iter().map(name_of));
    for (index, container) in containers.iter().enumerate() {
        let path = list.clone().index(index);
        common(errors, &path, container, scope);
        repeated(errors, &path, container, &mut names);
        if let Some(target) = member_text(container, "targetContainerName")
            && !targets.contains(target)
        {
            errors.push(FieldError::not_found(path.clone().name("targetContainerName"), target));
        }
        let detail = "cannot be set for an Ephemeral Container";
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        for name in NOT_EPHEMERAL {
            let value = member(container, name);
            if value.is_some_and(|value| name != "resources" || !is_empty(value)) {
                forbid(errors, path.clone().name(name), detail);
            }
        }
        for (index, mount) in items(container, "/volumeMounts").iter().enumerate() {
            for name in ["subPath", "subPathExpr"] {
                if member_text(mount, name).is_some() {
                    let path = path.clone().name("volumeMounts").index(index);
                    forbid(errors, path.name(name), detail);
                }
            }
        }
    }
}
