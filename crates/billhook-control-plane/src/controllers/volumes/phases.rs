//! The binder, from the side of volumes: free ones, those of claims, and those whose claims are gone
//! (CP-75, CP-78).

use std::sync::Arc;

use super::binding::volume_phase;
use super::{BOUND_BY_CONTROLLER, EVENT_SOURCE};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::remove;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, Resource, VOLUMES};
use crate::view::{Change, View};

/// Keeps the phases of volumes.
#[derive(Debug)]
pub(crate) struct Volumes;

impl Controller for Volumes {
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
        vec![&VOLUMES, &CLAIMS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &VOLUMES) {
            return;
        }
        let Some(claim) = change.object() else { return };
        let volumes = view.all(&VOLUMES);
        let is_reserved = |volume: &&Arc<Object>| *claim_key(volume) == **claim.key();
        volumes.filter(is_reserved).for_each(|volume| keys.add(volume.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(volume) = view.get(&VOLUMES, key) else { return Plan::nothing() };
        let uid = volume.text("/spec/claimRef/uid");
        let next = match view.get(&CLAIMS, &claim_key(volume)) {
            _ if uid.is_empty() => volume_phase(volume, "Available"),
            Some(claim) if claim.uid() == uid => match claim.text("/spec/volumeName") {
                // The claim binds itself.
                "" => None,
                name if name == volume.name() => volume_phase(volume, "Bound"),
                _ => free(volume),
            },
            _ if volume.text("/status/phase") == "Failed" => None,
            _ => volume_phase(volume, "Released"),
        };
        next.into_iter().fold(Plan::nothing(), Plan::request)
    }
}

/// Returns the key of the claim that a volume is reserved for.
pub(super) fn claim_key(volume: &Object) -> String {
    let part = |name: &str| volume.text(&format!("/spec/claimRef/{name}")).to_owned();
    format!("{}/{}", part("namespace"), part("name"))
}

/// Takes a volume back from a claim that has another one. What its user has reserved stays so.
fn free(volume: &Object) -> Option<Request> {
    let mut changed = volume.copy();
    if volume.annotation(BOUND_BY_CONTROLLER).is_some() {
        remove(&mut changed, &["spec", "claimRef"]);
        remove(&mut changed, &["metadata", "annotations", BOUND_BY_CONTROLLER]);
    } else {
        remove(&mut changed, &["spec", "claimRef", "uid"]);
    }
    Some(Request::update(&VOLUMES, volume.key(), &changed))
}
