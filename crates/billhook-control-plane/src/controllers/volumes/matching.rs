//! Which volume is for which claim.

use std::sync::Arc;

use billhook_apimachinery::Quantity;
use serde_json::Value;

use crate::object::Object;
use crate::ownership::selector_of;
use crate::resource::VOLUMES;
use crate::scheduling::admits;
use crate::view::View;

const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The one that a volume is reserved for, as a claim sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// Any claim.
    No,
    /// The claim, by name only or with its UID.
    ForClaim,
    /// Another claim.
    ForOther,
}

/// Returns whether a volume is reserved for a claim.
pub(super) fn reserved(volume: &Object, claim: &Object) -> Reserved {
    if !volume.get("/spec/claimRef").is_object() {
        return Reserved::No;
    }
    let uid = volume.text("/spec/claimRef/uid");
    let is_for_claim = volume.text("/spec/claimRef/name") == claim.name()
        && volume.text("/spec/claimRef/namespace") == claim.namespace()
        && (uid.is_empty() || uid == claim.uid());
    if is_for_claim { Reserved::ForClaim } else { Reserved::ForOther }
}

/// Finds the volume for a claim: one that is reserved for it, else the smallest one that fits, is free
/// and can be on the node of the consumer, if that is known.
pub(super) fn find<'v>(
    claim: &Object,
    view: &'v View,
    node: Option<&Object>,
) -> Option<&'v Arc<Object>> {
    find_reserved(claim, view).or_else(|| find_free(claim, view, node))
}

/// Finds the volume that is reserved for a claim, whose class does not count.
pub(super) fn find_reserved<'v>(claim: &Object, view: &'v View) -> Option<&'v Arc<Object>> {
    let is_of_claim = |volume: &&Arc<Object>| {
        reserved(volume, claim) == Reserved::ForClaim
            && is_large_enough(volume, claim)
            && mode(volume) == mode(claim)
            && has_access_modes(volume, claim)
            && !volume.is_deleting()
    };
    view.all(&VOLUMES).find(is_of_claim)
}

fn find_free<'v>(claim: &Object, view: &'v View, node: Option<&Object>) -> Option<&'v Arc<Object>> {
    let selects = claim.get("/spec/selector").is_object().then(|| selector_of(claim));
    let is_free = |volume: &&Arc<Object>| {
        reserved(volume, claim) == Reserved::No
            && volume.text("/status/phase") == "Available"
            && selects.as_ref().is_none_or(|selector| selector.matches(volume.labels()))
            && unfit(volume, claim).is_none()
            && node.is_none_or(|node| can_be_on(volume, node))
            && !volume.is_deleting()
    };
    let free = view.all(&VOLUMES).filter(is_free);
    free.min_by(|left, right| {
        size(left).partial_cmp(&size(right)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// Returns whether a volume can be used on a node.
pub(crate) fn can_be_on(volume: &Object, node: &Object) -> bool {
    let required = volume.get("/spec/nodeAffinity/required");
    !required.is_object() || admits(required, node)
}

/// Returns why a volume cannot be that of a claim, if it cannot.
pub(super) fn unfit(volume: &Object, claim: &Object) -> Option<&'static str> {
    let attributes = "/spec/volumeAttributesClassName";
    if !is_large_enough(volume, claim) {
        Some("requested PV is too small")
    } else if class(volume) != class(claim) {
        Some("storageClassName does not match")
    } else if mode(volume) != mode(claim) {
        Some("incompatible volumeMode")
    } else if !has_access_modes(volume, claim) {
        Some("incompatible accessMode")
    } else if volume.text(attributes) != claim.text(attributes) {
        Some("volumeAttributesClassName does not match")
    } else {
        None
    }
}

fn is_large_enough(volume: &Object, claim: &Object) -> bool {
    let requested = quantity(claim.get("/spec/resources/requests/storage"));
    requested.is_none_or(|requested| size(volume).is_some_and(|size| size >= requested))
}

fn mode(object: &Object) -> &str {
    match object.text("/spec/volumeMode") {
        "" => "Filesystem",
        mode => mode,
    }
}

fn has_access_modes(volume: &Object, claim: &Object) -> bool {
    let modes = volume.list("/spec/accessModes");
    claim.list("/spec/accessModes").iter().all(|mode| modes.contains(mode))
}

/// Returns the class of a claim or a volume; empty for none.
pub(super) fn class(object: &Object) -> &str {
    object.annotation(CLASS).unwrap_or_else(|| object.text("/spec/storageClassName"))
}

/// Returns whether a claim says which class it has, be it none.
pub(super) fn has_class(claim: &Object) -> bool {
    claim.annotation(CLASS).is_some() || claim.get("/spec/storageClassName").is_string()
}

fn size(volume: &Object) -> Option<Quantity> {
    quantity(volume.get("/spec/capacity/storage"))
}

/// Reads a quantity.
pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    value.as_str()?.parse().ok()
}
