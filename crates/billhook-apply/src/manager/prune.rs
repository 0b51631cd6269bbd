//! Removal of what a manager applied before and does not apply any more (SA-73).

use std::collections::BTreeMap;

use super::managed_fields::{ManagedFields, ManagerEntry};
use super::versions::{ConversionError, Versioned, Versions};
use crate::field_set::FieldSet;

/// The object cannot be converted to a version of which fields are owned (SA-91).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PruneError {
    #[error("failed to convert merged object to last applied version: {0}")]
    Merged(ConversionError),
    #[error(
        "failed add back owned items: failed to convert merged object at version {version}: {error}"
    )]
    OwnedMerged { version: String, error: ConversionError },
    #[error(
        "failed add back owned items: failed to convert pruned object at version {version}: {error}"
    )]
    OwnedPruned { version: String, error: ConversionError },
    #[error(
        "failed add back dangling items: failed to convert pruned object to last applied version: \
         {0}"
    )]
    Dangling(ConversionError),
    #[error("failed to convert pruned object: {0}")]
    Result(ConversionError),
}

/// Returns a merged object without the fields of the manager's last entry that have no owner now.
/// `managed` are the entries after the apply. The way goes through all versions of which managers own
/// fields.
pub(super) fn prune<'v>(
    merged: &'v Versioned<'v>,
    last: &'v ManagerEntry,
    managed: &'v ManagedFields,
    versions: &'v dyn Versions,
) -> Result<Versioned<'v>, PruneError> {
    let last_version = last.api_version.as_str();
    let merged_in_last = merged.convert(versions, last_version).map_err(PruneError::Merged)?;
    let last_fields = merged_in_last.closure(&last.fields());
    let all_fields = merged_in_last.all_fields();

    // Everything that the manager owned goes, then everything comes back that has an owner.
    let mut pruned = merged_in_last.without(&last_fields);
    let mut current = merged.convert(versions, last_version).map_err(PruneError::Merged)?;
    for (version, owned) in owned_by_version(managed, last_version) {
        let error = |error| PruneError::OwnedMerged { version: version.to_owned(), error };
        current = current.into_version(versions, version).map_err(error)?;
        let error = |error| PruneError::OwnedPruned { version: version.to_owned(), error };
        pruned = pruned.into_version(versions, version).map_err(error)?;
        let present = match version == last_version {
            true => all_fields.clone(),
            false => current.all_fields(),
        };
        let gone = present.difference(&pruned.all_fields());
        pruned = current.without(&gone.difference(&current.closure(&owned)));
    }

    // What was never the manager's stays.
    let pruned = pruned.into_version(versions, last_version).map_err(PruneError::Dangling)?;
    let gone = all_fields.difference(&pruned.all_fields());
    let result = merged_in_last.without(&gone.intersection(&last_fields));
    result.into_version(versions, merged.api_version).map_err(PruneError::Result)
}

/// The fields that any manager owns in each version, the given one first.
fn owned_by_version<'m>(
    managed: &'m ManagedFields,
    first: &str,
) -> impl Iterator<Item = (&'m str, FieldSet)> {
    let mut owned: BTreeMap<&str, Vec<FieldSet>> = BTreeMap::new();
    for entry in managed.entries() {
        owned.entry(&entry.api_version).or_default().push(entry.fields());
    }
    let first = owned.remove_entry(first);
    let all = first.into_iter().chain(owned);
    all.map(|(version, sets)| (version, FieldSet::union_all(&sets)))
}
