//! ResourceClaims and their templates (BK-489).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::devices;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::rules::members_required;
use crate::values::{integer, items, items_mut, object_mut, path, text, value_at};

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

    fn validate(
        &self,
        claim: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        if let Some(old) = old.filter(|_| context.subresource == "status") {
            validate_status(claim, old, errors);
            return;
        }
        let place: &[&str] = match self {
            ResourceClaim::Itself => &["spec", "devices"],
            ResourceClaim::Template => &["spec", "spec", "devices"],
        };
        if let Some(devices) = value_at(claim, &format!("/{}", place.join("/"))) {
            devices::claim(errors, &path(place), devices, context.kubernetes);
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

/// Who may use the devices of a claim.
fn validate_status(claim: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let list = path(&["status", "reservedFor"]);
    let users = items(claim, "/status/reservedFor");
    let mut seen = BTreeSet::new();
    for (index, user) in users.iter().enumerate() {
        let at = list.clone().index(index);
        members_required(errors, &at, user, &["resource", "name", "uid"]);
        let uid = text(user, "/uid");
        if !seen.insert(uid) {
            errors.push(FieldError::duplicate(at.name("uid"), uid));
        }
    }
    if !users.is_empty() && value_at(claim, "/status/allocation").is_none() {
        let detail = "may not be specified when `allocated` is not set";
        errors.push(FieldError::forbidden(list.clone(), detail));
    }
    let old: BTreeSet<String> =
        items(old, "/status/reservedFor").iter().map(compact_json).collect();
    let is_new = |user: &Value| !old.contains(&compact_json(user));
    if value_at(claim, "/metadata/deletionTimestamp").is_some() && users.iter().any(is_new) {
        let detail = "new entries may not be added while `deallocationRequested` or \
                      `deletionTimestamp` are set";
        errors.push(FieldError::forbidden(list, detail));
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
    let has = |place: &str| value_at(claim, place).is_some();
    let states = [
        ("deleted", has("/metadata/deletionTimestamp")),
        ("allocated", has("/status/allocation")),
        ("reserved", cells::count(claim, "/status/reservedFor") > 0),
    ];
    let states: Vec<&str> =
        states.into_iter().filter(|(_, is_it)| *is_it).map(|(name, _)| name).collect();
    if states.is_empty() { "pending".to_owned() } else { states.join(",") }
}
