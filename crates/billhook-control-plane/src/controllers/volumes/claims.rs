//! The binder, from the side of claims (CP-75).

use std::sync::Arc;

use serde_json::json;

use super::binding::{bind, write_status};
use super::matching::{Reserved, class, find, find_reserved, reserved, unfit};
use super::pending::{pending, waits_for_consumer};
use super::{BIND_COMPLETED, BOUND_BY_CONTROLLER, EVENT_SOURCE, SELECTED_NODE};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, NODES, PODS, Resource, STORAGE_CLASSES, VOLUMES};
use crate::view::{Change, View};

/// Binds claims to volumes.
#[derive(Debug)]
pub(crate) struct Claims;

impl Controller for Claims {
    fn name(&self) -> &'static str {
        "persistentvolume-binder-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("persistent-volume-binder")
    }

    fn event_source(&self) -> &'static str {
        EVENT_SOURCE
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CLAIMS, &VOLUMES, &STORAGE_CLASSES, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &CLAIMS) {
            return;
        }
        let Some(changed) = change.object() else { return };
        if change.is_of(&PODS) {
            let is_pending = |claim: &&Arc<Object>| claim.annotation(BIND_COMPLETED).is_none();
            let claims = view.list(&CLAIMS, changed.namespace()).filter(is_pending);
            claims.for_each(|claim| keys.add(claim.key()));
            return;
        }
        // A volume concerns the claim that has it; a free one, and a class, all that wait.
        let is_concerned = |claim: &&Arc<Object>| match change.is_of(&VOLUMES) {
            _ if change.is_of(&STORAGE_CLASSES) => claim.annotation(BIND_COMPLETED).is_none(),
            _ if claim.text("/spec/volumeName") == changed.name() => true,
            _ => {
                claim.annotation(BIND_COMPLETED).is_none()
                    && reserved(changed, claim) != Reserved::ForOther
            }
        };
        view.all(&CLAIMS).filter(is_concerned).for_each(|claim| keys.add(claim.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(claim) = view.get(&CLAIMS, key) else { return Plan::nothing() };
        match (claim.annotation(BIND_COMPLETED), claim.text("/spec/volumeName")) {
            (Some(_), volume) => bound(claim, view, volume),
            (None, "") => unbound(claim, view),
            (None, volume) => bind_to_named(claim, view, volume),
        }
    }
}

fn unbound(claim: &Arc<Object>, view: &View) -> Plan {
    let class = view.get(&STORAGE_CLASSES, class(claim));
    let waits = class.is_some_and(|class| waits_for_consumer(class, claim));
    let node = claim.annotation(SELECTED_NODE).and_then(|node| view.get(&NODES, node));
    let found = match waits {
        true => find_reserved(claim, view),
        false => find(claim, view, node.map(|node| &**node)),
    };
    match found {
        Some(volume) => bind(claim, volume),
        None => pending(claim, view, class),
    }
}

/// Binds a claim to the volume that its user has named.
fn bind_to_named(claim: &Arc<Object>, view: &View, name: &str) -> Plan {
    let Some(volume) = view.get(&VOLUMES, name) else { return Plan::nothing() };
    match (reserved(volume, claim), unfit(volume, claim)) {
        (Reserved::ForClaim, _) | (Reserved::No, None) => bind(claim, volume),
        (Reserved::No, Some(why)) => {
            let message = format!("Cannot bind to requested volume \"{name}\": {why}");
            warn(claim, "VolumeMismatch", message)
        }
        (Reserved::ForOther, _) if claim.annotation(BOUND_BY_CONTROLLER).is_some() => {
            Plan::failure(format!("volume \"{name}\" already bound to a different claim."))
        }
        (Reserved::ForOther, _) => {
            let message = format!("volume \"{name}\" already bound to a different claim.");
            warn(claim, "FailedBinding", message)
        }
    }
}

/// Looks after a claim that was bound once.
fn bound(claim: &Arc<Object>, view: &View, name: &str) -> Plan {
    if name.is_empty() {
        let message =
            "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
        return lost(claim, "ClaimLost", message);
    }
    let Some(volume) = view.get(&VOLUMES, name) else {
        let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
        return lost(claim, "ClaimLost", message);
    };
    match reserved(volume, claim) {
        Reserved::No | Reserved::ForClaim => bind(claim, volume),
        Reserved::ForOther => {
            let message = "Two claims are bound to the same volume, this one is bound incorrectly";
            lost(claim, "ClaimMisbound", message)
        }
    }
}

/// Says that a claim has no volume any more.
fn lost(claim: &Arc<Object>, reason: &str, message: &str) -> Plan {
    let status: Option<Request> = write_status(claim, json!({"phase": "Lost"}));
    let Some(request) = status else { return Plan::nothing() };
    Plan::nothing().request(request).and(warn(claim, reason, message.to_owned()))
}

fn warn(claim: &Arc<Object>, reason: &str, message: String) -> Plan {
    Plan::nothing().event(Event::warning(&CLAIMS, claim, reason, message))
}
