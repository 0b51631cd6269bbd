//! The resources that every server has.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use billhook::KubernetesVersion;
use billhook_kinds::Kind;

use crate::resources::Catalog;
use crate::{definitions, kinds};

/// The resources of the server itself, without those of some versions. All others are the same in every
/// server of a version that may, or may not, have privileged containers, and read once.
pub(crate) fn own_resources(
    kubernetes: KubernetesVersion,
    refuses_privileged: bool,
    without: &[String],
) -> Catalog {
    static READ: Mutex<BTreeMap<(KubernetesVersion, bool), Catalog>> = Mutex::new(BTreeMap::new());
    if !without.is_empty() {
        return catalog(kubernetes, refuses_privileged, without);
    }
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = read.entry((kubernetes, refuses_privileged));
    read.or_insert_with(|| catalog(kubernetes, refuses_privileged, &[])).clone()
}

fn catalog(kubernetes: KubernetesVersion, refuses_privileged: bool, without: &[String]) -> Catalog {
    let mut catalog = Catalog::new(kubernetes);
    let is_served = |kind: &&Kind| !without.contains(&kind.api_version());
    for kind in kinds::served(kubernetes).filter(is_served) {
        let compile = match kind.kind {
            "CustomResourceDefinition" => definitions::compile,
            _ if refuses_privileged => kinds::compile_unprivileged,
            _ => kinds::compile,
        };
        catalog.add(kind, compile);
    }
    catalog
}

/// Whether the server itself needs the objects of a group.
pub(crate) fn is_needed(group: &str) -> bool {
    [
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
    ]
    .contains(&group)
}
