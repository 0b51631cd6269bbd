//! The names and addresses of a pod (BK-106).

use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{forbid, ip, is_set, member, member_text, name_of};
use super::edition::EDITIONS;
use super::scope::Scope;
use crate::rules::{invalid, named};
use crate::values::{integer, items, text};

const SEARCH: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
    characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. \
    'example.com', regex used for validation is \
    '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

/// How a pod resolves names.
pub(super) fn dns(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value, scope: &Scope<'_>) {
    let path = path.clone().name("dnsConfig");
    let is_alone = text(spec, "/dnsPolicy") == "None";
    let Some(config) = member(spec, "dnsConfig") else {
        if is_alone {
            let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
            errors.push(FieldError::required(path, detail));
        }
        return;
    };
    servers(errors, &path.clone().name("nameservers"), config, is_alone, scope);
    searches(errors, &path.clone().name("searches"), items(config, "/searches"), scope);
    for (index, option) in items(config, "/options").iter().enumerate() {
        if name_of(option).is_empty() {
            let path = path.clone().name("options").index(index);
            errors.push(FieldError::required(path, "must not be empty"));
        }
    }
}

fn servers(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    config: &Value,
    is_alone: bool,
    scope: &Scope<'_>,
) {
    let servers = items(config, "/nameservers");
    if is_alone && servers.is_empty() {
        let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        errors.push(FieldError::required(path.clone(), detail));
    }
    if servers.len() > 3 {
        invalid(errors, path, servers, ["must not have more than 3 nameservers"]);
    }
    for (index, server) in servers.iter().enumerate() {
        let address = server.as_str().unwrap_or_default();
        ip(errors, &path.clone().index(index), address, scope.kubernetes);
    }
}

fn searches(errors: &mut Vec<FieldError>, path: &FieldPath, searches: &[Value], scope: &Scope<'_>) {
    if searches.len() > 32 {
        invalid(errors, path, searches, ["must not have more than 32 search paths"]);
    }
    let names = searches.iter().map(|search| search.as_str().unwrap_or_default());
    let length: usize = names.clone().map(|name| name.len() + 1).sum();
    if length > 2049 {
        let detail =
            "must not have more than 2048 characters (including spaces) in the search list";
        invalid(errors, path, searches, [detail]);
    }
    for (index, name) in names.enumerate() {
        let trimmed = name.strip_suffix('.').unwrap_or(name);
        if !EDITIONS.of(scope.kubernetes).relaxes_searches {
            invalid(errors, &path.clone().index(index), trimmed, dns1123_subdomain(trimmed));
            continue;
        }
        if name == "." {
            continue;
        }
        let path = path.clone().index(index);
        if trimmed.len() > 253 {
            invalid(errors, &path, trimmed, ["must be no more than 253 characters"]);
        }
        if !trimmed.split('.').all(is_search_label) {
            invalid(errors, &path, trimmed, [SEARCH]);
        }
    }
}

fn is_search_label(label: &str) -> bool {
    let label = label.strip_prefix('_').unwrap_or(label);
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_whole = label.starts_with(is_end) && label.ends_with(is_end);
    is_whole && label.chars().all(|c| is_end(c) || c == '-' || c == '_')
}

/// Ports of containers that have the addresses of the node are the node's.
pub(super) fn host_ports(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    if !scope.is_on_host_network {
        return;
    }
    for (index, container) in items(spec, "/containers").iter().enumerate() {
        for (number, port) in items(container, "/ports").iter().enumerate() {
            let of_host = integer(port, "/hostPort").unwrap_or_default();
            let is_left_out = of_host == 0 && scope.pod.is_none();
            if is_left_out || Some(of_host) == integer(port, "/containerPort") {
                continue;
            }
            let path = path.clone().name("containers").index(index).name("ports").index(number);
            let detail = "must match `containerPort` when `hostNetwork` is true";
            invalid(errors, &path.name("hostPort"), of_host, [detail]);
        }
    }
}

/// A name instead of the one that a pod is given.
pub(super) fn host_name_override(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    let Some(name) = member(spec, "hostnameOverride").and_then(Value::as_str) else { return };
    let path = path.clone().name("hostnameOverride");
    if is_set(spec, "setHostnameAsFQDN") {
        forbid(errors, path.clone(), "may not be specified when setHostnameAsFQDN is true");
    }
    if scope.is_on_host_network {
        forbid(errors, path.clone(), "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        errors.push(FieldError::too_long(path.clone(), 64));
    }
    named(errors, &path, name, dns1123_subdomain);
}

/// A pod with users of its own does not share the node's network or processes.
pub(super) fn users(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    if scope.has_host_users {
        return;
    }
    let detail = "when `hostUsers` is false";
    for (name, shown) in
        [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")]
    {
        if is_set(spec, name) {
            forbid(errors, path.clone().name(shown), detail);
        }
    }
}

/// Names of other hosts.
pub(super) fn host_aliases(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    aliases: &[Value],
    scope: &Scope<'_>,
) {
    for (index, alias) in aliases.iter().enumerate() {
        let path = path.clone().index(index);
        let address = member_text(alias, "ip").unwrap_or_default();
        ip(errors, &path.clone().name("ip"), address, scope.kubernetes);
        for (number, name) in items(alias, "/hostnames").iter().enumerate() {
            let path = path.clone().name("hostnames").index(number);
            named(errors, &path, name.as_str().unwrap_or_default(), dns1123_subdomain);
        }
    }
}
