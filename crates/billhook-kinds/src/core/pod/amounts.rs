//! Requests and limits of containers and pods (BK-30, BK-104).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::{FieldError, FieldPath, Quantity};
use serde_json::Value;

use super::checks::{forbid, label_member, name_of};
use super::resources::{HUGE_PAGES, is_of_pods, total};
use super::scope::Scope;
use crate::rules::{amount_not_negative, invalid, one_of, qualified_name, quantity};
use crate::values::{items, members, text};

/// Resources that are known without a domain.
const STANDARD: [&str; 24] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
    "count/resourceclaims",
    "count/pods",
    "count/services",
    "count/secrets",
];

/// The rule of the names of resources.
#[derive(Clone, Copy)]
enum Holder {
    Container,
    Pod,
}

/// The resources of a container.
pub(super) fn of_container(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    resources: &Value,
    scope: &Scope<'_>,
) {
    amounts(errors, path, resources, Holder::Container, scope);
}

/// Amounts that a pod takes in addition to those of its containers.
pub(super) fn overhead(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    amounts: &Value,
    scope: &Scope<'_>,
) {
    let resources = serde_json::json!({ "limits": amounts });
    self::amounts(errors, path, &resources, Holder::Container, scope);
}

/// The resources of a pod as a whole.
pub(super) fn of_pod(
    errors: &mut Vec<FieldError>,
    spec_path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    let path = &spec_path.clone().name("resources");
    let Some(resources) = spec.get("resources").filter(|resources| !resources.is_null()) else {
        return;
    };
    if text(spec, "/os/name") == "windows" {
        forbid(errors, path.clone(), "may not be set for a windows pod");
    }
    if !items(resources, "/claims").is_empty() {
        let detail = "claims may not be set for Resources at pod-level";
        forbid(errors, path.clone().name("claims"), detail);
    }
    let before = errors.len();
    amounts(errors, path, resources, Holder::Pod, scope);
    if errors.len() == before {
        compare(errors, spec_path, spec, resources);
    }
}

/// The containers of a pod must not take more than the pod has.
fn compare(errors: &mut Vec<FieldError>, spec_path: &FieldPath, spec: &Value, resources: &Value) {
    let path = spec_path.clone().name("resources");
    let containers = spec_path.clone().name("containers");
    let sorted = |place: &str| -> BTreeMap<String, Quantity> {
        let known = members(resources, place);
        known.filter_map(|(name, amount)| Some((name.to_owned(), quantity(amount)?))).collect()
    };
    let (requests, limits) = (sorted("/requests"), sorted("/limits"));
    let of_containers = total(spec, "requests");
    let at = |list: &str, name: &str| path.clone().name(list).key(name);
    for (name, amount) in &requests {
        if let Some(sum) = of_containers.get(name).filter(|sum| *sum > amount) {
            let detail =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            invalid(errors, &at("requests", name), amount.to_string(), [detail]);
        }
    }
    for (index, container) in items(spec, "/containers").iter().enumerate() {
        let own: BTreeMap<_, _> = members(container, "/resources/limits").collect();
        for (name, amount) in own.into_iter().filter(|(name, _)| is_of_pods(name)) {
            let (Some(amount), Some(limit)) = (quantity(amount), limits.get(name)) else {
                continue;
            };
            if amount > *limit {
                let at = containers.clone().index(index).name("resources").name("limits").key(name);
                let detail = format!("must be less than or equal to pod limits of {limit}");
                invalid(errors, &at, amount.to_string(), [detail]);
            }
        }
    }
    for (name, amount) in limits.iter().filter(|(name, _)| name.starts_with(HUGE_PAGES)) {
        if let Some(sum) = total(spec, "limits").get(name).filter(|sum| *sum > amount) {
            let detail =
                format!("must be greater than or equal to aggregate container limits of {sum}");
            invalid(errors, &at("limits", name), amount.to_string(), [detail]);
        }
    }
}

fn amounts(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    resources: &Value,
    holder: Holder,
    scope: &Scope<'_>,
) {
    let sorted = |place: &str| members(resources, place).collect::<BTreeMap<_, _>>();
    let (limits, requests) = (sorted("/limits"), sorted("/requests"));
    for (name, amount) in &limits {
        let at = path.clone().name("limits").key(name);
        resource_name(errors, &at, name, holder, scope);
        resource_amount(errors, &at, name, amount);
    }
    for (name, amount) in &requests {
        let at = path.clone().name("requests").key(name);
        resource_name(errors, &at, name, holder, scope);
        resource_amount(errors, &at, name, amount);
        compare_with_limit(errors, path, name, amount, limits.get(name).copied());
    }
    let has = |test: fn(&str) -> bool| limits.keys().chain(requests.keys()).any(|name| test(name));
    let takes_pages = has(|name| name.starts_with(HUGE_PAGES));
    if takes_pages && !has(|name| matches!(name, "cpu" | "memory")) {
        forbid(errors, path.clone(), "HugePages require cpu or memory");
    }
    claims(errors, &path.clone().name("claims"), items(resources, "/claims"), scope);
}

fn resource_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    holder: Holder,
    scope: &Scope<'_>,
) {
    let before = errors.len();
    qualified_name(errors, path, name, scope.kubernetes);
    if errors.len() > before {
        return;
    }
    let is_known = STANDARD.contains(&name) || name.starts_with(HUGE_PAGES);
    if !name.contains('/') && !is_known {
        invalid(errors, path, name, ["must be a standard resource type or fully qualified"]);
    }
    match holder {
        Holder::Pod if errors.len() == before && !is_of_pods(name) => {
            one_of(errors, path, name, &["cpu", HUGE_PAGES, "memory"]);
        }
        Holder::Pod => {}
        Holder::Container if !name.contains('/') => {
            if !is_of_pods(name) && name != "ephemeral-storage" {
                invalid(errors, path, name, ["must be a standard resource for containers"]);
            }
        }
        Holder::Container => {
            if !is_native(name) && !is_extended(name, scope) {
                invalid(errors, path, name, ["doesn't follow extended resource name standard"]);
            }
        }
    }
}

/// Whether a resource is one of Kubernetes itself.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str, scope: &Scope<'_>) -> bool {
    let in_quotas = format!("requests.{name}");
    let wording = scope.kubernetes.wording();
    let is_well_formed =
        billhook_apimachinery::names::qualified_name(&in_quotas, wording).is_empty();
    !is_native(name) && !name.starts_with("requests.") && is_well_formed
}

/// Whether more of a resource may be allowed than there is.
fn is_overcommitted(name: &str) -> bool {
    is_native(name) && !name.starts_with(HUGE_PAGES)
}

fn resource_amount(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str, amount: &Value) {
    amount_not_negative(errors, path, amount);
    let counts = !is_native(name)
        || matches!(name, "pods" | "services" | "secrets" | "configmaps" | "resourcequotas");
    if counts && quantity(amount).is_some_and(|amount| !amount.is_integer()) {
        invalid(errors, path, amount.clone(), ["must be an integer"]);
    }
}

fn compare_with_limit(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    amount: &Value,
    limit: Option<&Value>,
) {
    let Some(requested) = quantity(amount) else { return };
    let at = path.clone().name("requests");
    let Some(limit) = limit.and_then(quantity) else {
        if !is_overcommitted(name) {
            let detail = "Limit must be set for non overcommitable resources";
            errors.push(FieldError::required(path.clone().name("limits"), detail));
        }
        return;
    };
    if !is_overcommitted(name) && requested != limit {
        invalid(errors, &at, amount.clone(), [format!("must be equal to {name} limit of {limit}")]);
    } else if requested > limit {
        let detail = format!("must be less than or equal to {name} limit of {limit}");
        invalid(errors, &at, amount.clone(), [detail]);
    }
}

fn claims(errors: &mut Vec<FieldError>, path: &FieldPath, claims: &[Value], scope: &Scope<'_>) {
    let mut seen = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let path = path.clone().index(index);
        let name = name_of(claim);
        let is_new = seen.insert((name, claim.get("request").and_then(Value::as_str)));
        if name.is_empty() {
            errors.push(FieldError::required(path.clone(), ""));
        } else if !is_new {
            errors.push(FieldError::duplicate(path.clone(), name));
        } else if !scope.claims.contains(name) {
            errors.push(FieldError::not_found(path.clone(), name));
        }
        label_member(errors, &path, claim, "request");
    }
}
