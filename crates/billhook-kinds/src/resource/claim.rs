//! ResourceClaims and their templates (BK-488).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, WriteContext};
use crate::cells;
use crate::values::{integer, items_mut, object_mut, text};

/// The rules of claims and templates.
#[derive(Debug)]
pub(crate) enum ResourceClaim {
    Itself,
    Template,
}

impl Behavior for ResourceClaim {
    fn set_defaults(&self, claim: &mut Value, _: KubernetesVersion) {
        let place = match self {
            ResourceClaim::Itself => "/spec/devices/requests",
            ResourceClaim::Template => "/spec/spec/devices/requests",
        };
        for request in items_mut(claim, place) {
            if let Some(exactly) = object_mut(request, "/exactly") {
                complete_request(exactly);
            }
            for alternative in items_mut(request, "/firstAvailable") {
                complete_request(alternative);
            }
        }
    }

    fn takes_metadata(&self) -> bool {
        matches!(self, ResourceClaim::Template)
    }

    fn prepare(&self, claim: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, claim) {
            members.remove("status");
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let mut cells = vec![cells::name(object)];
        if matches!(self, ResourceClaim::Itself) {
            cells.push(state(object).into());
        }
        cells.push(cells::created(object, now));
        cells
    }
}

/// Sets the defaults of a request for devices.
fn complete_request(request: &mut Value) {
    for toleration in items_mut(request, "/tolerations") {
        set_empty(toleration, "operator", "Equal".into());
    }
    set_empty(request, "allocationMode", "ExactCount".into());
    if text(request, "/allocationMode") == "ExactCount"
        && integer(request, "/count").unwrap_or_default() == 0
        && let Value::Object(members) = request
    {
        members.insert("count".to_owned(), 1.into());
    }
}

fn set_empty(object: &mut Value, name: &str, default: Value) {
    if let Value::Object(members) = object
        && members.get(name).and_then(Value::as_str).is_none_or(str::is_empty)
    {
        members.insert(name.to_owned(), default);
    }
}

fn state(claim: &Value) -> String {
    let has = |place: &str| claim.pointer(place).is_some();
    let states = [
        ("deleted", has("/metadata/deletionTimestamp")),
        ("allocated", has("/status/allocation")),
        ("reserved", cells::count(claim, "/status/reservedFor") > 0),
    ];
    let states: Vec<&str> =
        states.into_iter().filter(|(_, is_it)| *is_it).map(|(name, _)| name).collect();
    if states.is_empty() { "pending".to_owned() } else { states.join(",") }
}
