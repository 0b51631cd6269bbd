//! Documents that tell of everything a server has, reduced to what a scenario is about, and lists
//! whose order means nothing.

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::grow;
use serde_json::{Map, Value};

/// Reduces a document to the groups of a scenario, by its shape.
pub(super) fn reduce(document: &mut Value, groups: &[String]) {
    let is_of_scenario = |name: Option<&Value>| {
        name.and_then(Value::as_str).is_some_and(|name| groups.iter().any(|group| group == name))
    };
    match document.get("kind").and_then(Value::as_str).unwrap_or_default() {
        "APIResourceList" => sort(document.get_mut("resources"), "name"),
        "APIGroupList" => {
            retain(document.get_mut("groups"), |group| is_of_scenario(group.get("name")))
        }
        "APIGroupDiscoveryList" => {
            let items = document.get_mut("items");
            retain(items, |group| is_of_scenario(group.pointer("/metadata/name")));
            let items = document.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                let versions = item.get_mut("versions").and_then(Value::as_array_mut);
                for version in versions.into_iter().flatten() {
                    sort(version.get_mut("resources"), "resource");
                }
            }
        }
        "SelfSubjectRulesReview" => {
            for rules in ["/status/resourceRules", "/status/nonResourceRules"] {
                if let Some(Value::Array(rules)) = document.pointer_mut(rules) {
                    rules.sort_by_cached_key(plain_json);
                }
            }
        }
        _ => {}
    }
    if let Value::Object(members) = document {
        reduce_open_api(members, groups);
    }
    sort_managed_fields(document);
}

fn reduce_open_api(document: &mut Map<String, Value>, groups: &[String]) {
    let is_index = document.len() == 1;
    let is_v2 = document.contains_key("swagger");
    if is_v2 {
        for name in ["info", "parameters", "securityDefinitions", "security"] {
            document.remove(name);
        }
        let prefixes: Vec<String> = groups.iter().map(|group| reversed(group)).collect();
        retain_members(document.get_mut("definitions"), |name| {
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        });
    }
    if document.contains_key("openapi") {
        document.remove("info");
    }
    if is_index || is_v2 {
        let slash = if is_v2 { "/" } else { "" };
        retain_members(document.get_mut("paths"), |name| {
            groups.iter().any(|group| {
                let rest = name.strip_prefix(&format!("{slash}apis/{group}"));
                rest.is_some_and(|rest| rest.starts_with('/') || (rest.is_empty() && !is_v2))
            })
        });
    }
}

/// The labels of a group in the order of definitions' names, with a dot at the end.
fn reversed(group: &str) -> String {
    let labels: Vec<&str> = group.rsplit('.').collect();
    labels.join(".") + "."
}

fn retain(list: Option<&mut Value>, keep: impl Fn(&Value) -> bool) {
    if let Some(Value::Array(items)) = list {
        items.retain(|item| keep(item));
    }
}

fn retain_members(object: Option<&mut Value>, keep: impl Fn(&str) -> bool) {
    if let Some(Value::Object(members)) = object {
        members.retain(|name, _| keep(name));
    }
}

fn sort(list: Option<&mut Value>, by: &str) {
    if let Some(Value::Array(items)) = list {
        items.sort_by_key(|item| item.get(by).map(plain_json));
    }
}

/// The order of managed fields depends on the clock.
fn sort_managed_fields(value: &mut Value) {
    match value {
        Value::Array(items) => grow(|| items.iter_mut().for_each(sort_managed_fields)),
        Value::Object(members) => {
            if let Some(Value::Object(metadata)) = members.get_mut("metadata")
                && let Some(Value::Array(entries)) = metadata.get_mut("managedFields")
            {
                let names = ["manager", "operation", "subresource", "apiVersion"];
                entries.sort_by_key(|entry| names.map(|name| entry.get(name).map(plain_json)));
            }
            grow(|| members.values_mut().for_each(sort_managed_fields));
        }
        _ => {}
    }
}
