//! Ownership of replicas that are changed through the scale subresource (SA-95).

use super::FieldManager;
use super::managed_fields::{ManagedFields, Operation};
use crate::field_set::{FieldSet, OwnedPath};

/// The place of the replicas in a version of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplicasPath {
    /// The definition does not have the version.
    UnknownVersion,
    /// The version does not have the scale subresource.
    NoScale,
    /// The replicas are here.
    At(OwnedPath),
}

impl FieldManager<'_> {
    /// Returns the entries of an object after a write to its scale subresource. `path_in` tells
    /// where the replicas are in a version, given as `group/version`; `is_changed` whether the
    /// write changes them, and `is_set` whether there are any afterwards.
    ///
    /// An object without entries stays without.
    #[must_use]
    pub fn scale(
        &self,
        managed: ManagedFields,
        path_in: &dyn Fn(&str) -> ReplicasPath,
        (is_changed, is_set): (bool, bool),
    ) -> ManagedFields {
        if managed.is_empty() {
            return managed;
        }
        let mut new = self.entry(Operation::Update);
        new.time = managed.0.get(&new.identity()).map(|last| last.time).unwrap_or_default();
        let mut scaled = ManagedFields::default();
        for mut entry in managed.0.into_values() {
            match path_in(&entry.api_version) {
                ReplicasPath::UnknownVersion => continue,
                ReplicasPath::At(path) if is_changed => {
                    entry.fields = entry.fields.difference(&FieldSet::from_iter([path]));
                }
                _ => {}
            }
            if !entry.fields.is_empty() {
                scaled.insert(entry);
            }
        }
        if let ReplicasPath::At(path) = path_in(self.api_version)
            && is_changed
            && is_set
        {
            new.fields = FieldSet::from_iter([path]);
            scaled.insert(new);
        }
        scaled
    }
}
