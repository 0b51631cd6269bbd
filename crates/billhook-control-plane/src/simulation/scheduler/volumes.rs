//! The claims of a pod, on which its node depends, too.

use std::sync::Arc;

use crate::controllers::{SELECTED_NODE, binds_at_once, can_be_on, has_volume_on};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::{claim_names, is_terminal};
use crate::request::Request;
use crate::resource::{CLAIMS, PODS, VOLUMES};
use crate::view::View;

/// The claims and volumes of a pod.
#[derive(Debug, Default)]
pub(super) struct Volumes<'v> {
    /// The volumes of the claims that have one.
    bound: Vec<&'v Arc<Object>>,
    /// The claims that get theirs when the pod has a node.
    unbound: Vec<&'v Arc<Object>>,
}

impl<'v> Volumes<'v> {
    /// Finds the claims of a pod.
    ///
    /// # Errors
    ///
    /// Why no node can be chosen yet: a claim is missing, going, that of another pod, or has no volume
    /// though it could.
    pub(super) fn of(pod: &Object, view: &'v View) -> Result<Self, String> {
        let mut volumes = Volumes::default();
        for name in claim_names(pod) {
            let key = [pod.namespace(), "/", &name].concat();
            let claim = view.get(&CLAIMS, &key);
            let claim =
                claim.ok_or_else(|| format!("persistentvolumeclaim \"{name}\" not found"))?;
            if claim.is_deleting() {
                return Err(format!("persistentvolumeclaim \"{name}\" is being deleted"));
            }
            if is_for_one_pod(claim) && is_used(&name, pod, view) {
                return Err(format!(
                    "persistentvolumeclaim \"{name}\" is ReadWriteOncePod, and another pod has it"
                ));
            }
            match view.get(&VOLUMES, claim.text("/spec/volumeName")) {
                Some(volume) if claim.text("/status/phase") == "Bound" => {
                    volumes.bound.push(volume);
                }
                _ if binds_at_once(claim, view) => {
                    return Err("pod has unbound immediate PersistentVolumeClaims".to_owned());
                }
                _ => volumes.unbound.push(claim),
            }
        }
        Ok(volumes)
    }

    /// Returns whether claims wait for a node.
    pub(super) fn are_unbound(&self) -> bool {
        !self.unbound.is_empty()
    }

    /// Returns why a node cannot have the volumes; `None` if it can.
    pub(super) fn conflict(&self, view: &View, node: &Object) -> Option<&'static str> {
        if self.bound.iter().any(|volume| !can_be_on(volume, node)) {
            return Some("node(s) didn't match PersistentVolume's node affinity");
        }
        let can_have = |claim: &&Arc<Object>| match claim.annotation(SELECTED_NODE) {
            Some(selected) => selected == node.name(),
            None => has_volume_on(claim, view, node),
        };
        let reason = "node(s) didn't find available persistent volumes to bind";
        (!self.unbound.iter().all(can_have)).then_some(reason)
    }

    /// Says for which node the claims are to be bound, which their binding follows.
    pub(super) fn select(&self, node: &Object) -> Plan {
        let waiting = self.unbound.iter().filter(|it| it.annotation(SELECTED_NODE).is_none());
        waiting.fold(Plan::nothing(), |plan, claim| {
            let mut changed = claim.copy();
            set(&mut changed, &["metadata", "annotations", SELECTED_NODE], node.name().into());
            plan.request(Request::update(&CLAIMS, claim.key(), &changed))
        })
    }
}

fn is_for_one_pod(claim: &Object) -> bool {
    claim.list("/spec/accessModes").iter().any(|mode| mode == "ReadWriteOncePod")
}

/// Returns whether another pod than one has a claim on a node.
fn is_used(claim: &str, pod: &Object, view: &View) -> bool {
    view.list(&PODS, pod.namespace()).any(|other| {
        let is_there = !other.text("/spec/nodeName").is_empty() && !is_terminal(other);
        is_there && other.key() != pod.key() && claim_names(other).any(|it| it == claim)
    })
}
