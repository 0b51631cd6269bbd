//! Resources of pods as a whole, and their classes of service (BK-101).

use std::collections::BTreeMap;

use billhook_apimachinery::Quantity;
use serde_json::{Value, json};

use crate::rules::quantity;
use crate::values::{items, members, text};

/// Amounts of resources by their names.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// The prefix of the names of large pages.
pub(super) const HUGE_PAGES: &str = "hugepages-";

/// Whether a container runs beside the others from before they start.
pub(super) fn is_sidecar(container: &Value) -> bool {
    text(container, "/restartPolicy") == "Always"
}

/// Whether a resource may be given to a pod as a whole.
pub(super) fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with(HUGE_PAGES)
}

/// The needs of the containers of a pod together: as many as run at the same time (`requests` or
/// `limits`).
pub(crate) fn total(spec: &Value, amounts: &str) -> Amounts {
    let place = format!("/resources/{amounts}");
    let mut running = Amounts::new();
    for container in items(spec, "/containers") {
        add(&mut running, &amounts_at(container, &place));
    }
    let mut sidecars = Amounts::new();
    let mut starting = Amounts::new();
    for container in items(spec, "/initContainers") {
        let own = amounts_at(container, &place);
        if is_sidecar(container) {
            add(&mut running, &own);
            add(&mut sidecars, &own);
            raise(&mut starting, &sidecars);
        } else {
            let mut together = sidecars.clone();
            add(&mut together, &own);
            raise(&mut starting, &together);
        }
    }
    raise(&mut running, &starting);
    running
}

/// Returns what a pod requests of each resource, by its spec: what it says as a whole, else as much as
/// its containers need together, and its overhead.
///
/// ```
/// let spec = serde_json::json!({"containers": [
///     {"resources": {"requests": {"cpu": "300m"}}},
///     {"resources": {"requests": {"cpu": "1"}}},
/// ]});
/// assert_eq!(billhook_kinds::pod_requests(&spec)["cpu"].to_string(), "1300m");
/// ```
pub fn pod_requests(spec: &Value) -> BTreeMap<String, Quantity> {
    let mut requests = total(spec, "requests");
    requests.extend(amounts_at(spec, "/resources/requests"));
    add(&mut requests, &amounts_at(spec, "/overhead"));
    requests
}

fn amounts_at(object: &Value, place: &str) -> Amounts {
    let known = members(object, place);
    known.filter_map(|(name, amount)| Some((name.to_owned(), quantity(amount)?))).collect()
}

fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = match total.get(name) {
            Some(before) => before.plus(amount).unwrap_or_else(|| amount.clone()),
            None => amount.clone(),
        };
        total.insert(name.clone(), sum);
    }
}

/// Raises amounts to others that are greater.
fn raise(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        if total.get(name).is_none_or(|before| before < amount) {
            total.insert(name.clone(), amount.clone());
        }
    }
}

/// Sets the defaults of the resources of a pod as a whole.
pub(super) fn set_pod_defaults(spec: &mut Value) {
    if spec.get("resources").is_none_or(Value::is_null) {
        return;
    }
    let (requests, limits) = (total(spec, "requests"), total(spec, "limits"));
    let Some(Value::Object(resources)) = spec.get_mut("resources") else { return };
    let names = |resources: &Value| -> Vec<String> {
        resources.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let requested = resources.get("requests").map(names).unwrap_or_default();
    for (name, amount) in limits.iter().filter(|(name, _)| name.starts_with(HUGE_PAGES)) {
        let own = resources.entry("limits").or_insert_with(|| json!({}));
        if !requested.contains(name)
            && let Value::Object(own) = own
        {
            own.entry(name.clone()).or_insert_with(|| amount.to_string().into());
        }
    }
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let own = resources.entry("requests").or_insert_with(|| json!({}));
    let Value::Object(own) = own else { return };
    for (name, limit) in limits.into_iter().filter(|(name, _)| is_of_pods(name)) {
        let of_containers = requests.get(&name).filter(|_| !name.starts_with(HUGE_PAGES));
        let default = of_containers.map_or(limit, |amount| amount.to_string().into());
        own.entry(name).or_insert(default);
    }
}

/// Returns the class of service of a pod (BK-101).
pub(crate) fn class_of_service(spec: &Value) -> &'static str {
    let is_of_pod = spec.get("resources").is_some_and(|resources| !resources.is_null());
    let holders: Vec<&Value> = if is_of_pod {
        vec![spec]
    } else {
        items(spec, "/containers").iter().chain(items(spec, "/initContainers")).collect()
    };
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut is_limited = true;
    for holder in holders {
        add(&mut requests, &counted(holder, "/resources/requests"));
        let own = counted(holder, "/resources/limits");
        is_limited &= own.len() == 2;
        add(&mut limits, &own);
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if is_limited && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// The amounts that count for the class of service.
fn counted(holder: &Value, place: &str) -> Amounts {
    let mut amounts = amounts_at(holder, place);
    amounts.retain(|name, amount| matches!(name.as_str(), "cpu" | "memory") && amount.signum() > 0);
    amounts
}
