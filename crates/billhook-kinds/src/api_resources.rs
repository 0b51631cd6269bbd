//! The resources of built-in kinds, as webhooks and policies are matched with them.

use billhook::Scope;
use billhook::webhook::{ApiResource, EquivalentResources};
use billhook_apimachinery::{
    GroupVersionKind, GroupVersionResource, KubernetesVersion, compare_versions, split_api_version,
};
use billhook_policy::MemoryCluster;

use crate::kind::{BodyKind, Kind};

impl Kind {
    /// Returns the resource of its objects.
    pub fn api_resource(&self) -> ApiResource {
        ApiResource::new(
            GroupVersionResource::new(self.group, self.version, self.plural),
            GroupVersionKind::new(self.group, self.version, self.kind),
            if self.is_namespaced { Scope::Namespaced } else { Scope::Cluster },
        )
    }

    /// Returns the resources of servers of a version whose objects are the same as those of the kind,
    /// with their subresources (WM-48).
    pub fn equivalents(&self, kubernetes: KubernetesVersion) -> EquivalentResources {
        let same = |other: &&'static Kind| self.is_same_object(other);
        registry(served(kubernetes).into_iter().filter(same).collect())
    }

    /// Whether the objects of another kind are the same.
    pub fn is_same_object(&self, other: &Kind) -> bool {
        self.stored_as() == other.stored_as()
    }

    /// The group and the name of the resource that its objects are stored as.
    fn stored_as(&self) -> (&str, &str) {
        match self.is_stored() {
            true => (split_api_version(self.storage_version).0, self.plural),
            false => (self.group, self.plural),
        }
    }
}

impl BodyKind {
    /// Returns the group, the version and the name of the kind.
    fn names(&self) -> GroupVersionKind {
        GroupVersionKind::new(self.group, self.version, self.kind)
    }
}

/// Returns the resources and subresources of all built-in kinds that servers of a version have
/// (WM-48).
pub fn equivalent_resources(kubernetes: KubernetesVersion) -> EquivalentResources {
    registry(served(kubernetes))
}

fn registry(kinds: Vec<&'static Kind>) -> EquivalentResources {
    let mut registry = EquivalentResources::new();
    for kind in &kinds {
        let stored_as = kind.stored_as();
        if stored_as.0 != kind.group {
            registry.share_storage((kind.group, kind.plural), stored_as);
        }
    }
    for kind in kinds {
        let ApiResource { resource, kind: own, .. } = kind.api_resource();
        for subresource in kind.subresources {
            registry.register(resource.clone(), subresource.name, subresource.body.names());
        }
        registry.register(resource, "", own);
    }
    registry
}

/// Says that a cluster serves all built-in kinds that servers of a version have.
pub fn register_kinds(cluster: &mut MemoryCluster, kubernetes: KubernetesVersion) {
    for kind in served(kubernetes) {
        cluster.register(&kind.api_version(), kind.kind, kind.api_resource().scope);
    }
}

/// Returns the kinds that servers of a version have. Of the versions of a group, the one that
/// servers prefer is first.
fn served(kubernetes: KubernetesVersion) -> Vec<&'static Kind> {
    let kinds = Kind::all().iter().filter(|kind| kind.is_served(kubernetes));
    let mut kinds: Vec<_> = kinds.collect();
    kinds.sort_by(|left, right| compare_versions(right.version, left.version));
    kinds
}
