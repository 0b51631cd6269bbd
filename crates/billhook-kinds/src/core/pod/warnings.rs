//! Warnings about the spec of pods and of templates, in the server's order (BK-106).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::names::label_value;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::{FieldPath, KubernetesVersion};
use serde_json::Value;

use super::checks::member;
use super::deprecations::{self, CONTAINERS};
use crate::core::node_selector::deprecated_label;
use crate::rules::warn_of_fractions;
use crate::values::{integer, items, members, text, value_at};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// How many pairs of ports are compared: servers cut warnings long before.
const MOST_PAIRS: usize = 10_000;

/// Returns the warnings about a pod or a template at a path.
pub(crate) fn warnings(
    whole: &FieldPath,
    pod: &Value,
    kubernetes: KubernetesVersion,
) -> Vec<String> {
    let mut found = Vec::new();
    let Some(spec) = pod.get("spec") else { return found };
    let path = &whole.clone().name("spec");
    deprecated_labels(&mut found, path, spec, kubernetes);
    topology(&mut found, path, spec);
    deprecations::annotations(&mut found, whole, pod);
    deprecations::volumes(&mut found, path, spec);
    repeated(&mut found, path, spec, ["hostAliases", "ip"]);
    repeated(&mut found, path, spec, ["imagePullSecrets", "name"]);
    for (index, secret) in items(spec, "/imagePullSecrets").iter().enumerate() {
        if text(secret, "/name").is_empty() {
            let at = path.clone().name("imagePullSecrets").index(index).name("name");
            found.push(format!("{at}: invalid empty name \"\""));
        }
    }
    warn_of_fractions(&mut found, &path.clone().name("overhead"), spec.get("overhead"), &BYTES);
    let containers = containers(path, spec);
    for (at, container) in &containers {
        container_amounts(&mut found, at, container);
        hidden_variables(&mut found, at, container);
    }
    repeated_ports(&mut found, &containers);
    if integer(spec, "/terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let at = path.clone().name("terminationGracePeriodSeconds");
        found.push(format!(
            "{at}: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    affinity(&mut found, &path.clone().name("affinity"), spec);
    found
}

/// The containers of a spec, with their paths.
fn containers<'s>(path: &FieldPath, spec: &'s Value) -> Vec<(FieldPath, &'s Value)> {
    let mut all = Vec::new();
    for list in CONTAINERS {
        let containers = items(spec, list).iter().enumerate();
        all.extend(containers.map(|(index, it)| (path.clone().name(list).index(index), it)));
    }
    all
}

/// Labels of nodes that have other names today, and values that no label has.
fn deprecated_labels(
    found: &mut Vec<String>,
    path: &FieldPath,
    spec: &Value,
    kubernetes: KubernetesVersion,
) {
    let at = path.clone().name("nodeSelector");
    for (key, _) in members(spec, "/nodeSelector") {
        found.extend(deprecated_label(key).map(|text| format!("{}: {text}", at.clone().key(key))));
    }
    let at = path.clone().name("affinity").name("nodeAffinity");
    let affinity = value_at(spec, "/affinity/nodeAffinity").unwrap_or(&Value::Null);
    let terms = items(affinity, &format!("/{REQUIRED}/nodeSelectorTerms"));
    for (index, term) in terms.iter().enumerate() {
        let at = at.clone().name(REQUIRED).name("nodeSelectorTerms").index(index);
        selector_term(found, &at, term, None);
    }
    for (index, weighted) in items(affinity, PREFERRED).iter().enumerate() {
        let Some(term) = weighted.get("preference") else { continue };
        let at = at.clone().name(PREFERRED).index(index).name("preference");
        selector_term(found, &at, term, Some(kubernetes));
    }
}

/// Warns of a term of a selector for nodes; with a version its values are looked at, too.
pub(crate) fn selector_term(
    found: &mut Vec<String>,
    at: &FieldPath,
    term: &Value,
    values_of: Option<KubernetesVersion>,
) {
    for (index, requirement) in items(term, "/matchExpressions").iter().enumerate() {
        let at = at.clone().name("matchExpressions").index(index);
        let key = text(requirement, "/key");
        let deprecated = deprecated_label(key);
        found.extend(deprecated.map(|text| format!("{}: {key} is {text}", at.clone().name("key"))));
        let Some(kubernetes) = values_of else { continue };
        for (index, value) in items(requirement, "/values").iter().enumerate() {
            let (at, value) = (at.clone().name("values").index(index), text(value, ""));
            for message in label_value(value, kubernetes.wording()) {
                found.push(format!("{at}: {value} is invalid, {message}"));
            }
        }
    }
}

fn topology(found: &mut Vec<String>, path: &FieldPath, spec: &Value) {
    for (index, constraint) in items(spec, "/topologySpreadConstraints").iter().enumerate() {
        let at = path.clone().name("topologySpreadConstraints").index(index);
        let deprecated = deprecated_label(text(constraint, "/topologyKey"));
        found.extend(deprecated.map(|text| format!("{}: {text}", at.clone().name("topologyKey"))));
        no_selector(found, at, constraint);
    }
}

/// Selectors of pods that select nothing because there are none.
fn affinity(found: &mut Vec<String>, path: &FieldPath, spec: &Value) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let at = path.clone().name(kind);
        for (index, term) in items(spec, &format!("/affinity/{kind}/{REQUIRED}")).iter().enumerate()
        {
            no_selector(found, at.clone().name(REQUIRED).index(index), term);
        }
        let weighted = items(spec, &format!("/affinity/{kind}/{PREFERRED}"));
        for (index, weighted) in weighted.iter().enumerate() {
            let at = at.clone().name(PREFERRED).index(index).name("podAffinityTerm");
            no_selector(found, at, weighted.get("podAffinityTerm").unwrap_or(&Value::Null));
        }
    }
}

fn no_selector(found: &mut Vec<String>, at: FieldPath, part: &Value) {
    if member(part, "labelSelector").is_none() {
        let at = at.name("labelSelector");
        found.push(format!("{at}: a null labelSelector results in matching no pod"));
    }
}

/// Items of a list that have the same text as one before them.
fn repeated(
    found: &mut Vec<String>,
    path: &FieldPath,
    spec: &Value,
    [list, member]: [&'static str; 2],
) {
    let mut seen = BTreeSet::new();
    for (index, item) in items(spec, list).iter().enumerate() {
        let value = text(item, member);
        if !seen.insert(value) {
            let at = path.clone().name(list).index(index).name(member);
            found.push(format!("{at}: duplicate {member} {}", quote(value)));
        }
    }
}

/// The resources that are counted in bytes.
const BYTES: [&str; 2] = ["memory", "ephemeral-storage"];

fn container_amounts(found: &mut Vec<String>, at: &FieldPath, container: &Value) {
    let at = at.clone().name("resources");
    for name in BYTES {
        for part in ["limits", "requests"] {
            let amounts = value_at(container, &format!("/resources/{part}"));
            warn_of_fractions(found, &at.clone().name(part), amounts, &[name]);
        }
    }
}

/// Variables that are there already, unless the later one refers to the earlier one.
fn hidden_variables(found: &mut Vec<String>, at: &FieldPath, container: &Value) {
    let mut seen = BTreeSet::new();
    for (index, variable) in items(container, "/env").iter().enumerate() {
        let (name, value) = (text(variable, "/name"), text(variable, "/value"));
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let extends = value.contains(&reference) && value != reference;
        if variable.get("valueFrom").is_some() || !extends {
            let (at, name) = (at.clone().name("env").index(index), quote(name));
            found.push(format!(
                "{at}: hides previous definition of {name}, which may be dropped when using apply"
            ));
        }
    }
}

/// Ports of the same number and protocol in any two places.
fn repeated_ports(found: &mut Vec<String>, containers: &[(FieldPath, &Value)]) {
    let mut pairs = 0;
    let mut seen: BTreeMap<_, Vec<(FieldPath, &Value)>> = BTreeMap::new();
    for (at, container) in containers {
        for (index, port) in items(container, "/ports").iter().enumerate() {
            let at = at.clone().name("ports").index(index);
            let number = integer(port, "/containerPort").unwrap_or_default();
            let others = seen.entry((number, text(port, "/protocol"))).or_default();
            for (other_at, other) in others.iter() {
                if let Some(how) = clash(port, other) {
                    found.push(format!("{at}: {how} port definition with {other_at}"));
                }
                pairs += 1;
                if pairs == MOST_PAIRS {
                    return;
                }
            }
            others.push((at, port));
        }
    }
}

/// Returns how two ports of the same number and protocol go together, if they do not.
fn clash(port: &Value, other: &Value) -> Option<&'static str> {
    let host_port = |port| integer(port, "/hostPort").unwrap_or_default();
    let (own, others) = (host_port(port), host_port(other));
    let (ip, other_ip) = (text(port, "/hostIP"), text(other, "/hostIP"));
    if own == others && ip == other_ip {
        Some("duplicate")
    } else if own == 0 || others == 0 {
        Some("overlapping")
    } else {
        (own == others && ip.is_empty() != other_ip.is_empty()).then_some("dangerously ambiguous")
    }
}
