//! Where pods go: affinities, tolerations and how they are spread (BK-106).

use std::collections::BTreeSet;

use billhook_apimachinery::names::{dns1123_label, label_value};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{member, member_text, one_of_member};
use super::edition::EDITIONS;
use super::scope::Scope;
use crate::rules::{invalid, label_selector, named, one_of, qualified_name};
use crate::values::{integer, items, members, text};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

const OPERATOR: &str = "not a valid selector operator";

/// How much a term counts. Values of labels that are only preferred may be any.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Must,
    Should,
}

/// The affinities of a pod.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    affinity: &Value,
    scope: &Scope<'_>,
) {
    if let Some(affinity) = member(affinity, "nodeAffinity") {
        of_nodes(errors, &path.clone().name("nodeAffinity"), affinity, scope);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = member(affinity, name) else { continue };
        let path = path.clone().name(name);
        let list = path.clone().name(REQUIRED);
        for (index, term) in items(affinity, REQUIRED).iter().enumerate() {
            pod_term(errors, &list.clone().index(index), term, scope);
        }
        let list = path.name(PREFERRED);
        for (index, weighted) in items(affinity, PREFERRED).iter().enumerate() {
            let path = list.clone().index(index);
            weight(errors, &path, weighted);
            if let Some(term) = member(weighted, "podAffinityTerm") {
                pod_term(errors, &path.name("podAffinityTerm"), term, scope);
            }
        }
    }
}

fn weight(errors: &mut Vec<FieldError>, path: &FieldPath, weighted: &Value) {
    let weight = integer(weighted, "/weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        invalid(errors, &path.clone().name("weight"), weight, ["must be in the range 1-100"]);
    }
}

fn of_nodes(errors: &mut Vec<FieldError>, path: &FieldPath, affinity: &Value, scope: &Scope<'_>) {
    if let Some(selector) = member(affinity, REQUIRED) {
        node_selector(errors, &path.clone().name(REQUIRED), selector, scope);
    }
    let list = path.clone().name(PREFERRED);
    for (index, weighted) in items(affinity, PREFERRED).iter().enumerate() {
        let path = list.clone().index(index);
        weight(errors, &path, weighted);
        if let Some(term) = member(weighted, "preference") {
            node_term(errors, &path.name("preference"), term, Need::Should, scope);
        }
    }
}

/// A selector of nodes.
fn node_selector(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    selector: &Value,
    scope: &Scope<'_>,
) {
    let path = path.clone().name("nodeSelectorTerms");
    let terms = items(selector, "/nodeSelectorTerms");
    if terms.is_empty() {
        let detail = "must have at least one node selector term";
        errors.push(FieldError::required(path.clone(), detail));
    }
    for (index, term) in terms.iter().enumerate() {
        let path = path.clone().index(index);
        node_term(errors, &path, term, Need::Must, scope);
    }
}

fn node_term(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    term: &Value,
    need: Need,
    scope: &Scope<'_>,
) {
    let list = path.clone().name("matchExpressions");
    for (index, expression) in items(term, "/matchExpressions").iter().enumerate() {
        let path = list.clone().index(index);
        node_expression(errors, &path, expression, scope);
        if need == Need::Must {
            label_values(errors, &path.name("values"), expression, scope);
        }
    }
    let list = path.clone().name("matchFields");
    for (index, field) in items(term, "/matchFields").iter().enumerate() {
        node_field(errors, &list.clone().index(index), field);
    }
}

fn node_expression(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    expression: &Value,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    let values = items(expression, "/values");
    match text(expression, "/operator") {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(at("values"), detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(at("values"), detail));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(FieldError::required(at("values"), detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        operator => invalid(errors, &at("operator"), operator, [OPERATOR]),
    }
    qualified_name(errors, &at("key"), text(expression, "/key"), scope.kubernetes);
}

fn label_values(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    expression: &Value,
    scope: &Scope<'_>,
) {
    for (index, value) in items(expression, "/values").iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        let messages = label_value(value, scope.kubernetes.wording());
        invalid(errors, &path.clone().index(index), value, messages);
    }
}

fn node_field(errors: &mut Vec<FieldError>, path: &FieldPath, field: &Value) {
    let at = |name: &str| path.clone().name(name);
    let values = items(field, "/values");
    match text(field, "/operator") {
        "In" | "NotIn" if values.len() != 1 => {
            let detail =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.push(FieldError::required(at("values"), detail));
        }
        "In" | "NotIn" => {}
        operator => invalid(errors, &at("operator"), operator, [OPERATOR]),
    }
    match text(field, "/key") {
        "metadata.name" => {
            for (index, value) in values.iter().enumerate() {
                let name = value.as_str().unwrap_or_default();
                let rule = billhook_apimachinery::names::dns1123_subdomain;
                named(errors, &at("values").index(index), name, rule);
            }
        }
        key => invalid(errors, &at("key"), key, ["not a valid field selector key"]),
    }
}

fn pod_term(errors: &mut Vec<FieldError>, path: &FieldPath, term: &Value, scope: &Scope<'_>) {
    let at = |name: &str| path.clone().name(name);
    for name in ["labelSelector", "namespaceSelector"] {
        label_selector(errors, &at(name), term.get(name), scope.kubernetes);
    }
    for namespace in items(term, "/namespaces") {
        let namespace = namespace.as_str().unwrap_or_default();
        named(errors, &at("namespace"), namespace, dns1123_label);
    }
    label_keys(errors, path, term, scope);
    let key = text(term, "/topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(at("topologyKey"), "can not be empty"));
    }
    qualified_name(errors, &at("topologyKey"), key, scope.kubernetes);
}

/// Keys of labels whose values are those of the pod itself.
fn label_keys(errors: &mut Vec<FieldError>, path: &FieldPath, term: &Value, scope: &Scope<'_>) {
    let own = items(term, "/matchLabelKeys");
    for name in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = items(term, name);
        let path = path.clone().name(name);
        if !keys.is_empty() && member(term, "labelSelector").is_none() {
            let detail = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(path.clone(), detail));
        }
        for (index, key) in keys.iter().enumerate() {
            let key = key.as_str().unwrap_or_default();
            qualified_name(errors, &path.clone().index(index), key, scope.kubernetes);
        }
    }
    for (index, key) in own.iter().enumerate().filter(|(_, key)| is_selected_twice(term, key)) {
        let path = path.clone().name("matchLabelKeys").index(index);
        let detail = "exists in both matchLabelKeys and labelSelector";
        invalid(errors, &path, key.clone(), [detail]);
    }
    let others = items(term, "/mismatchLabelKeys");
    for (index, key) in own.iter().enumerate().filter(|(_, key)| others.contains(key)) {
        let path = path.clone().name("matchLabelKeys").index(index);
        invalid(
            errors,
            &path,
            key.clone(),
            ["exists in both matchLabelKeys and mismatchLabelKeys"],
        );
    }
}

/// Whether a selector has a key beside the expression that a server makes of it for pods.
fn is_selected_twice(term: &Value, key: &Value) -> bool {
    let labels = members(term, "/labelSelector/matchLabels").filter(|(name, _)| key == name);
    let expressions = items(term, "/labelSelector/matchExpressions").iter();
    let expressions =
        expressions.filter(|it| it.get("key") == Some(key) && text(it, "/operator") == "In");
    labels.count() + expressions.count() > 1
}

/// The taints that a pod tolerates.
pub(super) fn tolerations(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    tolerations: &[Value],
    scope: &Scope<'_>,
) {
    for (index, toleration) in tolerations.iter().enumerate() {
        self::toleration(errors, &path.clone().index(index), toleration, scope);
    }
}

fn toleration(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    toleration: &Value,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    let (key, operator) = (text(toleration, "/key"), text(toleration, "/operator"));
    let (value, effect) = (text(toleration, "/value"), text(toleration, "/effect"));
    if !key.is_empty() {
        qualified_name(errors, &at("key"), key, scope.kubernetes);
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values \
                      and all keys\"";
        invalid(errors, &at("operator"), operator, [detail]);
    }
    if member(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        invalid(errors, &at("effect"), effect, [detail]);
    }
    match operator {
        "" | "Equal" => {
            let messages = label_value(value, scope.kubernetes.wording());
            if !messages.is_empty() {
                invalid(errors, &at("operator"), value, [messages.join(";")]);
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => {
            let detail = "value must be empty when `operator` is 'Exists'";
            invalid(errors, &at("operator"), value, [detail]);
        }
        "Lt" | "Gt" if EDITIONS.of(scope.kubernetes).knows_comparisons => {
            // The list names them although they are off.
            let supported = ["Equal", "Exists", "Lt", "Gt"];
            errors.push(FieldError::not_supported(at("operator"), operator, supported));
        }
        _ => one_of(errors, &at("operator"), operator, &["Equal", "Exists"]),
    }
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !effect.is_empty() {
        one_of(errors, &at("effect"), effect, &effects);
    }
}

/// How pods are spread over parts of a cluster.
pub(super) fn topology(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    constraints: &[Value],
    scope: &Scope<'_>,
) {
    let pair = |constraint: &Value| {
        (
            text(constraint, "/topologyKey").to_owned(),
            text(constraint, "/whenUnsatisfiable").to_owned(),
        )
    };
    let mut seen = BTreeSet::new();
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.clone().index(index);
        let at = |name: &str| path.clone().name(name);
        let (key, action) = pair(constraint);
        positive(errors, &at("maxSkew"), Some(integer(constraint, "/maxSkew").unwrap_or_default()));
        if key.is_empty() {
            errors.push(FieldError::required(at("topologyKey"), "can not be empty"));
        }
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        one_of(errors, &at("whenUnsatisfiable"), &action, &actions);
        if !seen.insert((key.clone(), action.clone())) {
            let value = format!("{{{key}, {action}}}");
            errors.push(FieldError::duplicate(at("{topologyKey, whenUnsatisfiable}"), value));
        }
        let domains = integer(constraint, "/minDomains");
        positive(errors, &at("minDomains"), domains);
        if let Some(domains) = domains.filter(|_| action != "DoNotSchedule") {
            let detail =
                format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            invalid(errors, &at("minDomains"), domains, [detail]);
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            one_of_member(errors, &path, constraint, name, &["Honor", "Ignore"]);
        }
        label_keys(errors, &path, constraint, scope);
        let selector = constraint.get("labelSelector");
        label_selector(errors, &at("labelSelector"), selector, scope.kubernetes);
    }
}

fn positive(errors: &mut Vec<FieldError>, path: &FieldPath, number: Option<i64>) {
    if let Some(number) = number.filter(|number| *number <= 0) {
        invalid(errors, path, number, ["must be greater than zero"]);
    }
}

/// The conditions that a pod waits for, before it is ready and before it is scheduled.
pub(super) fn gates(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    let list = path.clone().name("readinessGates");
    for (index, gate) in items(spec, "/readinessGates").iter().enumerate() {
        let path = list.clone().index(index).name("conditionType");
        qualified_name(errors, &path, text(gate, "/conditionType"), scope.kubernetes);
    }
    let list = path.clone().name("schedulingGates");
    let gates = items(spec, "/schedulingGates");
    let mut seen = BTreeSet::new();
    for (index, gate) in gates.iter().enumerate() {
        let path = list.clone().index(index);
        let name = member_text(gate, "name").unwrap_or_default();
        qualified_name(errors, &path, name, scope.kubernetes);
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(path, name));
        }
    }
}
