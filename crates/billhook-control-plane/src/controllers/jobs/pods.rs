//! The pods that Jobs create, and which of them go first (CP-61).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::indexes::Index;
use super::retries::Failures;
use super::spec::{INDEX, TRACKING, index_of, is_indexed};
use crate::document::set;
use crate::object::Object;
use crate::ownership::Owner;
use crate::pods::{deletion_rank, pod_of, ready_since};
use crate::request::Request;
use crate::resource::PODS;

/// The longest beginning of a name to which a server adds a suffix.
const MAX_PREFIX: usize = 58;

/// Returns a pod of a Job.
pub(super) fn new_pod(owner: &Owner<'_>) -> Value {
    let mut pod = pod_of(owner, owner.object.get("/spec/template"));
    if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
        let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
        if let Some(finalizers) = finalizers.as_array_mut() {
            finalizers.push(TRACKING.into());
        }
    }
    pod
}

/// Returns the pod of an index.
pub(super) fn new_indexed_pod(owner: &Owner<'_>, index: Index) -> Value {
    let (mut pod, job) = (new_pod(owner), owner.object.name());
    let suffix = format!("-{index}-");
    let room = job.len().min(MAX_PREFIX.saturating_sub(suffix.len()));
    let prefix = [job.get(..room).unwrap_or(job), &suffix].concat();
    set(&mut pod, &["metadata", "generateName"], prefix.into());
    set(&mut pod, &["metadata", "annotations", INDEX], index.to_string().into());
    set(&mut pod, &["metadata", "labels", INDEX], index.to_string().into());
    set(&mut pod, &["spec", "hostname"], format!("{job}-{index}").into());
    let spec = pod.get_mut("spec").and_then(Value::as_object_mut).into_iter().flatten();
    let lists = spec.filter(|(name, _)| ["containers", "initContainers"].contains(&name.as_str()));
    for container in lists.filter_map(|(_, list)| list.as_array_mut()).flatten() {
        add_variable(container);
    }
    pod
}

/// Adds the variable that tells a container its index, unless it has one of that name.
fn add_variable(container: &mut Value) {
    const NAME: &str = "JOB_COMPLETION_INDEX";
    let Some(container) = container.as_object_mut() else { return };
    let variables = container.entry("env").or_insert_with(|| json!([]));
    let Some(variables) = variables.as_array_mut() else { return };
    if variables.iter().all(|variable| variable.get("name").is_none_or(|name| name != NAME)) {
        let path = format!("metadata.labels['{INDEX}']");
        variables.push(json!({"name": NAME, "valueFrom": {"fieldRef": {"fieldPath": path}}}));
    }
}

/// Annotates a pod with the failures of its index before it.
pub(super) fn annotate(pod: &mut Value, failures: Failures) {
    let counts = [(Failures::COUNTED, failures.counted), (Failures::IGNORED, failures.ignored)];
    let annotated =
        counts.into_iter().filter(|(name, count)| *name == Failures::COUNTED || *count > 0);
    for (name, count) in annotated {
        set(pod, &["metadata", "annotations", name], count.to_string().into());
    }
}

/// Returns the request that takes the finalizer of a pod that is counted, or need not be.
pub(super) fn release(pod: &Object) -> Request {
    let metadata = json!({"uid": pod.uid(), "$deleteFromPrimitiveList/finalizers": [TRACKING]});
    Request::patch(&PODS, pod.key(), &json!({"metadata": metadata}))
}

/// Returns so many active pods as are too many: first those whose index the Job does not have or
/// another pod has as well, then those that have come less far.
pub(super) fn surplus(job: &Object, active: &[Arc<Object>], count: usize) -> Vec<Arc<Object>> {
    let mut pods = active.to_vec();
    pods.sort_by_cached_key(|pod| {
        let since = Reverse(ready_since(pod));
        (deletion_rank(pod), since, Reverse(pod.created()))
    });
    if !is_indexed(job) {
        pods.truncate(count);
        return pods;
    }
    let mut last_of_index = BTreeMap::new();
    for (place, pod) in pods.iter().enumerate() {
        index_of(pod, job).map(|index| last_of_index.insert(index, place));
    }
    let is_needed = |place: usize, pod: &Object| {
        index_of(pod, job).is_some_and(|index| last_of_index.get(&index) == Some(&place))
    };
    let (needed, useless): (Vec<_>, Vec<_>) =
        pods.into_iter().enumerate().partition(|(place, pod)| is_needed(*place, pod));
    let count = count.max(useless.len());
    useless.into_iter().chain(needed).map(|(_, pod)| pod).take(count).collect()
}
