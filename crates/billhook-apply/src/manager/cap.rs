//! The cap of the entries of updates (SA-38).

use std::collections::BTreeMap;

use super::managed_fields::{ManagedFields, ManagedFieldsOperation, ManagerEntry};
use crate::field_set::FieldSet;
use crate::fields::Fields;

/// The number of entries of updates that stay as they are.
const MAX_UPDATERS: usize = 10;
/// The manager that gets the fields of those that do not stay.
const BUCKET: &str = "ancient-changes";

impl ManagedFields {
    /// Merges the oldest entries of updates until no more are left than may be.
    pub(super) fn cap(&mut self) {
        let is_update = |entry: &&ManagerEntry| entry.operation == ManagedFieldsOperation::Update;
        let updates = self.0.iter().filter(|(_, entry)| is_update(entry));
        let mut count = updates.clone().count();
        if count <= MAX_UPDATERS {
            return;
        }
        let mut updates: Vec<_> = updates.map(|(id, entry)| (entry.time, id.clone())).collect();
        updates.sort();
        let mut first_of_version: BTreeMap<String, String> = BTreeMap::new();
        let mut merged: BTreeMap<String, Vec<FieldSet>> = BTreeMap::new();
        for (time, id) in updates {
            if count <= MAX_UPDATERS {
                break;
            }
            let Some(version) = self.0.get(&id).map(|entry| entry.api_version.clone()) else {
                continue;
            };
            let Some(first) = first_of_version.get(&version) else {
                first_of_version.insert(version, id);
                continue;
            };
            let Some(mut entry) = self.0.remove(&id) else { continue };
            count -= 1;
            let fields = entry.fields();
            BUCKET.clone_into(&mut entry.manager);
            entry.subresource.clear();
            entry.time = time;
            let bucket = entry.identity();
            // An entry that is the merged entry itself is lost, as in the server.
            if bucket == id {
                merged.remove(&bucket);
                continue;
            }
            let sets = merged.entry(bucket.clone()).or_default();
            sets.push(fields);
            match self.0.get_mut(&bucket) {
                Some(bucket) => bucket.time = time,
                None => {
                    sets.extend(self.0.remove(first).map(|first| first.fields()));
                    self.0.insert(bucket, entry);
                }
            }
        }
        for (bucket, mut sets) in merged {
            if let Some(bucket) = self.0.get_mut(&bucket) {
                sets.push(bucket.fields());
                bucket.fields = Fields::Read(FieldSet::union_all(&sets));
            }
        }
    }
}
