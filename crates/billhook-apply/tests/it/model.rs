//! Merge against a model that is slow and plain: values by path, without the order of lists, and
//! the order of lists by itself.

use std::collections::BTreeMap;

use billhook_apply::Duplicates;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{live, object, schema};

/// The leaves of an object of the shared schema by their paths. Containers that are owned field by
/// field are leaves only if they are empty.
fn leaves(value: &Value, path: String, found: &mut BTreeMap<String, Value>) {
    let is_whole = ["/spec/t", "/spec/o"].contains(&path.as_str());
    let is_list_of_unknown = path.starts_with("/spec/u") && value.is_array();
    match value {
        Value::Object(members) if !members.is_empty() && !is_whole => {
            for (name, member) in members {
                leaves(member, format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) if !items.is_empty() && !is_whole && !is_list_of_unknown => {
            for item in items {
                let name = item.get("name").unwrap_or(item);
                leaves(item, format!("{path}[{name}]"), found);
            }
        }
        leaf => {
            found.insert(path, leaf.clone());
        }
    }
}

/// Whether a leaf stands for nothing but its place.
fn is_empty(value: &Value) -> bool {
    [json!({}), json!([]), json!(null)].contains(value)
}

/// The leaves of a live object after an apply: those of the configuration replace those at, above and below the
/// same place, but an empty one replaces no content that is owned field by field.
fn merged_leaves(object: &Value, config: &Value) -> BTreeMap<String, Value> {
    let (mut merged, mut applied) = (BTreeMap::new(), BTreeMap::new());
    leaves(object, String::new(), &mut merged);
    leaves(config, String::new(), &mut applied);
    for (path, leaf) in applied {
        let is_below = |other: &str| {
            other.strip_prefix(&path).is_some_and(|rest| rest.starts_with(['/', '[']))
        };
        let has_content = merged.keys().any(|other| is_below(other));
        if is_empty(&leaf)
            && has_content
            && (leaf.is_null() || !leaf.is_array() || !path.contains("/u"))
        {
            continue;
        }
        let is_above =
            |other: &str| path.strip_prefix(other).is_some_and(|rest| rest.starts_with(['/', '[']));
        merged.retain(|other, _| !is_below(other) && !is_above(other));
        merged.insert(path, leaf);
    }
    merged
}

proptest! {
    #[test]
    fn merge_is_as_in_the_model(object in object(), config in object()) {
        let schema = schema();
        let typed = schema.check(&config, Duplicates::Refused).unwrap();
        let merged = live(&schema, &object).merge(typed);
        let mut found = BTreeMap::new();
        leaves(&merged, String::new(), &mut found);
        prop_assert_eq!(found, merged_leaves(&object, &config));
    }

    #[test]
    fn lists_keep_both_orders(object in object(), config in object()) {
        let schema = schema();
        let typed = schema.check(&config, Duplicates::Refused).unwrap();
        let merged = live(&schema, &object).merge(typed);
        let names = |value: &Value| -> Vec<String> {
            let items = value.pointer("/spec/s").and_then(Value::as_array);
            items.into_iter().flatten().map(ToString::to_string).collect()
        };
        let (before, applied, after) = (names(&object), names(&config), names(&merged));
        let only = |own: &[String], keep: &dyn Fn(&String) -> bool| -> Vec<String> {
            own.iter().filter(|name| keep(name)).cloned().collect()
        };
        // The configuration's elements in its order, the others in the live order.
        prop_assert_eq!(only(&after, &|name| applied.contains(name)), applied.clone());
        let is_other = |name: &String| !applied.contains(name);
        prop_assert_eq!(only(&after, &is_other), only(&before, &is_other));
    }
}
