//! Namespaces that controllers know.

use std::sync::Arc;

use crate::controller::Keys;
use crate::resource::NAMESPACES;
use crate::view::{Change, View};

/// The namespace of the leases of nodes.
pub(crate) const NODE_LEASES: &str = "kube-node-lease";

/// Returns whether a namespace is there and not being deleted.
pub(crate) fn is_active(view: &View, namespace: &str) -> bool {
    let phase = view.get(&NAMESPACES, namespace).map(|it| it.text("/status/phase"));
    phase == Some("Active")
}

/// Adds the namespace that has changed, or in which the object of a name has.
pub(crate) fn add_namespaces(change: &Change, name: &str, keys: &mut Keys) {
    if keys.add_changed(change, &NAMESPACES) {
        return;
    }
    let object = change.object().filter(|object| object.name() == name);
    object.into_iter().for_each(|object| keys.add(&Arc::from(object.namespace())));
}
