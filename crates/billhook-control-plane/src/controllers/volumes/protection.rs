//! Claims and volumes that are used are not removed (CP-78).

use std::sync::Arc;

use serde_json::Value;

use super::pending::uses;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::{CLAIMS, PODS, Resource, VOLUMES};
use crate::view::{Change, View};

/// Lets go of claims that no pod uses.
#[derive(Debug)]
pub(crate) struct ClaimProtection;

/// Lets go of volumes that are not bound.
#[derive(Debug)]
pub(crate) struct VolumeProtection;

impl Controller for ClaimProtection {
    fn name(&self) -> &'static str {
        "persistentvolumeclaim-protection-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("pvc-protection-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CLAIMS, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &CLAIMS) {
            return;
        }
        let Some(pod) = change.object() else { return };
        let is_held = |claim: &&Arc<Object>| claim.is_deleting() && uses(pod, claim);
        let claims = view.list(&CLAIMS, pod.namespace()).filter(is_held);
        claims.for_each(|claim| keys.add(claim.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(claim) = view.get(&CLAIMS, key) else { return Plan::nothing() };
        let is_user = |pod: &Arc<Object>| !is_terminal(pod) && uses(pod, claim);
        let mut pods = view.list(&PODS, claim.namespace());
        protect(&CLAIMS, claim, "kubernetes.io/pvc-protection", || pods.any(is_user))
    }
}

impl Controller for VolumeProtection {
    fn name(&self) -> &'static str {
        "persistentvolume-protection-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("pv-protection-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&VOLUMES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &VOLUMES);
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(volume) = view.get(&VOLUMES, key) else { return Plan::nothing() };
        let is_bound = || volume.text("/status/phase") == "Bound";
        protect(&VOLUMES, volume, "kubernetes.io/pv-protection", is_bound)
    }
}

/// Removes the finalizer of an object that is being deleted and not used.
fn protect(
    resource: &Resource,
    object: &Object,
    finalizer: &str,
    is_used: impl FnOnce() -> bool,
) -> Plan {
    let finalizers = object.list("/metadata/finalizers");
    let is_protected = finalizers.iter().any(|it| it == finalizer);
    if !object.is_deleting() || !is_protected || is_used() {
        return Plan::nothing();
    }
    let mut changed = object.copy();
    let others: Vec<Value> = finalizers.iter().filter(|it| *it != finalizer).cloned().collect();
    set(&mut changed, &["metadata", "finalizers"], others.into());
    Plan::nothing().request(Request::update(resource, object.key(), &changed))
}
