//! When the change happened that endpoints follow: clients measure by it how long they take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::object::Object;

/// Remembers the times of the last changes of services and their pods. Nothing that is stored says
/// which of them the endpoints have followed already.
#[derive(Debug, Default)]
pub(super) struct TriggerTimes(Mutex<BTreeMap<String, Known>>);

#[derive(Debug, Default)]
struct Known {
    service: Option<Timestamp>,
    pods: BTreeMap<String, Timestamp>,
}

impl TriggerTimes {
    /// Returns the first time at which something changed since the last call for a service: it was
    /// created, or the readiness of a pod changed.
    pub(super) fn next(&self, service: &Object, pods: &[&Arc<Object>]) -> Option<Timestamp> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(service.key().to_string()).or_default();
        let created = service.time("/metadata/creationTimestamp");
        let mut first = created.filter(|_| created > known.service);
        known.service = created;
        let before = std::mem::take(&mut known.pods);
        for pod in pods {
            let Some(time) = transition(pod) else { continue };
            if before.get(pod.name()).is_none_or(|known| time > *known) {
                first = Some(first.map_or(time, |first| first.min(time)));
            }
            known.pods.insert(pod.name().to_owned(), time);
        }
        first
    }

    /// Forgets a service that is gone.
    pub(super) fn forget(&self, service: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(service);
    }
}

/// Returns when the readiness of a pod changed last.
fn transition(pod: &Object) -> Option<Timestamp> {
    Timestamp::parse(pod.condition("Ready")?.get("lastTransitionTime")?.as_str()?)
}
