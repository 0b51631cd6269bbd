//! Strategic merge patches: merge patches that know the items of some lists by a key, and have
//! directives (RE-80, LC-02).

use billhook_apimachinery::value::{DeepValue, deep_clone, grow};
use serde_json::{Map, Value};

const DIRECTIVE: &str = "$patch";
const RETAINED: &str = "$retainKeys";
const REMOVED: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Lists of metadata, which are merged in all kinds.
const METADATA_KEYS: [(&str, &str); 1] = [("metadata.ownerReferences", "uid")];
const MERGED_TEXTS: &str = "metadata.finalizers";

/// The merge of a patch into an object.
pub(super) struct StrategicPatch<'s> {
    /// The lists that are merged, by their paths, with the names of the keys of their items.
    pub(super) merge_keys: &'s [(&'s str, &'s str)],
}

impl StrategicPatch<'_> {
    /// Merges a patch into an object.
    ///
    /// # Errors
    ///
    /// If an item of a list has no key.
    pub(super) fn apply(
        &self,
        target: &mut Value,
        patch: &Map<String, Value>,
    ) -> Result<(), String> {
        self.object(target, patch, "")
    }

    fn object(
        &self,
        target: &mut Value,
        patch: &Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let directive = patch.get(DIRECTIVE).and_then(Value::as_str);
        if !target.is_object() || matches!(directive, Some("replace" | "delete")) {
            drop(DeepValue::from(std::mem::replace(target, Value::Object(Map::new()))));
        }
        let Value::Object(members) = target else { return Ok(()) };
        if directive == Some("delete") {
            return Ok(());
        }
        if let Some(Value::Array(retained)) = patch.get(RETAINED) {
            members.retain(|name, _| retained.iter().any(|kept| kept == name));
        }
        for (name, value) in patch {
            if let Some(name) = name.strip_prefix(REMOVED) {
                remove_items(members.get_mut(name), value);
            } else if !name.starts_with('$') {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                grow(|| self.member(members, name, value, &path))?;
            }
        }
        for (name, order) in patch {
            if let Some(name) = name.strip_prefix(ORDER) {
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                sort(members.get_mut(name), order, self.merge_key(&path));
            }
        }
        Ok(())
    }

    fn member(
        &self,
        members: &mut Map<String, Value>,
        name: &str,
        value: &Value,
        path: &str,
    ) -> Result<(), String> {
        let member = || Value::Null;
        match (value, self.merge_key(path)) {
            (Value::Null, _) => {
                members.remove(name).map(DeepValue::from);
                Ok(())
            }
            (Value::Object(patch), _) => {
                self.object(members.entry(name).or_insert_with(member), patch, path)
            }
            (Value::Array(items), Some(key)) => {
                self.list(members.entry(name).or_insert_with(member), items, key, path)
            }
            (Value::Array(items), None) if path == MERGED_TEXTS => {
                add_items(members.entry(name).or_insert_with(member), items);
                Ok(())
            }
            (other, _) => {
                members.insert(name.to_owned(), deep_clone(other)).map(DeepValue::from);
                Ok(())
            }
        }
    }

    /// Merges the items of a list that have the same key; others are added.
    fn list(
        &self,
        target: &mut Value,
        patch: &[Value],
        key: &str,
        path: &str,
    ) -> Result<(), String> {
        let is_directive = |item: &Value, wanted: &str| {
            item.get(DIRECTIVE).and_then(Value::as_str) == Some(wanted)
        };
        let replaces = patch.iter().any(|item| is_directive(item, "replace"));
        if !target.is_array() || replaces {
            drop(DeepValue::from(std::mem::replace(target, Value::Array(Vec::new()))));
        }
        let Value::Array(items) = target else { return Ok(()) };
        for item in patch.iter().filter(|item| !is_directive(item, "replace")) {
            let (Value::Object(members), Some(value)) = (item, item.get(key)) else {
                return Err(format!(
                    "an item of {path} in the patch does not have the merge key {key}"
                ));
            };
            let place = items.iter().position(|found| found.get(key) == Some(value));
            if is_directive(item, "delete") {
                if let Some(place) = place {
                    drop(DeepValue::from(items.remove(place)));
                }
                continue;
            }
            let place = place.unwrap_or_else(|| {
                items.push(Value::Null);
                items.len() - 1
            });
            if let Some(found) = items.get_mut(place) {
                grow(|| self.object(found, members, path))?;
            }
        }
        Ok(())
    }

    fn merge_key(&self, path: &str) -> Option<&str> {
        let mut keys = METADATA_KEYS.iter().chain(self.merge_keys);
        keys.find(|(merged, _)| *merged == path).map(|(_, key)| *key)
    }
}

fn add_items(target: &mut Value, added: &[Value]) {
    if !target.is_array() {
        drop(DeepValue::from(std::mem::replace(target, Value::Array(Vec::new()))));
    }
    let Value::Array(items) = target else { return };
    for item in added {
        if !items.contains(item) {
            items.push(deep_clone(item));
        }
    }
}

fn remove_items(target: Option<&mut Value>, removed: &Value) {
    if let (Some(Value::Array(items)), Value::Array(removed)) = (target, removed) {
        items.retain(|item| !removed.contains(item));
    }
}

/// Puts the items that the order names into the places that they have together, in its order.
fn sort(target: Option<&mut Value>, order: &Value, key: Option<&str>) {
    let (Some(Value::Array(items)), Value::Array(order)) = (target, order) else { return };
    let rank = |item: &Value| match key {
        Some(key) => order.iter().position(|named| named.get(key) == item.get(key)),
        None => order.iter().position(|named| named == item),
    };
    let ranks: Vec<Option<usize>> = items.iter().map(rank).collect();
    let mut ranked: Vec<(usize, Value)> = items
        .iter_mut()
        .zip(&ranks)
        .filter_map(|(item, rank)| Some(((*rank)?, item.take())))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let places = items.iter_mut().zip(&ranks).filter(|(_, rank)| rank.is_some());
    for ((place, _), (_, item)) in places.zip(ranked) {
        *place = item;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_are_merged() {
        let object = json!({"m": {"a": 1, "b": 2}, "l": [{"name": "x", "v": 1}, {"name": "y"}],
            "plain": [1, 2], "metadata": {"finalizers": ["f"]}});
        for (patch, path, expected) in [
            (json!({"m": {"a": null, "c": 3}}), "/m", json!({"b": 2, "c": 3})),
            (json!({"m": {"$patch": "replace", "c": 3}}), "/m", json!({"c": 3})),
            (json!({"m": {"$patch": "delete"}}), "/m", json!({})),
            (json!({"m": {"$retainKeys": ["b"]}}), "/m", json!({"b": 2})),
            (json!({"plain": [3]}), "/plain", json!([3])),
            (json!({"$deleteFromPrimitiveList/plain": [1]}), "/plain", json!([2])),
            (
                json!({"metadata": {"finalizers": ["g", "f"]}}),
                "/metadata/finalizers",
                json!(["f", "g"]),
            ),
            (
                json!({"l": [{"name": "x", "w": 2}, {"name": "z"}]}),
                "/l",
                json!([{"name": "x", "v": 1, "w": 2}, {"name": "y"}, {"name": "z"}]),
            ),
            (json!({"l": [{"name": "x", "$patch": "delete"}]}), "/l", json!([{"name": "y"}])),
            (json!({"l": [{"$patch": "replace"}, {"name": "q"}]}), "/l", json!([{"name": "q"}])),
            (
                json!({"l": [{"name": "z"}],
                    "$setElementOrder/l": [{"name": "z"}, {"name": "x"}]}),
                "/l",
                json!([{"name": "z"}, {"name": "y"}, {"name": "x", "v": 1}]),
            ),
        ] {
            let mut patched = object.clone();
            let members = patch.as_object().unwrap();
            StrategicPatch { merge_keys: &[("l", "name")] }.apply(&mut patched, members).unwrap();
            assert_eq!(patched.pointer(path), Some(&expected), "{patch}");
        }
    }

    #[test]
    fn items_need_their_key() {
        let patch = json!({"l": [{"v": 1}]});
        let patch = patch.as_object().unwrap();
        let error = StrategicPatch { merge_keys: &[("l", "name")] }.apply(&mut json!({}), patch);
        let expected = "an item of l in the patch does not have the merge key name";
        assert_eq!(error.unwrap_err(), expected);
    }
}
