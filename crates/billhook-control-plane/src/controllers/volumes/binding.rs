//! The four writes that bind a volume and a claim to each other, one at a time.

use serde_json::{Value, json};

use super::matching::{Reserved, reserved};
use super::{BIND_COMPLETED, BOUND_BY_CONTROLLER};
use crate::document::{remove, set};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, VOLUMES};

/// Makes the first of the writes that is missing; its change brings the next one.
pub(super) fn bind(claim: &Object, volume: &Object) -> Plan {
    let next = reserve(claim, volume)
        .or_else(|| volume_phase(volume, "Bound"))
        .or_else(|| name_volume(claim, volume))
        .or_else(|| fulfil(claim, volume));
    next.into_iter().fold(Plan::nothing(), Plan::request)
}

/// Says in the volume which claim it is for.
fn reserve(claim: &Object, volume: &Object) -> Option<Request> {
    if volume.text("/spec/claimRef/uid") == claim.uid() {
        return None;
    }
    let mut changed = volume.copy();
    if reserved(volume, claim) == Reserved::No {
        set(&mut changed, &["metadata", "annotations", BOUND_BY_CONTROLLER], "yes".into());
    }
    let reference = json!({
        "apiVersion": CLAIMS.api_version(), "kind": CLAIMS.kind, "namespace": claim.namespace(),
        "name": claim.name(), "uid": claim.uid(), "resourceVersion": claim.revision().to_string(),
    });
    set(&mut changed, &["spec", "claimRef"], reference);
    Some(Request::update(&VOLUMES, volume.key(), &changed))
}

/// Returns the request that sets the phase of a volume, if it has another one.
pub(super) fn volume_phase(volume: &Object, phase: &str) -> Option<Request> {
    if volume.text("/status/phase") == phase {
        return None;
    }
    let mut changed = volume.copy();
    set(&mut changed, &["status", "phase"], phase.into());
    remove(&mut changed, &["status", "message"]);
    Some(Request::update_in(&VOLUMES, volume.key(), "status", &changed))
}

/// Says in the claim which volume it has.
fn name_volume(claim: &Object, volume: &Object) -> Option<Request> {
    let names_volume = claim.text("/spec/volumeName") == volume.name();
    if names_volume && claim.annotation(BIND_COMPLETED).is_some() {
        return None;
    }
    let mut changed = claim.copy();
    if !names_volume {
        set(&mut changed, &["spec", "volumeName"], volume.name().into());
        set(&mut changed, &["metadata", "annotations", BOUND_BY_CONTROLLER], "yes".into());
    }
    set(&mut changed, &["metadata", "annotations", BIND_COMPLETED], "yes".into());
    Some(Request::update(&CLAIMS, claim.key(), &changed))
}

/// Says in the status of the claim what it has.
fn fulfil(claim: &Object, volume: &Object) -> Option<Request> {
    let is_bound = claim.text("/status/phase") == "Bound";
    let capacity = match claim.get("/status/capacity") {
        // What a claim has grown to stays.
        known if is_bound && known.is_object() => known.clone(),
        _ => volume.get("/spec/capacity").clone(),
    };
    let mut status = claim.get("/status").clone();
    set(&mut status, &["phase"], "Bound".into());
    set(&mut status, &["accessModes"], volume.get("/spec/accessModes").clone());
    set(&mut status, &["capacity"], capacity);
    write_status(claim, status)
}

/// Returns the request that writes the status of a claim, if it has another one.
pub(super) fn write_status(claim: &Object, status: Value) -> Option<Request> {
    if *claim.get("/status") == status {
        return None;
    }
    let mut changed = claim.copy();
    set(&mut changed, &["status"], status);
    Some(Request::update_in(&CLAIMS, claim.key(), "status", &changed))
}
