//! The resources that every server has.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use billhook::KubernetesVersion;

use crate::resources::Catalog;
use crate::{definitions, kinds};

/// The resources of the server itself: the same in every server of a version that may, or may not, have
/// privileged containers, and read once.
pub(crate) fn own_resources(kubernetes: KubernetesVersion, refuses_privileged: bool) -> Catalog {
    static READ: Mutex<BTreeMap<(KubernetesVersion, bool), Catalog>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = read.entry((kubernetes, refuses_privileged)).or_insert_with(|| {
        let mut catalog = Catalog::new(kubernetes);
        for kind in kinds::served(kubernetes) {
            let compile = match kind.kind {
                "CustomResourceDefinition" => definitions::compile,
                _ if refuses_privileged => kinds::compile_unprivileged,
                _ => kinds::compile,
            };
            catalog.add(kind, compile);
        }
        catalog
    });
    catalog.clone()
}
