//! Questions that all controllers of pods ask, and pods made from templates.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::object::Object;
use crate::ownership::Owner;
use crate::request::Request;
use crate::resource::PODS;

/// The longest name that has room for a dash.
const MAX_NAME: usize = 252;

/// Returns whether a pod is neither done nor being deleted.
pub(crate) fn is_active(pod: &Object) -> bool {
    !is_terminal(pod) && !pod.is_deleting()
}

/// Returns whether a pod has succeeded or failed.
pub(crate) fn is_terminal(pod: &Object) -> bool {
    matches!(pod.text("/status/phase"), "Succeeded" | "Failed")
}

/// Returns whether a pod is ready.
pub(crate) fn is_ready(pod: &Object) -> bool {
    pod.is_condition_true("Ready")
}

/// Returns how far a pod has come, which decides before anything else which ones are deleted first: no
/// node, the phase, readiness.
pub(crate) fn deletion_rank(pod: &Object) -> (bool, u8, bool) {
    let phase = match pod.text("/status/phase") {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    };
    (!pod.text("/spec/nodeName").is_empty(), phase, is_ready(pod))
}

/// Returns since when a pod is ready, if it is.
pub(crate) fn ready_since(pod: &Object) -> Option<Timestamp> {
    let condition = pod.condition("Ready").filter(|_| is_ready(pod))?;
    Timestamp::parse(condition.get("lastTransitionTime")?.as_str()?)
}

/// Returns how long it takes until a pod has been ready for some seconds: nothing if it is available;
/// `None` if it is not ready.
pub(crate) fn time_to_available(
    pod: &Object,
    min_ready_seconds: i64,
    now: Timestamp,
) -> Option<Duration> {
    if min_ready_seconds <= 0 {
        return is_ready(pod).then_some(Duration::ZERO);
    }
    let wanted = Duration::from_secs(u64::try_from(min_ready_seconds).unwrap_or_default());
    Some(ready_since(pod)?.plus(wanted).since(now))
}

/// Returns whether a pod has been ready for some seconds.
pub(crate) fn is_available(pod: &Object, min_ready_seconds: i64, now: Timestamp) -> bool {
    time_to_available(pod, min_ready_seconds, now) == Some(Duration::ZERO)
}

/// Returns the names of the claims of a pod: those that it names, and those of its ephemeral volumes.
pub(crate) fn claim_names(pod: &Object) -> impl Iterator<Item = String> {
    pod.list("/spec/volumes").iter().filter_map(|volume| {
        let named = volume.pointer("/persistentVolumeClaim/claimName").and_then(Value::as_str);
        let own = volume.get("ephemeral").filter(|it| !it.is_null()).and(volume.get("name"));
        let of_pod = || Some(format!("{}-{}", pod.name(), own?.as_str()?));
        named.map(str::to_owned).or_else(of_pod)
    })
}

/// Returns a pod from the template of its owner, without a name.
pub(crate) fn pod_of(owner: &Owner<'_>, template: &Value) -> Value {
    let mut metadata = Map::new();
    for name in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{name}")) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    metadata.insert("generateName".to_owned(), generate_name(owner.object.name()).into());
    metadata.insert("ownerReferences".to_owned(), json!([owner.reference()]));
    let spec = template.get("spec").cloned().unwrap_or_default();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Returns the request that creates a pod in the namespace of its owner.
pub(crate) fn create_pod(owner: &Owner<'_>, pod: &Value) -> Request {
    Request::create(&PODS, owner.object.namespace(), pod)
}

/// Returns the beginning of the names of an owner's pods (CP-41).
pub(crate) fn generate_name(owner: &str) -> String {
    let dash = if owner.len() > MAX_NAME { "" } else { "-" };
    [owner, dash].concat()
}
