//! The kinds of the server itself beside definitions: described as data in `kinds.yaml`, with what a
//! schema cannot tell in code.

mod namespaces;
mod strategy;

use std::sync::Arc;

use billhook_admission::{Chain, Unreachable};

use self::strategy::KindStrategy;
use crate::catalog::Resource;

pub(crate) use self::namespaces::{
    check_namespace, create_initial, is_terminating, settle_namespace,
};

/// The definitions of the resources.
const KINDS: &str = include_str!("kinds.yaml");

/// The resources of the server itself.
pub(crate) fn resources() -> impl Iterator<Item = Resource> {
    let manifests = billhook::read_manifests(KINDS.as_bytes()).unwrap_or_default();
    manifests.into_iter().filter_map(|manifest| {
        let resource = Resource::new(manifest.value(), Chain::new(Unreachable)).ok()?;
        let strategy = KindStrategy::new(resource.definition.kind());
        Some(resource.native(Arc::new(strategy)))
    })
}

#[cfg(test)]
mod tests {
    /// A kind that cannot be read would not be served, and nobody would be told.
    #[test]
    fn all_kinds_are_served() {
        let written = super::KINDS.matches("kind: CustomResourceDefinition").count();
        assert_eq!(super::resources().count(), written);
    }
}
