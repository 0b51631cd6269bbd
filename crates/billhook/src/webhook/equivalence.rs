//! Which resources address the same stored data (WM-46 to WM-51).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};

/// The resources that are served, with their kinds, and which of them are equivalent: those with
/// the same storage. By default that is every version of a resource of a group.
///
/// ```
/// use billhook::{GroupVersionKind, GroupVersionResource};
/// use billhook::webhook::EquivalentResources;
///
/// let mut registry = EquivalentResources::new();
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
pub struct EquivalentResources {
    /// Group and resource that others are stored as.
    identities: ByResource<(String, String)>,
    /// By subresource, for each identity.
    sets: ByResource<BTreeMap<String, Vec<GroupVersionResource>>>,
    /// By subresource.
    kinds: BTreeMap<GroupVersionResource, BTreeMap<String, GroupVersionKind>>,
    /// Groups and names of resources whose versions differ in nothing but `apiVersion`.
    alike: BTreeSet<(String, String)>,
}

/// By group, then by resource.
type ByResource<T> = BTreeMap<String, BTreeMap<String, T>>;

impl EquivalentResources {
    /// A registry that knows no resource.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that a resource, given as group and name, is stored as another one. To be said before
    /// the first of them is registered.
    pub fn share_storage(&mut self, resource: (&str, &str), stored_as: (&str, &str)) {
        let stored_as = (stored_as.0.to_owned(), stored_as.1.to_owned());
        let of_group = self.identities.entry(resource.0.to_owned()).or_default();
        of_group.insert(resource.1.to_owned(), stored_as);
    }

    /// Adds a resource or a subresource of it, and the kind of its objects, which is empty if
    /// it is unknown. The order of registration is the order of preference (WM-47).
    pub fn register(
        &mut self,
        resource: GroupVersionResource,
        subresource: &str,
        kind: GroupVersionKind,
    ) {
        let (group, name) = self.identity(&resource);
        let (group, name) = (group.to_owned(), name.to_owned());
        let sets = self.sets.entry(group).or_default().entry(name).or_default();
        let set = sets.entry(subresource.to_owned()).or_default();
        if !set.contains(&resource) {
            set.push(resource.clone());
        }
        self.kinds.entry(resource).or_default().insert(subresource.to_owned(), kind);
    }

    /// Says whether the objects of a resource are the same in all versions except for `apiVersion`, as
    /// with the conversion strategy None.
    pub(super) fn set_alike(&mut self, group: &str, resource: &str, is_alike: bool) {
        let name = (group.to_owned(), resource.to_owned());
        match is_alike {
            true => self.alike.insert(name),
            false => self.alike.remove(&name),
        };
    }

    /// Whether the objects of a resource are the same in all versions except for `apiVersion`.
    pub(super) fn is_alike(&self, resource: &GroupVersionResource) -> bool {
        !self.alike.is_empty()
            && self.alike.contains(&(resource.group.clone(), resource.resource.clone()))
    }

    fn identity<'r>(&'r self, resource: &'r GroupVersionResource) -> (&'r str, &'r str) {
        let GroupVersionResource { group, resource, .. } = resource;
        let stored_as = self.identities.get(group).and_then(|names| names.get(resource));
        stored_as.map_or((group, resource), |(group, resource)| (group, resource))
    }

    /// The resources with the same storage, in the order of registration; the resource itself is
    /// among them if it is registered.
    pub fn equivalents(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> &[GroupVersionResource] {
        let (group, name) = self.identity(resource);
        let sets = self.sets.get(group).and_then(|names| names.get(name));
        sets.and_then(|sets| sets.get(subresource)).map_or(&[], Vec::as_slice)
    }

    /// The kind of the objects of a resource or subresource, if it is known (WM-51).
    pub fn kind_for(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Option<&GroupVersionKind> {
        self.kinds.get(resource)?.get(subresource).filter(|kind| !kind.kind.is_empty())
    }
}
