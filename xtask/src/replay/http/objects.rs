//! The objects of a cluster as recordings of its controllers compare them: without what differs from
//! run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::grow;
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::replay::pointer::text;

/// The managers of fields that are no part of the control plane: the player and the simulation.
const OTHERS: [&str; 2] = ["billhook-conformance", "sim"];
/// The conditions of pods that are not compared; the recorded nodes did not write the last one.
const LEFT_OUT: [&str; 4] =
    ["ContainersReady", "Initialized", "PodScheduled", "PodReadyToStartContainers"];
/// The members of metadata that are not compared.
const OF_THE_RUN: [&str; 4] = ["uid", "resourceVersion", "creationTimestamp", "generation"];
/// The length of the part of a generated name that is random.
const RANDOM: usize = 5;

/// The parts of all texts that are replaced, in this order.
static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let patterns = [
        ("(?s)-----BEGIN .*-----END [A-Z ]+-----\n?", "<pem>"),
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", "<time>"),
        (r"\b10\.(?:0\.0|244\.\d+)\.\d+\b", "<ip>"),
        (r"-29\d{6}\b", "-<id>"),
    ];
    let compiled = patterns.into_iter().map(|(pattern, name)| (Regex::new(pattern).ok(), name));
    compiled.filter_map(|(pattern, name)| Some((pattern?, name))).collect()
});

/// The parts of the messages of events and conditions that are replaced before that.
static MESSAGES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let patterns = [
        (r#"((?:Created|Deleted) pod: |pods ")(\S*-)[a-z0-9]{5}\b"#, "$1$2<suffix>"),
        (r"-[bcdf456789]{7,10}\b", "-<hash>"),
    ];
    let compiled = patterns.into_iter().map(|(pattern, name)| (Regex::new(pattern).ok(), name));
    compiled.filter_map(|(pattern, name)| Some((pattern?, name))).collect()
});

/// Takes from what was found at paths what differs from run to run, and sorts it. Names and hashes of
/// the objects at one path may be in those at another.
pub(super) fn normalize(found: Vec<(&str, Value)>) -> Vec<Value> {
    let found: Vec<(&str, Vec<Value>)> =
        found.into_iter().map(|(path, found)| (path, items(found))).collect();
    let all = || found.iter().flat_map(|(_, items)| items);
    let random: Random = [generated_names(all()), hashes(all())];
    found.into_iter().map(|(path, items)| normalize_items(path, items, &random)).collect()
}

fn items(found: Value) -> Vec<Value> {
    match found {
        Value::Object(mut list) if list.contains_key("items") => match list.remove("items") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        Value::Null => Vec::new(),
        object => vec![object],
    }
}

fn normalize_items(path: &str, mut items: Vec<Value>, random: &Random) -> Value {
    let path = path.split('?').next().unwrap_or_default();
    let plural = path.rsplit('/').next().unwrap_or_default();
    if plural == "events" {
        return events(&items, random);
    }
    items.retain(|item| {
        plural != "configmaps" || text(item, "/metadata/name") != "kube-root-ca.crt"
    });
    for item in &mut items {
        without_run(item, path.contains("/pods"));
        let taken = std::mem::take(item);
        *item = rename(taken, "", random);
        sort_endpoints(item);
    }
    items.sort_by_cached_key(|item| (text(item, "/metadata/name").to_owned(), plain_json(item)));
    Value::Array(items)
}

/// Texts that are random, and what stands for them: names, which may have hashes in them, before hashes.
type Random = [BTreeMap<String, String>; 2];

/// The names that servers have generated.
fn generated_names<'i>(items: impl Iterator<Item = &'i Value>) -> BTreeMap<String, String> {
    let of_item = |item: &Value| {
        let (base, name) = (text(item, "/metadata/generateName"), text(item, "/metadata/name"));
        let is_generated = !base.is_empty()
            && name.strip_prefix(base).is_some_and(|suffix| suffix.len() == RANDOM);
        is_generated.then(|| (name.to_owned(), format!("{base}<suffix>")))
    };
    items.filter_map(of_item).collect()
}

/// The hashes of templates.
fn hashes<'i>(items: impl Iterator<Item = &'i Value>) -> BTreeMap<String, String> {
    let places = [
        "/metadata/labels/pod-template-hash",
        "/metadata/labels/controller-revision-hash",
        "/metadata/labels/controller.kubernetes.io~1hash",
        "/status/currentRevision",
        "/status/updateRevision",
    ];
    let values = items.flat_map(|item| places.iter().map(|place| text(item, place)));
    let hashes = values.filter_map(|value| value.rsplit('-').next());
    let named = hashes.filter(|hash| !hash.is_empty());
    named.map(|hash| (hash.to_owned(), "<hash>".to_owned())).collect()
}

/// Leaves out what is not compared.
fn without_run(item: &mut Value, is_pod: bool) {
    let generation = item.pointer("/metadata/generation").cloned();
    if let Some(Value::Object(metadata)) = item.get_mut("metadata") {
        OF_THE_RUN.iter().for_each(|name| drop(metadata.remove(*name)));
        let managers = managers(metadata.remove("managedFields"));
        if !managers.is_empty() {
            metadata.insert("managers".to_owned(), json!(managers));
        }
        if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
            let owners = owners.iter_mut().filter_map(Value::as_object_mut);
            owners.for_each(|owner| drop(owner.remove("uid")));
        }
    }
    let Some(Value::Object(status)) = item.get_mut("status") else { return };
    if is_pod {
        *status = pod_status(status);
        return;
    }
    if generation.is_some() && status.get("observedGeneration") == generation.as_ref() {
        status.insert("observedGeneration".to_owned(), "<generation>".into());
    }
    if let Some(Value::Array(conditions)) = status.get_mut("conditions") {
        conditions.sort_by_key(|condition| text(condition, "/type").to_owned());
    }
}

/// Who owns fields, by `manager operation[ subresource]`.
fn managers(fields: Option<Value>) -> BTreeSet<String> {
    let Some(Value::Array(entries)) = fields else { return BTreeSet::new() };
    let entries = entries.iter().filter(|entry| !OTHERS.contains(&text(entry, "/manager")));
    let of_entry = |entry: &Value| {
        let parts = ["/manager", "/operation", "/subresource"].map(|part| text(entry, part));
        parts.join(" ").trim_end().to_owned()
    };
    entries.map(of_entry).collect()
}

/// The phase and conditions of a pod.
fn pod_status(status: &Map<String, Value>) -> Map<String, Value> {
    let conditions = status.get("conditions").and_then(Value::as_array).into_iter().flatten();
    let conditions = conditions.filter(|it| !LEFT_OUT.contains(&text(it, "/type")));
    let of_condition = |it: &Value| {
        let (is, reason) = (text(it, "/status"), text(it, "/reason"));
        format!("{}={is} {reason}", text(it, "/type")).trim_end().to_owned()
    };
    let mut conditions: Vec<String> = conditions.map(of_condition).collect();
    conditions.sort_unstable();
    let mut compared = Map::new();
    compared.insert("phase".to_owned(), status.get("phase").cloned().unwrap_or_default());
    compared.insert("conditions".to_owned(), json!(conditions));
    compared
}

/// Replaces what differs from run to run in all texts and keys of a value.
fn rename(value: Value, member: &str, random: &Random) -> Value {
    match value {
        Value::String(_) if member == "resourceVersion" => "<rv>".into(),
        // Nodes that a scenario has made keep their names.
        Value::String(node) if member == "nodeName" && node.starts_with("node-") => "<node>".into(),
        Value::String(value) => in_text(value, member, random).into(),
        Value::Array(items) => {
            grow(|| items.into_iter().map(|item| rename(item, member, random)).collect())
        }
        Value::Object(members) => grow(|| {
            let renamed = members.into_iter().map(|(name, value)| {
                let value = rename(value, &name, random);
                (in_text(name, "", random), value)
            });
            Value::Object(renamed.collect())
        }),
        other => other,
    }
}

fn in_text(mut value: String, member: &str, random: &Random) -> String {
    let replace = |value: String, (pattern, name): &(Regex, &str)| {
        pattern.replace_all(&value, *name).into_owned()
    };
    if matches!(member, "message" | "object") {
        value = MESSAGES.iter().fold(value, replace);
    }
    value =
        random.iter().flatten().fold(value, |value, (from, to)| value.replace(from.as_str(), to));
    PATTERNS.iter().fold(value, replace)
}

/// Sorts the endpoints of slices and the addresses of Endpoints.
fn sort_endpoints(item: &mut Value) {
    let sort = |list: Option<&mut Value>| {
        if let Some(Value::Array(list)) = list {
            list.sort_by_cached_key(plain_json);
        }
    };
    sort(item.get_mut("endpoints"));
    for subset in item.get_mut("subsets").and_then(Value::as_array_mut).into_iter().flatten() {
        sort(subset.get_mut("addresses"));
        sort(subset.get_mut("notReadyAddresses"));
    }
}

/// The components whose events are those of the simulation.
const SIMULATION: [&str; 2] = ["default-scheduler", "kubelet"];

/// The set of what events say.
fn events(items: &[Value], random: &Random) -> Value {
    let is_compared = |event: &&Value| !SIMULATION.contains(&text(event, "/source/component"));
    let said = items.iter().filter(is_compared).map(|event| {
        let object =
            [text(event, "/involvedObject/kind"), text(event, "/involvedObject/name")].join("/");
        let said = json!({
            "reason": event.get("reason"), "type": event.get("type"),
            "message": event.get("message"), "source": event.pointer("/source/component"),
            "object": object,
        });
        let said = rename(said, "", random);
        (plain_json(&said), said)
    });
    let said: BTreeMap<String, Value> = said.collect();
    Value::Array(said.into_values().collect())
}
