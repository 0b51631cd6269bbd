//! Pods: priorities, tolerations, labels and runtime classes (BK-563, BK-564, BK-566).

use billhook::webhook::Operation;
use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_decode::ObjectView;
use serde_json::{Map, Value, json};

use super::classes::default_priorities;
use super::forbidden;
use crate::shared::Shared;
use crate::storage::Collection;

const DEFAULT_POLICY: &str = "PreemptLowerPriority";

/// The taints that pods tolerate for five minutes unless they say otherwise.
const TOLERATED: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// The labels that pods have from their nodes.
const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Sets the priority of a pod by its class.
pub(super) fn set_priority(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    if attributes.operation == Operation::Update {
        keep_priority(request);
        return Ok(());
    }
    let spec = request.object().and_then(|pod| pod.get("spec")).unwrap_or(&Value::Null);
    let class = match text(spec, "priorityClassName") {
        "" => default_class(server),
        name => {
            let Some(class) = server.read_object("scheduling.k8s.io", "priorityclasses", name)
            else {
                let why = format!("no PriorityClass with name {name} was found");
                return Err(forbidden(attributes, &why));
            };
            Some(class)
        }
    };
    let class = class.as_deref().unwrap_or(&Value::Null);
    let priority = class.get("value").and_then(Value::as_i64).unwrap_or_default();
    let policy = match text(class, "preemptionPolicy") {
        "" => DEFAULT_POLICY,
        policy => policy,
    };
    if let Some(given) = spec.get("priority").and_then(Value::as_i64).filter(|it| *it != priority) {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority \
             admission controller computed {priority} from the given PriorityClass name"
        );
        return Err(forbidden(attributes, &why));
    }
    let given = text(spec, "preemptionPolicy");
    if !given.is_empty() && given != policy {
        let why = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; \
             priority admission controller computed {policy} from the given PriorityClass name"
        );
        return Err(forbidden(attributes, &why));
    }
    let (name, policy) = (class.pointer("/metadata/name").cloned(), policy.to_owned());
    if let Some(spec) = spec_of(request) {
        spec.insert("priority".to_owned(), priority.into());
        spec.insert("preemptionPolicy".to_owned(), policy.into());
        name.map(|name| spec.insert("priorityClassName".to_owned(), name));
    }
    Ok(())
}

/// An update that says nothing of the priority leaves it as it is.
fn keep_priority(request: &mut PluginRequest<'_>) {
    let old = request.attributes().old_object.as_deref().and_then(|old| old.get("spec"));
    let kept = ["priority", "preemptionPolicy"]
        .map(|name| (name, old.and_then(|old| old.get(name)).cloned()));
    let Some(spec) = spec_of(request) else { return };
    for (name, value) in kept {
        if let Some(value) = value {
            spec.entry(name).or_insert(value);
        }
    }
}

/// The class of pods that name none: of several the one with the lowest value.
fn default_class(server: &Shared) -> Option<billhook::DeepValue> {
    let defaults = default_priorities(server).into_iter();
    defaults.min_by_key(|class| class.get("value").and_then(Value::as_i64))
}

/// The spec of the pod of a request.
pub(super) fn spec_of<'r>(
    request: &'r mut PluginRequest<'_>,
) -> Option<&'r mut Map<String, Value>> {
    request.object_mut()?.get_mut("spec")?.as_object_mut()
}

/// Pods stay for five minutes on nodes that are not ready or cannot be reached.
pub(super) fn add_tolerations(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let tolerations = request.object().and_then(|pod| pod.pointer("/spec/tolerations"));
    let tolerations = tolerations.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let tolerates = |taint: &str, toleration: &Value| {
        matches!(text(toleration, "effect"), "" | "NoExecute")
            && matches!(text(toleration, "key"), key if key.is_empty() || key == taint)
    };
    let missing = TOLERATED
        .into_iter()
        .filter(|taint| !tolerations.iter().any(|toleration| tolerates(taint, toleration)));
    let missing: Vec<Value> = missing
        .map(|taint| {
            json!({"key": taint, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 300})
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if let Some(spec) = spec_of(request)
        && let Value::Array(tolerations) = spec.entry("tolerations").or_insert_with(|| json!([]))
    {
        tolerations.extend(missing);
    }
    Ok(())
}

/// A pod that is created on a node, or bound to one, has the labels that say where the node is.
pub(super) fn add_topology_labels(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let node = ["/spec/nodeName", "/target/name"]
        .into_iter()
        .find_map(|path| request.object()?.pointer(path)?.as_str().filter(|name| !name.is_empty()));
    let node = node.filter(|_| server.settings.edition.labels_pods_by_topology);
    let node = node.and_then(|name| server.storage.get(&Collection::new("", "nodes"), name));
    let Some(node) = node else { return Ok(()) };
    let labels = ObjectView::of_checked(&node.text).at(["metadata", "labels"]);
    let metadata = request.object_mut().and_then(Value::as_object_mut);
    let metadata = metadata.map(|object| object.entry("metadata").or_insert_with(|| json!({})));
    let Some(Value::Object(metadata)) = metadata else { return Ok(()) };
    for name in TOPOLOGY {
        if let Some(value) = labels.and_then(|labels| labels.get(name))
            && let Value::Object(own) = metadata.entry("labels").or_insert_with(|| json!({}))
        {
            own.insert(name.to_owned(), value.to_value().into_inner());
        }
    }
    Ok(())
}

/// Sets the overhead and the nodes of a pod to those of its runtime class.
pub(super) fn apply_runtime_class(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let Some(class) = runtime_class(server, request)? else { return Ok(()) };
    let attributes = request.attributes().clone();
    let Some(spec) = spec_of(request) else { return Ok(()) };
    if let Some(overhead) = class.pointer("/overhead/podFixed") {
        if spec.get("overhead").is_some_and(|given| given != overhead) {
            let why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
            return Err(forbidden(&attributes, why));
        }
        spec.insert("overhead".to_owned(), overhead.clone());
    }
    if let Some(Value::Object(selector)) = class.pointer("/scheduling/nodeSelector")
        && let Value::Object(own) = spec.entry("nodeSelector").or_insert_with(|| json!({}))
    {
        for (label, value) in selector {
            if let Some(given) = own.get(label).filter(|given| *given != value) {
                let [value, given] = [value, given].map(|it| it.as_str().unwrap_or_default());
                let why = format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{label}] = {value}; \
                     pod.spec.nodeSelector[{label}] = {given}"
                );
                return Err(forbidden(&attributes, &why));
            }
            own.insert(label.clone(), value.clone());
        }
    }
    if let Some(Value::Array(tolerations)) = class.pointer("/scheduling/tolerations")
        && let Value::Array(own) = spec.entry("tolerations").or_insert_with(|| json!([]))
    {
        let new = tolerations.iter().filter(|toleration| !own.contains(toleration));
        let new: Vec<Value> = new.cloned().collect();
        own.extend(new);
    }
    Ok(())
}

/// Refuses overheads that no runtime class defines.
pub(super) fn check_runtime_class(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let class = runtime_class(server, request)?;
    let defined = class.as_deref().and_then(|class| class.pointer("/overhead/podFixed"));
    let given = request.object().and_then(|pod| pod.pointer("/spec/overhead"));
    if given.is_some() && defined.is_none() {
        let why =
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(forbidden(request.attributes(), why));
    }
    Ok(())
}

/// The class that a pod names.
fn runtime_class(
    server: &Shared,
    request: &PluginRequest<'_>,
) -> Result<Option<billhook::DeepValue>, Status> {
    let spec = request.object().and_then(|pod| pod.get("spec")).unwrap_or(&Value::Null);
    let name = text(spec, "runtimeClassName");
    if name.is_empty() {
        return Ok(None);
    }
    let found = server.read_object("node.k8s.io", "runtimeclasses", name);
    let why = || format!("pod rejected: RuntimeClass \"{name}\" not found");
    found.map(Some).ok_or_else(|| forbidden(request.attributes(), &why()))
}
