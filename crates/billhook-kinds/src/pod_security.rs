//! The levels of security that pods of a namespace must have (BK-567).

use std::collections::BTreeSet;

use billhook_apimachinery::FieldError;
use billhook_apimachinery::print::quote;
use serde_json::Value;

use crate::values::{integer, is_set, items, members, path, text};

const LABEL: &str = "pod-security.kubernetes.io/";

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

const SAFE_SYSCTLS: [&str; 10] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_syncookies",
];

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

const LABELED_TYPES: [&str; 5] =
    ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

/// A level of security that a namespace asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityLevel {
    is_restricted: bool,
    shown: String,
}

impl SecurityLevel {
    /// Returns the level that the labels of a namespace ask for in a mode, such as `enforce` or `warn`;
    /// none if all pods are allowed.
    pub fn of(namespace: &Value, mode: &str) -> Option<Self> {
        let label = |name: &str| {
            let labels = namespace.pointer("/metadata/labels");
            labels.and_then(|labels| labels.get(format!("{LABEL}{name}"))).and_then(Value::as_str)
        };
        let level = label(mode)?;
        let version = label(&format!("{mode}-version")).unwrap_or("latest");
        let is_restricted = match level {
            "baseline" => false,
            // An unknown one is the strictest.
            "privileged" => return None,
            _ => true,
        };
        let level = if is_restricted { "restricted" } else { "baseline" };
        Some(SecurityLevel { is_restricted, shown: format!("{level}:{version}") })
    }

    /// Returns what is wrong with the spec of a pod, as servers say it; none if it has the level.
    pub fn violation(&self, metadata: &Value, spec: &Value) -> Option<String> {
        let pod = Pod { metadata, spec };
        let found: Vec<String> = CHECKS
            .iter()
            .filter(|check| match check.level {
                Level::Both => true,
                Level::BaselineOnly => !self.is_restricted,
                Level::Restricted => self.is_restricted,
            })
            .filter_map(|check| (check.find)(&pod))
            .map(|(reason, detail)| format!("{reason} ({detail})"))
            .collect();
        (!found.is_empty())
            .then(|| format!("violate PodSecurity {}: {}", quote(&self.shown), found.join(", ")))
    }
}

/// Returns the errors of a namespace's labels about levels of security.
pub fn security_label_errors(namespace: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, value) in members(namespace, "/metadata/labels") {
        let Some(mode) = name.strip_prefix(LABEL) else { continue };
        let value = text(value, "");
        let detail = match mode {
            "enforce" | "audit" | "warn" => {
                let known = ["privileged", "baseline", "restricted"];
                (!known.contains(&value))
                    .then_some("must be one of privileged, baseline, restricted")
            }
            "enforce-version" | "audit-version" | "warn-version" => {
                let minor = value.strip_prefix("v1.").is_some_and(|minor| {
                    minor.bytes().all(|byte| byte.is_ascii_digit())
                        && minor.parse::<u32>().is_ok()
                        && (minor == "0" || !minor.starts_with('0'))
                });
                (value != "latest" && !minor).then_some("must be \"latest\" or \"v1.x\"")
            }
            _ => None,
        };
        let path = path(&["metadata", "labels"]).key(name);
        errors.extend(detail.map(|detail| FieldError::invalid(path, value, detail)));
    }
    errors
}

/// A pod, or the template of pods.
struct Pod<'p> {
    metadata: &'p Value,
    spec: &'p Value,
}

/// The levels that have a check.
enum Level {
    Both,
    /// Replaced by a stricter one in the restricted level.
    BaselineOnly,
    Restricted,
}

struct Check {
    level: Level,
    find: fn(&Pod<'_>) -> Option<(String, String)>,
}

/// All checks in the order in which servers report them.
static CHECKS: [Check; 17] = [
    Check { level: Level::Restricted, find: privilege_escalation },
    Check { level: Level::Both, find: app_armor },
    Check { level: Level::BaselineOnly, find: added_capabilities },
    Check { level: Level::Restricted, find: capabilities },
    Check { level: Level::Both, find: host_namespaces },
    Check { level: Level::BaselineOnly, find: host_paths },
    Check { level: Level::Both, find: host_ports },
    Check { level: Level::Both, find: privileged },
    Check { level: Level::Both, find: proc_mount },
    Check { level: Level::Restricted, find: volumes },
    Check { level: Level::Restricted, find: non_root },
    Check { level: Level::Restricted, find: root_user },
    Check { level: Level::Both, find: se_linux },
    Check { level: Level::BaselineOnly, find: unconfined },
    Check { level: Level::Restricted, find: seccomp },
    Check { level: Level::Both, find: sysctls },
    Check { level: Level::Both, find: host_process },
];

impl<'p> Pod<'p> {
    fn containers(&self) -> impl Iterator<Item = &'p Value> {
        let lists = ["/initContainers", "/containers", "/ephemeralContainers"];
        let spec = self.spec;
        lists.into_iter().flat_map(move |place| items(spec, place))
    }

    /// The names of the containers that a condition is true of.
    fn named(&self, is_bad: impl Fn(&Value) -> bool) -> Vec<&'p str> {
        let found = self.containers().filter(|container| is_bad(container));
        found.map(|container| text(container, "/name")).collect()
    }

    /// The pod and the containers that set something, as errors name them; empty if none does.
    fn setters(&self, is_bad: impl Fn(&Value) -> bool) -> String {
        let containers = self.named(&is_bad);
        let pod = is_bad(self.spec).then(|| "pod".to_owned());
        let containers = (!containers.is_empty()).then(|| container_names(&containers));
        pod.into_iter().chain(containers).collect::<Vec<_>>().join(" and ")
    }

    /// The values that the pod or its containers have at a place and that are not allowed.
    fn values(&self, place: &str, is_bad: impl Fn(&str) -> bool) -> BTreeSet<&'p str> {
        let holders = [self.spec].into_iter().chain(self.containers());
        let values = holders.filter_map(|holder| holder.pointer(place)?.as_str());
        values.filter(|value| is_bad(value)).collect()
    }
}

fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

fn counted<'w>(one: &'w str, several: &'w str, count: usize) -> &'w str {
    if count == 1 { one } else { several }
}

fn container_names(names: &[&str]) -> String {
    let names_quoted = quoted(names.iter().copied());
    format!("{} {names_quoted}", counted("container", "containers", names.len()))
}

/// The finding about the containers that a condition is true of.
fn containers_must(
    pod: &Pod<'_>,
    is_bad: impl Fn(&Value) -> bool,
    reason: &str,
    rule: &str,
) -> Option<(String, String)> {
    let bad = pod.named(is_bad);
    (!bad.is_empty()).then(|| (reason.to_owned(), format!("{} {rule}", container_names(&bad))))
}

fn privilege_escalation(pod: &Pod<'_>) -> Option<(String, String)> {
    let place = "/securityContext/allowPrivilegeEscalation";
    let is_bad = |container: &Value| container.pointer(place) != Some(&Value::Bool(false));
    let rule = "must set securityContext.allowPrivilegeEscalation=false";
    containers_must(pod, is_bad, "allowPrivilegeEscalation != false", rule)
}

fn app_armor(pod: &Pod<'_>) -> Option<(String, String)> {
    let place = "/securityContext/appArmorProfile/type";
    let is_bad = |type_: &str| !matches!(type_, "RuntimeDefault" | "Localhost");
    let values = pod.values(place, is_bad);
    let setters =
        pod.setters(|holder| holder.pointer(place).and_then(Value::as_str).is_some_and(is_bad));
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
fn added<'p>(pod: &Pod<'p>, is_allowed: fn(&str) -> bool) -> (Vec<&'p str>, BTreeSet<&'p str>) {
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

fn must_not_add(names: &[&str], capabilities: &BTreeSet<&str>) -> String {
    let capabilities = quoted(capabilities.iter().copied());
    let names = container_names(names);
    format!("{names} must not include {capabilities} in securityContext.capabilities.add")
}

fn added_capabilities(pod: &Pod<'_>) -> Option<(String, String)> {
    let (names, capabilities) = added(pod, |name| DEFAULT_CAPABILITIES.contains(&name));
    let reason = "non-default capabilities".to_owned();
    (!names.is_empty()).then(|| (reason, must_not_add(&names, &capabilities)))
}

fn capabilities(pod: &Pod<'_>) -> Option<(String, String)> {
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

fn host_namespaces(pod: &Pod<'_>) -> Option<(String, String)> {
    let all = ["hostNetwork", "hostPID", "hostIPC"];
    let shared = all.into_iter().filter(|name| is_set(pod.spec, &format!("/{name}")));
    let shared: Vec<String> = shared.map(|name| format!("{name}=true")).collect();
    (!shared.is_empty()).then(|| ("host namespaces".to_owned(), shared.join(", ")))
}

fn host_paths(pod: &Pod<'_>) -> Option<(String, String)> {
    let volumes = items(pod.spec, "/volumes").iter();
    let on_host = volumes.filter(|volume| volume.get("hostPath").is_some_and(|it| !it.is_null()));
    let names: Vec<&str> = on_host.map(|volume| text(volume, "/name")).collect();
    let word = counted("volume", "volumes", names.len());
    let detail = || format!("{word} {}", quoted(names.iter().copied()));
    (!names.is_empty()).then(|| ("hostPath volumes".to_owned(), detail()))
}

fn host_ports(pod: &Pod<'_>) -> Option<(String, String)> {
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

fn privileged(pod: &Pod<'_>) -> Option<(String, String)> {
    let is_bad = |container: &Value| is_set(container, "/securityContext/privileged");
    containers_must(pod, is_bad, "privileged", "must not set securityContext.privileged=true")
}

fn proc_mount(pod: &Pod<'_>) -> Option<(String, String)> {
    let place = "/securityContext/procMount";
    let is_bad = |mount: &str| mount != "Default";
    let values = pod.values(place, is_bad);
    let rule = format!("must not set securityContext.procMount to {}", quoted(values));
    let has =
        |container: &Value| container.pointer(place).and_then(Value::as_str).is_some_and(is_bad);
    containers_must(pod, has, "procMount", &rule)
}

fn volumes(pod: &Pod<'_>) -> Option<(String, String)> {
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

fn non_root(pod: &Pod<'_>) -> Option<(String, String)> {
    let at =
        |holder: &Value| holder.pointer("/securityContext/runAsNonRoot").and_then(Value::as_bool);
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

fn root_user(pod: &Pod<'_>) -> Option<(String, String)> {
    let setters = pod.setters(|holder| integer(holder, "/securityContext/runAsUser") == Some(0));
    (!setters.is_empty())
        .then(|| ("runAsUser=0".to_owned(), format!("{setters} must not set runAsUser=0")))
}

fn se_linux(pod: &Pod<'_>) -> Option<(String, String)> {
    let at = |holder: &Value, name: &str| {
        text(holder, &format!("/securityContext/seLinuxOptions/{name}")).to_owned()
    };
    let is_bad_type = |type_: &str| !LABELED_TYPES.contains(&type_);
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
fn unconfined(pod: &Pod<'_>) -> Option<(String, String)> {
    let place = "/securityContext/seccompProfile/type";
    let is_bad = |type_: &str| !matches!(type_, "RuntimeDefault" | "Localhost");
    let values = pod.values(place, is_bad);
    let setters =
        pod.setters(|holder| holder.pointer(place).and_then(Value::as_str).is_some_and(is_bad));
    let rule = format!("must not set securityContext.seccompProfile.type to {}", quoted(values));
    (!setters.is_empty()).then(|| ("seccompProfile".to_owned(), format!("{setters} {rule}")))
}

fn seccomp(pod: &Pod<'_>) -> Option<(String, String)> {
    if let Some(found) = unconfined(pod) {
        return Some(found);
    }
    let has = |holder: &Value| holder.pointer("/securityContext/seccompProfile/type").is_some();
    let silent = pod.named(|container| !has(container));
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \
         \"Localhost\"",
        container_names(&silent)
    );
    (!has(pod.spec) && !silent.is_empty()).then(|| ("seccompProfile".to_owned(), detail))
}

fn sysctls(pod: &Pod<'_>) -> Option<(String, String)> {
    let all = items(pod.spec, "/securityContext/sysctls").iter().map(|it| text(it, "/name"));
    let bad: Vec<&str> = all.filter(|name| !SAFE_SYSCTLS.contains(name)).collect();
    (!bad.is_empty()).then(|| ("forbidden sysctls".to_owned(), bad.join(", ")))
}

fn host_process(pod: &Pod<'_>) -> Option<(String, String)> {
    let setters =
        pod.setters(|holder| is_set(holder, "/securityContext/windowsOptions/hostProcess"));
    let rule = "must not set securityContext.windowsOptions.hostProcess=true";
    (!setters.is_empty()).then(|| ("hostProcess".to_owned(), format!("{setters} {rule}")))
}
