//! Claims that wait for a volume (CP-76).

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use super::matching::{class, find, has_class};
use super::{SELECTED_NODE, STORAGE_PROVISIONERS};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::{claim_names, is_terminal};
use crate::request::Request;
use crate::resource::{CLAIMS, PODS, STORAGE_CLASSES};
use crate::view::View;

const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
/// The provisioner of classes whose volumes are made by hand.
const NONE: &str = "kubernetes.io/no-provisioner";
/// How often an event says what a claim waits for.
const AGAIN: Duration = Duration::from_secs(15);

/// Says what a claim waits for.
pub(super) fn pending(claim: &Arc<Object>, view: &View, of_claim: Option<&Arc<Object>>) -> Plan {
    if !has_class(claim)
        && let Some(class) = default_class(view)
    {
        let mut changed = claim.copy();
        set(&mut changed, &["spec", "storageClassName"], class.name().into());
        return Plan::nothing().request(Request::update(&CLAIMS, claim.key(), &changed));
    }
    let again = Plan::nothing().again_after(AGAIN);
    let name = class(claim);
    if name.is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        return again.and(tell(claim, "FailedBinding", message.to_owned()));
    }
    let Some(class) = of_claim else {
        let message = format!("storageclass.storage.k8s.io \"{name}\" not found");
        let event = Event::warning(&CLAIMS, claim, "ProvisioningFailed", message);
        return again.event(event);
    };
    if waits_for_consumer(class, claim) {
        return again.and(wait_for_consumer(claim, view));
    }
    match class.text("/provisioner") {
        NONE => {
            let message = format!("no volume plugin matched name: {NONE}");
            again.event(Event::warning(&CLAIMS, claim, "ProvisioningFailed", message))
        }
        provisioner => again.and(wait_for_provisioner(claim, provisioner)),
    }
}

/// Returns whether a claim of a class is to be bound only when a pod that uses it has a node.
pub(super) fn waits_for_consumer(class: &Object, claim: &Object) -> bool {
    is_delayed(class) && claim.annotation(SELECTED_NODE).is_none()
}

fn is_delayed(class: &Object) -> bool {
    class.text("/volumeBindingMode") == "WaitForFirstConsumer"
}

/// Returns whether a claim is bound at once, whether a pod uses it or not.
pub(crate) fn binds_at_once(claim: &Object, view: &View) -> bool {
    !view.get(&STORAGE_CLASSES, class(claim)).is_some_and(|class| is_delayed(class))
}

/// Returns whether a claim that is bound with its consumer can get a volume on a node.
pub(crate) fn has_volume_on(claim: &Object, view: &View, node: &Object) -> bool {
    let class = view.get(&STORAGE_CLASSES, class(claim));
    class.is_some_and(|class| class.text("/provisioner") != NONE)
        || find(claim, view, Some(node)).is_some()
}

fn default_class(view: &View) -> Option<&Arc<Object>> {
    let defaults =
        view.all(&STORAGE_CLASSES).filter(|it| it.annotation(DEFAULT_CLASS) == Some("true"));
    defaults.min_by_key(|class| Reverse(class.created()))
}

fn wait_for_consumer(claim: &Arc<Object>, view: &View) -> Plan {
    let is_consumer = |pod: &&Arc<Object>| uses(pod, claim) && !is_terminal(pod);
    match view.list(&PODS, claim.namespace()).find(is_consumer) {
        Some(pod) if pod.text("/spec/nodeName").is_empty() => {
            let message = format!("waiting for pod {} to be scheduled", pod.name());
            tell(claim, "WaitForPodScheduled", message)
        }
        _ => {
            let message = "waiting for first consumer to be created before binding";
            tell(claim, "WaitForFirstConsumer", message.to_owned())
        }
    }
}

fn wait_for_provisioner(claim: &Arc<Object>, provisioner: &str) -> Plan {
    let is_named = |name: &&str| claim.annotation(name) == Some(provisioner);
    let mut plan = Plan::nothing();
    if !STORAGE_PROVISIONERS.iter().all(is_named) {
        let mut changed = claim.copy();
        for name in STORAGE_PROVISIONERS {
            set(&mut changed, &["metadata", "annotations", name], provisioner.into());
        }
        plan = plan.request(Request::update(&CLAIMS, claim.key(), &changed));
    }
    let message = format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or \
         manually by the system administrator. If volume creation is delayed, please verify that \
         the provisioner is running and correctly registered."
    );
    plan.and(tell(claim, "ExternalProvisioning", message))
}

/// Returns whether a pod uses a claim.
pub(super) fn uses(pod: &Object, claim: &Object) -> bool {
    claim_names(pod).any(|name| name == claim.name())
}

fn tell(claim: &Arc<Object>, reason: &str, message: String) -> Plan {
    Plan::nothing().event(Event::normal(&CLAIMS, claim, reason, message))
}
