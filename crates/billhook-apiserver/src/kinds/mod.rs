//! The kinds of the server itself beside definitions.

mod events;
mod policies;
mod strategy;

use std::sync::Arc;

use billhook::KubernetesVersion;
use billhook_admission::{Chain, Unreachable};
use billhook_apimachinery::record::Record;
use billhook_kinds::Kind;

use self::strategy::KindStrategy;
use crate::resources::Resource;

pub(crate) use self::policies::check_types;

/// The resources that a server of a version has itself.
pub(crate) fn resources(kubernetes: KubernetesVersion) -> impl Iterator<Item = Resource> {
    let served = Kind::all().iter().filter(move |kind| {
        kind.is_stored() && kind.since <= kubernetes && kind.kind != "CustomResourceDefinition"
    });
    served.filter_map(move |kind| {
        let record = kind.record()?;
        let definition = kind.definition(kubernetes)?;
        let resource = Resource::new(&definition, kubernetes, Chain::new(Unreachable)).ok()?;
        let strategy = Arc::new(KindStrategy::new(kind, record, kubernetes));
        let mut resource = resource.native(strategy, kind);
        events::share(&mut resource);
        Some(resource)
    })
}

/// Returns the fields of the objects of a kind.
pub(crate) fn record_of(api_version: &str, kind: &str) -> Option<&'static Record> {
    Kind::named(api_version, kind)?.record()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind that cannot be read would not be served, and no error would say so.
    #[test]
    fn all_kinds_are_served() {
        let stored = Kind::all().iter().filter(|kind| kind.is_stored()).count();
        // Definitions are a resource of their own.
        assert_eq!(resources(KubernetesVersion::default()).count(), stored - 1);
    }
}
