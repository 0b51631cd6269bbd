//! Which resources address the same stored data (WM-46 to WM-51).

use std::collections::BTreeMap;

use super::resource::{GroupVersionKind, GroupVersionResource};

/// The resources that are served, with their kinds, and which of them are equivalent: those with
/// the same storage. By default that is every version of a resource of a group.
///
/// ```
/// use billhook::webhook::{EquivalenceRegistry, GroupVersionKind, GroupVersionResource};
///
/// let mut registry = EquivalenceRegistry::new();
/// registry.share_storage(("extensions", "deployments"), ("apps", "deployments"));
/// for (group, version) in [("apps", "v1"), ("extensions", "v1beta1")] {
///     let resource = GroupVersionResource::new(group, version, "deployments");
///     registry.register(resource, "", GroupVersionKind::new(group, version, "Deployment"));
/// }
/// let asked = GroupVersionResource::new("apps", "v1", "deployments");
/// let equivalents = registry.equivalents(&asked, "");
/// assert_eq!(equivalents[1].to_string(), "extensions/v1beta1 deployments");
/// assert_eq!(registry.kind_for(&equivalents[1], "").unwrap().version, "v1beta1");
/// ```
#[derive(Clone, Debug, Default)]
pub struct EquivalenceRegistry {
    /// Group and resource that others are stored as.
    identities: BTreeMap<(String, String), (String, String)>,
    /// By group, resource and subresource of the identity.
    sets: BTreeMap<(String, String), BTreeMap<String, Vec<GroupVersionResource>>>,
    /// By subresource.
    kinds: BTreeMap<GroupVersionResource, BTreeMap<String, GroupVersionKind>>,
}

impl EquivalenceRegistry {
    /// A registry that knows no resource.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that a resource, given as group and name, is stored as another one. To be said before
    /// the first of them is registered.
    pub fn share_storage(&mut self, resource: (&str, &str), stored_as: (&str, &str)) {
        let owned = |(group, name): (&str, &str)| (group.to_owned(), name.to_owned());
        self.identities.insert(owned(resource), owned(stored_as));
    }

    /// Adds a resource or a subresource of it, and the kind of its objects. The order of
    /// registration is the order of preference (WM-47).
    pub fn register(
        &mut self,
        resource: GroupVersionResource,
        subresource: &str,
        kind: GroupVersionKind,
    ) {
        let set = self.sets.entry(self.identity(&resource)).or_default();
        let set = set.entry(subresource.to_owned()).or_default();
        if !set.contains(&resource) {
            set.push(resource.clone());
        }
        self.kinds.entry(resource).or_default().insert(subresource.to_owned(), kind);
    }

    fn identity(&self, resource: &GroupVersionResource) -> (String, String) {
        let own = (resource.group.clone(), resource.resource.clone());
        self.identities.get(&own).cloned().unwrap_or(own)
    }

    /// The resources with the same storage, in the order of registration; the resource itself is
    /// among them if it is registered.
    pub fn equivalents(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> &[GroupVersionResource] {
        let set = self.sets.get(&self.identity(resource));
        set.and_then(|set| set.get(subresource)).map_or(&[], Vec::as_slice)
    }

    /// The kind of the objects of a resource or subresource, if it is registered (WM-51).
    pub fn kind_for(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Option<&GroupVersionKind> {
        self.kinds.get(resource)?.get(subresource)
    }
}
