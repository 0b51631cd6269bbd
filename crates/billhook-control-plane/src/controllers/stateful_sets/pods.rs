//! The pods of a set (CP-50).

use serde_json::{Value, json};

use super::claims::volumes;
use super::identity::{Ordinal, pod_name};
use crate::controllers::revisions::{REVISION, template_of};
use crate::document::set;
use crate::object::Object;
use crate::ownership::Owner;
use crate::pods::pod_of;

const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// Returns the name of the revision of a pod.
pub(super) fn revision_of(pod: &Object) -> &str {
    pod.labels().get(REVISION).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the pod of an ordinal, by the template of a revision.
pub(super) fn new_pod(owner: &Owner<'_>, revision: &Object, ordinal: Ordinal) -> Value {
    let (stateful_set, mut pod) = (owner.object, pod_of(owner, &template_of(revision)));
    let name = pod_name(stateful_set, ordinal);
    set(&mut pod, &["metadata", "name"], name.as_str().into());
    set(&mut pod, &["metadata", "labels", POD_NAME], name.as_str().into());
    set(&mut pod, &["metadata", "labels", POD_INDEX], ordinal.to_string().into());
    set(&mut pod, &["metadata", "labels", REVISION], revision.name().into());
    set(&mut pod, &["spec", "hostname"], name.into());
    let service = stateful_set.text("/spec/serviceName");
    if !service.is_empty() {
        set(&mut pod, &["spec", "subdomain"], service.into());
    }
    let own = pod.pointer("/spec/volumes").and_then(Value::as_array);
    let volumes = volumes(stateful_set, ordinal, own.map(Vec::as_slice).unwrap_or_default());
    if !volumes.is_empty() {
        set(&mut pod, &["spec", "volumes"], volumes.into());
    }
    pod
}

/// Returns the pod with the labels that tell its place and the volumes of its claims, if it lacks any.
pub(super) fn corrected(stateful_set: &Object, pod: &Object, ordinal: Ordinal) -> Option<Value> {
    let has = |label: &str, value: &str| pod.labels().get(label) == Some(&json!(value));
    let index = ordinal.to_string();
    let has_volumes = has_volumes(stateful_set, pod, ordinal);
    if has(POD_NAME, pod.name()) && has(POD_INDEX, &index) && has_volumes {
        return None;
    }
    let mut changed = pod.copy();
    set(&mut changed, &["metadata", "labels", POD_NAME], pod.name().into());
    set(&mut changed, &["metadata", "labels", POD_INDEX], index.into());
    if !has_volumes {
        let volumes = volumes(stateful_set, ordinal, pod.list("/spec/volumes"));
        set(&mut changed, &["spec", "volumes"], volumes.into());
    }
    Some(changed)
}

/// Returns whether a pod has the volumes of its claims.
fn has_volumes(stateful_set: &Object, pod: &Object, ordinal: Ordinal) -> bool {
    let own = pod.list("/spec/volumes");
    volumes(stateful_set, ordinal, &[]).iter().all(|volume| own.contains(volume))
}
