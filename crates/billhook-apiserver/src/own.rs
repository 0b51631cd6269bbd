//! The resources that every server has.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use billhook::KubernetesVersion;

use crate::resources::Catalog;
use crate::{definitions, kinds};

/// The resources of the server itself: the same in every server of a version, and read once.
pub(crate) fn own_resources(kubernetes: KubernetesVersion) -> Catalog {
    static READ: Mutex<BTreeMap<KubernetesVersion, Catalog>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = read.entry(kubernetes).or_insert_with(|| {
        let mut catalog = Catalog::new(kubernetes);
        for kind in kinds::served(kubernetes) {
            let is_of_definitions = kind.kind == "CustomResourceDefinition";
            catalog
                .add(kind, if is_of_definitions { definitions::compile } else { kinds::compile });
        }
        catalog
    });
    catalog.clone()
}
