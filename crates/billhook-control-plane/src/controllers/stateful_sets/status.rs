//! The status of a StatefulSet (CP-56).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Sync;
use super::pods::revision_of;
use crate::controllers::revisions::write_status;
use crate::object::Object;
use crate::plan::Plan;
use crate::resource::STATEFUL_SETS;

impl Sync<'_> {
    /// Writes the status, if it differs from what the set has.
    pub(super) fn write_status(&self) -> Plan {
        let set = self.owner.object;
        let of_revision = |revision: &Object| {
            self.count(|pod| !pod.is_deleting() && revision_of(pod) == revision.name())
        };
        let replicas = self.count(|_| true);
        let ready = self.count(Sync::is_running_and_ready);
        let updated = of_revision(self.update);
        let is_complete = set.text("/spec/updateStrategy/type") == "RollingUpdate"
            && [replicas, ready, updated].iter().all(|count| Some(*count) == self.replicas());
        let current = if is_complete { self.update } else { self.current };
        let mut status = Map::new();
        status.insert("observedGeneration".to_owned(), set.get("/metadata/generation").clone());
        status.insert("replicas".to_owned(), replicas.into());
        status.insert(
            "availableReplicas".to_owned(),
            self.count(|pod| self.is_available(pod)).into(),
        );
        let counts = [
            ("readyReplicas", ready),
            ("currentReplicas", of_revision(current)),
            ("updatedReplicas", updated),
        ];
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            status.insert(name.to_owned(), count.into());
        }
        status.insert("currentRevision".to_owned(), current.name().into());
        status.insert("updateRevision".to_owned(), self.update.name().into());
        let collisions = set.int("/status/collisionCount").unwrap_or_default();
        status.insert("collisionCount".to_owned(), Value::from(collisions));
        write_status(&STATEFUL_SETS, set, status)
    }

    fn count(&self, is_counted: impl Fn(&Object) -> bool) -> usize {
        let pods = self.pods.values().filter(|pod: &&Arc<Object>| is_counted(pod));
        pods.count()
    }

    fn replicas(&self) -> Option<usize> {
        usize::try_from(self.end.saturating_sub(self.start)).ok()
    }
}
