//! The cap of the entries of updates (SA-38).

use std::collections::BTreeMap;

use super::managed_fields::{ManagedFields, ManagerEntry, Operation};

/// The number of entries of updates that stay as they are.
const MAX_UPDATERS: usize = 10;
/// The manager that gets the fields of those that do not stay.
const BUCKET: &str = "ancient-changes";

impl ManagedFields {
    /// Merges the oldest entries of updates until no more are left than may be.
    pub(super) fn cap(&mut self) {
        let is_update = |entry: &&ManagerEntry| entry.operation == Operation::Update;
        let updates = self.0.iter().filter(|(_, entry)| is_update(entry));
        let mut updates: Vec<_> = updates.map(|(id, entry)| (entry.time, id.clone())).collect();
        let mut count = updates.len();
        updates.sort();
        let mut first_of_version: BTreeMap<String, String> = BTreeMap::new();
        for (time, id) in updates {
            if count <= MAX_UPDATERS {
                return;
            }
            let Some(entry) = self.0.get(&id) else { continue };
            let version = entry.api_version.clone();
            let Some(first) = first_of_version.get(&version) else {
                first_of_version.insert(version, id);
                continue;
            };
            let mut bucket = entry.clone();
            BUCKET.clone_into(&mut bucket.manager);
            bucket.subresource.clear();
            bucket.time = time;
            let bucket_id = bucket.identity();
            let merged = self.0.remove(&bucket_id).or_else(|| self.0.remove(first));
            if let Some(merged) = merged {
                bucket.fields = bucket.fields.union(&merged.fields);
            }
            // An entry that is the merged entry itself is lost, as in the server.
            if bucket_id != id {
                self.0.insert(bucket_id, bucket);
            }
            self.0.remove(&id);
            count -= 1;
        }
    }
}
