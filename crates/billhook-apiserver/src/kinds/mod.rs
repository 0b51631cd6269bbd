//! The kinds of the server itself beside definitions: described as data in `kinds.yaml`, with what a
//! schema cannot tell in code.

mod data;
mod events;
mod policies;
mod records;
mod strategy;

use std::sync::Arc;

use billhook::KubernetesVersion;
use billhook_admission::{Chain, Strategy, Unreachable};
use billhook_policy::PolicyKind;

use self::policies::PolicyStrategy;
use self::strategy::KindStrategy;
use crate::resources::Resource;

pub(crate) use self::policies::check_types;
pub(crate) use self::records::record_of;

/// The definitions of the resources.
const KINDS: &str = include_str!("kinds.yaml");

/// The resources that a server of a version has itself.
pub(crate) fn resources(kubernetes: KubernetesVersion) -> impl Iterator<Item = Resource> {
    let manifests = billhook::read_manifests(KINDS.as_bytes()).unwrap_or_default();
    manifests.into_iter().filter_map(move |manifest| {
        let chain = Chain::new(Unreachable);
        let resource = Resource::new(manifest.value(), kubernetes, chain).ok()?;
        let kind = resource.definition.kind();
        let record = record_of(&resource.definition.storage().ok()?.api_version(), kind)?;
        let policy = PolicyKind::ALL.into_iter().find(|policy| policy.name() == kind);
        // No server has a beta version of a kind by default.
        if policy.is_some_and(|policy| !policy.versions(kubernetes).contains(&"v1")) {
            return None;
        }
        let strategy: Arc<dyn Strategy> = match policy {
            Some(_) => Arc::new(PolicyStrategy { kubernetes }),
            None => Arc::new(KindStrategy::new(kind, record, kubernetes)),
        };
        let mut resource = resource.native(strategy, record);
        events::share(&mut resource);
        Some(resource)
    })
}

#[cfg(test)]
mod tests {
    /// A kind that cannot be read would not be served, and nobody would be told.
    #[test]
    fn all_kinds_are_served() {
        let written = super::KINDS.matches("kind: CustomResourceDefinition").count();
        assert_eq!(super::resources(Default::default()).count(), written);
    }
}
