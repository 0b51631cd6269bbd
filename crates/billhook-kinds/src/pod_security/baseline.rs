//! The rules of the level `baseline`.

use std::collections::BTreeSet;

use billhook_apimachinery::print::quote;
use serde_json::Value;

use super::pod::{Finding, Pod, container_names, containers_must, counted, quoted};
use crate::values::{integer, is_set, items, members, text, value_at};

/// The capabilities that containers have by themselves.
const DEFAULT_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The parameters of kernels that pods may set, and the first minor versions that allow them.
const SAFE_SYSCTLS: [(&str, u32); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.tcp_wmem", 32),
];

/// The types that labels of SELinux may have, and the first minor versions that allow them.
const LABELED_TYPES: [(&str, u32); 5] = [
    ("", 0),
    ("container_t", 0),
    ("container_init_t", 0),
    ("container_kvm_t", 0),
    ("container_engine_t", 31),
];

/// Whether a value is one of those that a minor version allows.
fn is_allowed(allowed: &[(&str, u32)], value: &str, minor: u32) -> bool {
    allowed.iter().any(|(name, since)| *name == value && *since <= minor)
}

pub(super) fn app_armor(pod: &Pod<'_>) -> Option<Finding> {
    let place = "/securityContext/appArmorProfile/type";
    let is_bad = |type_: &str| !matches!(type_, "RuntimeDefault" | "Localhost");
    let values = pod.values(place, is_bad);
    let setters =
        pod.setters(|holder| value_at(holder, place).and_then(Value::as_str).is_some_and(is_bad));
    let prefix = "container.apparmor.security.beta.kubernetes.io/";
    let annotations = members(pod.metadata, "/annotations").filter(|(name, value)| {
        let value = text(value, "");
        let is_fine = matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
        name.starts_with(prefix) && !is_fine
    });
    let annotations: BTreeSet<String> = annotations
        .map(|(name, value)| format!("{}={}", quote(name), quote(text(value, ""))))
        .collect();
    let mut details = Vec::new();
    if !setters.is_empty() {
        let values = quoted(values.iter().copied());
        details.push(format!("{setters} must not set AppArmor profile type to {values}"));
    }
    if !annotations.is_empty() {
        let word = counted("annotation", "annotations", annotations.len());
        let listed: Vec<String> = annotations.iter().cloned().collect();
        details.push(format!("{word} {}", listed.join(", ")));
    }
    let count = values.len() + annotations.len();
    let reason = counted("forbidden AppArmor profile", "forbidden AppArmor profiles", count);
    (!details.is_empty()).then(|| (reason.to_owned(), details.join(", ")))
}

/// The capabilities that containers add and must not, and their names.
pub(super) fn added<'p>(
    pod: &Pod<'p>,
    is_allowed: fn(&str) -> bool,
) -> (Vec<&'p str>, BTreeSet<&'p str>) {
    let bad_of = |container: &'p Value| {
        let all = items(container, "/securityContext/capabilities/add").iter();
        all.filter_map(Value::as_str).filter(|name| !is_allowed(name)).collect::<Vec<_>>()
    };
    let mut names = Vec::new();
    let mut capabilities = BTreeSet::new();
    for container in pod.containers() {
        let bad = bad_of(container);
        if !bad.is_empty() {
            names.push(text(container, "/name"));
        }
        capabilities.extend(bad);
    }
    (names, capabilities)
}

pub(super) fn must_not_add(names: &[&str], capabilities: &BTreeSet<&str>) -> String {
    let capabilities = quoted(capabilities.iter().copied());
    let names = container_names(names);
    format!("{names} must not include {capabilities} in securityContext.capabilities.add")
}

pub(super) fn added_capabilities(pod: &Pod<'_>) -> Option<Finding> {
    let (names, capabilities) = added(pod, |name| DEFAULT_CAPABILITIES.contains(&name));
    let reason = "non-default capabilities".to_owned();
    (!names.is_empty()).then(|| (reason, must_not_add(&names, &capabilities)))
}

pub(super) fn host_namespaces(pod: &Pod<'_>) -> Option<Finding> {
    let all = ["hostNetwork", "hostPID", "hostIPC"];
    let shared = all.into_iter().filter(|name| is_set(pod.spec, name));
    let shared: Vec<String> = shared.map(|name| format!("{name}=true")).collect();
    (!shared.is_empty()).then(|| ("host namespaces".to_owned(), shared.join(", ")))
}

pub(super) fn host_paths(pod: &Pod<'_>) -> Option<Finding> {
    let volumes = items(pod.spec, "/volumes").iter();
    let on_host = volumes.filter(|volume| volume.get("hostPath").is_some_and(|it| !it.is_null()));
    let names: Vec<&str> = on_host.map(|volume| text(volume, "/name")).collect();
    let word = counted("volume", "volumes", names.len());
    let detail = || format!("{word} {}", quoted(names.iter().copied()));
    (!names.is_empty()).then(|| ("hostPath volumes".to_owned(), detail()))
}

pub(super) fn host_ports(pod: &Pod<'_>) -> Option<Finding> {
    let ports_of = |container: &Value| {
        let ports = items(container, "/ports").iter();
        ports
            .filter_map(|port| integer(port, "/hostPort").filter(|it| *it != 0))
            .collect::<Vec<_>>()
    };
    let names = pod.named(|container| !ports_of(container).is_empty());
    let ports: BTreeSet<String> =
        pod.containers().flat_map(ports_of).map(|port| port.to_string()).collect();
    let listed: Vec<&str> = ports.iter().map(String::as_str).collect();
    let detail = format!(
        "{} {} {} {}",
        container_names(&names),
        counted("uses", "use", names.len()),
        counted("hostPort", "hostPorts", ports.len()),
        listed.join(", "),
    );
    (!names.is_empty()).then(|| ("hostPort".to_owned(), detail))
}

/// The finding about probes and hooks that ask other hosts than the pod's.
pub(super) fn hosts_of_probes(pod: &Pod<'_>) -> Option<Finding> {
    let actions = ["livenessProbe", "readinessProbe", "startupProbe"].map(|it| format!("/{it}"));
    let actions = actions
        .into_iter()
        .chain(["/lifecycle/postStart", "/lifecycle/preStop"].map(str::to_owned));
    let places: Vec<String> = actions
        .flat_map(|action| ["httpGet", "tcpSocket"].map(|it| format!("{action}/{it}/host")))
        .collect();
    let hosts_of = |container: &'_ Value| {
        let hosts = places.iter().map(|place| text(container, place).to_owned());
        hosts.filter(|host| !host.is_empty()).collect::<BTreeSet<_>>()
    };
    let names = pod.named(|container| !hosts_of(container).is_empty());
    let hosts: BTreeSet<String> = pod.containers().flat_map(hosts_of).collect();
    let detail = format!(
        "{} {} {} {}",
        container_names(&names),
        counted("uses", "use", names.len()),
        counted("probe or lifecycle host", "probe or lifecycle hosts", hosts.len()),
        quoted(hosts.iter().map(String::as_str)),
    );
    (!names.is_empty()).then(|| ("probe or lifecycle host".to_owned(), detail))
}

pub(super) fn privileged(pod: &Pod<'_>) -> Option<Finding> {
    let is_bad = |container: &Value| is_set(container, "/securityContext/privileged");
    containers_must(pod, is_bad, "privileged", "must not set securityContext.privileged=true")
}

pub(super) fn proc_mount(pod: &Pod<'_>) -> Option<Finding> {
    let place = "/securityContext/procMount";
    let is_bad = |mount: &str| mount != "Default";
    let values = pod.values(place, is_bad);
    let rule = format!("must not set securityContext.procMount to {}", quoted(values));
    let has =
        |container: &Value| value_at(container, place).and_then(Value::as_str).is_some_and(is_bad);
    containers_must(pod, has, "procMount", &rule)
}

pub(super) fn se_linux(pod: &Pod<'_>) -> Option<Finding> {
    let at = |holder: &Value, name: &str| {
        text(holder, &format!("/securityContext/seLinuxOptions/{name}")).to_owned()
    };
    let is_bad_type = |type_: &str| !is_allowed(&LABELED_TYPES, type_, pod.minor);
    let setters = pod.setters(|holder| {
        is_bad_type(&at(holder, "type"))
            || !at(holder, "user").is_empty()
            || !at(holder, "role").is_empty()
    });
    let types = pod.values("/securityContext/seLinuxOptions/type", is_bad_type);
    let mut data = Vec::new();
    if !types.is_empty() {
        data.push(format!("{} {}", counted("type", "types", types.len()), quoted(types)));
    }
    for name in ["user", "role"] {
        let place = format!("/securityContext/seLinuxOptions/{name}");
        if !pod.values(&place, |value| !value.is_empty()).is_empty() {
            data.push(format!("{name} may not be set"));
        }
    }
    let detail =
        || format!("{setters} set forbidden securityContext.seLinuxOptions: {}", data.join("; "));
    (!setters.is_empty()).then(|| ("seLinuxOptions".to_owned(), detail()))
}

/// The finding about profiles that confine nothing.
pub(super) fn unconfined(pod: &Pod<'_>) -> Option<Finding> {
    let place = "/securityContext/seccompProfile/type";
    let is_bad = |type_: &str| !matches!(type_, "RuntimeDefault" | "Localhost");
    let values = pod.values(place, is_bad);
    let setters =
        pod.setters(|holder| value_at(holder, place).and_then(Value::as_str).is_some_and(is_bad));
    let rule = format!("must not set securityContext.seccompProfile.type to {}", quoted(values));
    (!setters.is_empty()).then(|| ("seccompProfile".to_owned(), format!("{setters} {rule}")))
}

pub(super) fn sysctls(pod: &Pod<'_>) -> Option<Finding> {
    let all = items(pod.spec, "/securityContext/sysctls").iter().map(|it| text(it, "/name"));
    let is_bad = |name: &&str| !is_allowed(&SAFE_SYSCTLS, name, pod.minor);
    let bad: Vec<&str> = all.filter(is_bad).collect();
    (!bad.is_empty()).then(|| ("forbidden sysctls".to_owned(), bad.join(", ")))
}

pub(super) fn host_process(pod: &Pod<'_>) -> Option<Finding> {
    let setters =
        pod.setters(|holder| is_set(holder, "/securityContext/windowsOptions/hostProcess"));
    let rule = "must not set securityContext.windowsOptions.hostProcess=true";
    (!setters.is_empty()).then(|| ("hostProcess".to_owned(), format!("{setters} {rule}")))
}
