//! Strategic merge patches: merge patches that know the items of some lists by a key, and have
//! directives (RE-80, LC-02).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::{Field, Merge, Record, Type};
use billhook_apimachinery::value::{DeepValue, deep_clone, grow, sorted};
use serde_json::{Map, Value};

const DIRECTIVE: &str = "$patch";
const RETAINED: &str = "$retainKeys";
const REMOVED: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Merges a patch into an object whose fields say which lists are merged by which key.
///
/// # Errors
///
/// If an item of a list has no key.
pub(super) fn merge(
    target: &mut Value,
    patch: &Map<String, Value>,
    record: &'static Record,
) -> Result<(), String> {
    Level(Some(record)).object(target, patch)
}

/// Checks the form of the directives in a patch.
///
/// # Errors
///
/// The server's text about the first directive that is not a list, or that leaves out members beside it.
pub(super) fn check(patch: &Map<String, Value>) -> Result<(), &'static str> {
    for (name, value) in patch {
        let is_list = value.is_array();
        match name.as_str() {
            RETAINED if !is_list || !retains_all(patch, value) => {
                return Err("invalid patch format of retainKeys");
            }
            name if name.starts_with(REMOVED) && !is_list => {
                return Err("invalid patch format of primitive list");
            }
            name if name.starts_with(ORDER) && !is_list => {
                return Err("invalid patch format of setElementOrder list");
            }
            _ => {}
        }
        let inner = match value {
            Value::Array(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        inner.iter().filter_map(Value::as_object).try_for_each(|inner| grow(|| check(inner)))?;
    }
    Ok(())
}

/// Whether the keys that are retained are those of the patch, and more.
fn retains_all(patch: &Map<String, Value>, retained: &Value) -> bool {
    let is_retained =
        |name: &String| retained.as_array().into_iter().flatten().any(|it| it == name.as_str());
    let is_member = |name: &str, value: &Value| !value.is_null() && !name.starts_with('$');
    patch.iter().all(|(name, value)| !is_member(name, value) || is_retained(name))
}

/// An object in the one that is patched, whose fields are known or not.
#[derive(Clone, Copy)]
struct Level(Option<&'static Record>);

impl Level {
    fn object(self, target: &mut Value, patch: &Map<String, Value>) -> Result<(), String> {
        let directive = patch.get(DIRECTIVE).and_then(Value::as_str);
        if let Some(unknown) =
            directive.filter(|directive| !matches!(*directive, "replace" | "delete" | "merge"))
        {
            let patch = go_text(&Value::Object(patch.clone()));
            return Err(format!("unknown patch type: {unknown} in map: {patch}"));
        }
        if !target.is_object() || matches!(directive, Some("replace" | "delete")) {
            drop(DeepValue::from(std::mem::replace(target, Value::Object(Map::new()))));
        }
        let Value::Object(members) = target else { return Ok(()) };
        if directive == Some("delete") {
            return Ok(());
        }
        if let Some(Value::Array(retained)) = patch.get(RETAINED) {
            let retained: BTreeSet<&str> = retained.iter().filter_map(Value::as_str).collect();
            members.retain(|name, _| retained.contains(name.as_str()));
        }
        // Lists keep the order that they had before the patch.
        let ordered: Vec<(&str, Option<&str>, Ranks)> = self
            .lists(patch)
            .map(|(name, key)| (name, key, ranks(members.get(name), key)))
            .collect();
        for (name, value) in patch {
            if let Some(name) = name.strip_prefix(REMOVED) {
                remove_items(members.get_mut(name), value);
            } else if !name.starts_with('$') {
                grow(|| self.member(members, name, value))?;
            }
        }
        for (name, key, before) in ordered {
            check_order(patch, name, key)?;
            let order = patch.get(&format!("{ORDER}{name}")).or_else(|| patch.get(name));
            if let Some(Value::Array(items)) = members.get_mut(name) {
                arrange(items, &ranks(order, key), &before, key);
            }
        }
        Ok(())
    }

    /// The lists in a patch whose items are merged, and the member that the items are known by.
    fn lists(self, patch: &Map<String, Value>) -> impl Iterator<Item = (&str, Option<&str>)> {
        patch.iter().filter_map(move |(name, value)| {
            let list = name.strip_prefix(ORDER);
            let has_order = list.is_none() && patch.contains_key(&format!("{ORDER}{name}"));
            let name = list.unwrap_or(name);
            let key = self.field(name).and_then(|field| field.merge.patch_key);
            (value.is_array() && !has_order && (list.is_some() || key.is_some()))
                .then_some((name, key.filter(|key| !key.is_empty())))
        })
    }

    fn member(
        self,
        members: &mut Map<String, Value>,
        name: &str,
        value: &Value,
    ) -> Result<(), String> {
        let member = || Value::Null;
        let field = self.field(name);
        let merge = field.map_or(Merge::PLAIN, |field| field.merge);
        let inner = Level(field.and_then(|field| record_in(field.type_)));
        match (value, merge.patch_key) {
            (Value::Null, _) => {
                members.remove(name).map(DeepValue::from);
                Ok(())
            }
            (Value::Object(patch), _) if !merge.is_replaced => {
                inner.object(members.entry(name).or_insert_with(member), patch)
            }
            (Value::Array(items), Some("")) => {
                add_items(members.entry(name).or_insert_with(member), items);
                Ok(())
            }
            (Value::Array(items), Some(key)) => {
                inner.list(members.entry(name).or_insert_with(member), items, key)
            }
            (other, _) => {
                members.insert(name.to_owned(), deep_clone(other)).map(DeepValue::from);
                Ok(())
            }
        }
    }

    /// Merges the items of a list that have the same key; others are added.
    fn list(self, target: &mut Value, patch: &[Value], key: &str) -> Result<(), String> {
        let is_directive = |item: &Value, wanted: &str| {
            item.get(DIRECTIVE).and_then(Value::as_str) == Some(wanted)
        };
        let replaces = patch.iter().any(|item| is_directive(item, "replace"));
        if !target.is_array() || replaces {
            drop(DeepValue::from(std::mem::replace(target, Value::Array(Vec::new()))));
        }
        let Value::Array(found) = target else { return Ok(()) };
        let mut items = KeyedItems::new(std::mem::take(found), key);
        let mut merged = Ok(());
        for item in patch.iter().filter(|item| !is_directive(item, "replace")) {
            let (Value::Object(members), Some(value)) = (item, item.get(key)) else {
                let item = go_text(item);
                merged = Err(format!("map: {item} does not contain declared merge key: {key}"));
                break;
            };
            if is_directive(item, "delete") {
                items.delete(value);
                continue;
            }
            merged = grow(|| self.object(items.entry(value), members));
            if merged.is_err() {
                break;
            }
        }
        *found = items.into_items();
        merged
    }

    fn field(self, name: &str) -> Option<&'static Field> {
        self.0.and_then(|record| record.field(name))
    }
}

/// The record of a field's value or of its items.
fn record_in(type_: Type) -> Option<&'static Record> {
    match type_ {
        Type::Record(table) => Some(table()),
        Type::Named(_, type_) | Type::Optional(type_) | Type::List(type_) | Type::Map(type_) => {
            record_in(*type_)
        }
        _ => None,
    }
}

/// A value as Go prints it without syntax: `map[a:1 b:[x y]]`.
pub(super) fn go_text(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(" ");
    grow(|| match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(go_text).collect())),
        Value::Object(members) => {
            let members = sorted(members).into_iter();
            let members = members.map(|(name, value)| format!("{name}:{}", go_text(value)));
            format!("map[{}]", joined(members.collect()))
        }
        other => compact_json(other),
    })
}

/// A value as the items of lists are found by it: equal values, and only these, are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'v> {
    Text(Cow<'v, str>),
    Float(String),
    Other(String),
}

impl<'v> Key<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Key::Text(Cow::Borrowed(text)),
            Value::Number(number) if number.is_f64() => Key::Float(number.to_string()),
            other => Key::Other(compact_json(other)),
        }
    }

    fn into_owned(self) -> Key<'static> {
        match self {
            Key::Text(text) => Key::Text(Cow::Owned(text.into_owned())),
            Key::Float(text) => Key::Float(text),
            Key::Other(text) => Key::Other(text),
        }
    }
}

/// The items of a list, which are found by a member.
struct KeyedItems {
    /// `None` where an item was deleted.
    items: Vec<Option<Value>>,
    /// The places of items, by their keys.
    places: BTreeMap<Key<'static>, VecDeque<usize>>,
    /// Stands in for what cannot be missing.
    spare: Value,
}

impl KeyedItems {
    fn new(items: Vec<Value>, key: &str) -> Self {
        let mut places: BTreeMap<Key<'static>, VecDeque<usize>> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            if let Some(value) = item.get(key) {
                places.entry(Key::of(value).into_owned()).or_default().push_back(place);
            }
        }
        let items = items.into_iter().map(Some).collect();
        KeyedItems { items, places, spare: Value::Null }
    }

    /// Returns the first item of a key, which is added if there is none.
    fn entry(&mut self, value: &Value) -> &mut Value {
        let key = Key::of(value).into_owned();
        let found = self.places.get(&key).and_then(|places| places.front().copied());
        let place = found.unwrap_or_else(|| {
            self.items.push(Some(Value::Null));
            self.items.len() - 1
        });
        if value.is_null() {
            // The merge takes this key away.
            self.remove_place(&key);
        } else if found.is_none() {
            self.places.entry(key).or_default().push_back(place);
        }
        self.items.get_mut(place).and_then(Option::as_mut).unwrap_or(&mut self.spare)
    }

    /// Deletes the first item of a key, if there is one.
    fn delete(&mut self, value: &Value) {
        let key = Key::of(value).into_owned();
        if let Some(item) = self.remove_place(&key).and_then(|place| self.items.get_mut(place)) {
            item.take().map(DeepValue::from);
        }
    }

    fn remove_place(&mut self, key: &Key<'static>) -> Option<usize> {
        self.places.get_mut(key)?.pop_front()
    }

    fn into_items(self) -> Vec<Value> {
        self.items.into_iter().flatten().collect()
    }
}

fn add_items(target: &mut Value, added: &[Value]) {
    if !target.is_array() {
        drop(DeepValue::from(std::mem::replace(target, Value::Array(Vec::new()))));
    }
    let Value::Array(items) = target else { return };
    let mut known: BTreeSet<Key<'static>> =
        items.iter().map(|item| Key::of(item).into_owned()).collect();
    for item in added {
        if known.insert(Key::of(item).into_owned()) {
            items.push(deep_clone(item));
        }
    }
}

fn remove_items(target: Option<&mut Value>, removed: &Value) {
    if let (Some(Value::Array(items)), Value::Array(removed)) = (target, removed) {
        let removed: BTreeSet<Key<'_>> = removed.iter().map(Key::of).collect();
        items.retain_mut(|item| {
            let is_kept = !removed.contains(&Key::of(item));
            if !is_kept {
                drop(DeepValue::from(item.take()));
            }
            is_kept
        });
    }
}

/// The places of items in a list, by their keys.
type Ranks = BTreeMap<Option<Key<'static>>, usize>;

fn named(item: &Value, key: Option<&str>) -> Option<Key<'static>> {
    let value = match key {
        Some(key) => item.get(key),
        None => Some(item),
    };
    value.map(|value| Key::of(value).into_owned())
}

fn ranks(list: Option<&Value>, key: Option<&str>) -> Ranks {
    let mut ranks = Ranks::new();
    let items = list.and_then(Value::as_array).into_iter().flatten();
    for (rank, item) in items.enumerate() {
        ranks.entry(named(item, key)).or_insert(rank);
    }
    ranks
}

/// The items of a patch have the order that it sets, which may name others, too.
fn check_order(patch: &Map<String, Value>, name: &str, key: Option<&str>) -> Result<(), String> {
    let order = patch.get(&format!("{ORDER}{name}"));
    let (Some(order), Some(list)) = (order, patch.get(name)) else { return Ok(()) };
    let mut wanted = order.as_array().into_iter().flatten();
    let items = list.as_array().into_iter().flatten();
    let mut items = items.filter(|item| item.get(DIRECTIVE).is_none());
    if items.all(|item| wanted.any(|other| named(other, key) == named(item, key))) {
        return Ok(());
    }
    let (list, order) = (go_text(list), go_text(order));
    Err(format!(
        "The order in patch list:\n{list}\n doesn't match $setElementOrder list:\n{order}\n"
    ))
}

/// Puts the items of a patch into its order. An item that the patch does not name comes before the
/// first of them that it was before already, and else after all of them.
fn arrange(items: &mut Vec<Value>, order: &Ranks, before: &Ranks, key: Option<&str>) {
    let mut patched = Vec::new();
    let mut others = VecDeque::new();
    for item in std::mem::take(items) {
        let name = named(&item, key);
        let place = before.get(&name).copied();
        match order.get(&name) {
            Some(rank) => patched.push((*rank, place, item)),
            None => others.push_back((place, item)),
        }
    }
    patched.sort_by_key(|(rank, ..)| *rank);
    for (_, place, item) in patched {
        let is_before = |other: &(Option<usize>, Value)| matches!((other.0, place), (Some(other), Some(place)) if other < place);
        while others.front().is_some_and(is_before) {
            items.extend(others.pop_front().map(|(_, other)| other));
        }
        items.push(item);
    }
    items.extend(others.into_iter().map(|(_, item)| item));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use billhook_apimachinery::metadata::ObjectMeta;
    use billhook_apimachinery::record::TypedRecord as _;

    use super::*;

    static ITEM: Record = Record::new("Item", &[]);
    static OBJECT: Record = Record::new(
        "Object",
        &[
            Field::new("metadata", Type::Record(ObjectMeta::record)),
            Field::new("l", Type::List(&Type::Record(|| &ITEM))).patched_by("name"),
        ],
    );

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
                json!(["g", "f"]),
            ),
            (
                json!({"l": [{"name": "x", "w": 2}, {"name": "z"}]}),
                "/l",
                json!([{"name": "x", "v": 1, "w": 2}, {"name": "z"}, {"name": "y"}]),
            ),
            (json!({"l": [{"name": "x", "$patch": "delete"}]}), "/l", json!([{"name": "y"}])),
            (json!({"l": [{"$patch": "replace"}, {"name": "q"}]}), "/l", json!([{"name": "q"}])),
            (
                json!({"l": [{"name": "z"}],
                    "$setElementOrder/l": [{"name": "z"}, {"name": "x"}]}),
                "/l",
                json!([{"name": "z"}, {"name": "x", "v": 1}, {"name": "y"}]),
            ),
        ] {
            let mut patched = object.clone();
            let members = patch.as_object().unwrap();
            merge(&mut patched, members, &OBJECT).unwrap();
            assert_eq!(patched.pointer(path), Some(&expected), "{patch}");
        }
    }

    /// BK-07.
    #[test]
    fn patches_may_be_wrong() {
        for (patch, expected) in [
            (json!({"l": [{"v": 1}]}), "map: map[v:1] does not contain declared merge key: name"),
            (
                json!({"l": [{"name": "c", "$patch": "odd"}]}),
                "unknown patch type: odd in map: map[$patch:odd name:c]",
            ),
            (
                json!({"l": [{"name": "a"}], "$setElementOrder/l": [{"name": "c"}]}),
                "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n\
                 [map[name:c]]\n",
            ),
        ] {
            let error = merge(&mut json!({}), patch.as_object().unwrap(), &OBJECT);
            assert_eq!(error.unwrap_err(), expected);
        }
    }

    /// Items of one key are found one after the other, also when some are gone.
    #[test]
    fn items_are_found_by_their_keys() {
        let object = json!({"l": [{"name": "x", "v": 1}, {"name": "x", "v": 2}, {"name": "y"}]});
        let delete = json!({"name": "x", "$patch": "delete"});
        for (patch, expected) in [
            (
                json!([delete, {"name": "x", "w": 1}]),
                json!([{"name": "x", "v": 2, "w": 1}, {"name": "y"}]),
            ),
            (json!([delete, delete, delete]), json!([{"name": "y"}])),
            (
                json!([{"name": "z", "v": 1}, {"name": "z", "w": 1}, {"name": 1}, {"name": 1.0}]),
                json!([{"name": "z", "v": 1, "w": 1}, {"name": 1}, {"name": 1.0},
                    {"name": "x", "v": 1}, {"name": "x", "v": 2}, {"name": "y"}]),
            ),
            (
                json!([{"name": "z"}, {"name": "z", "$patch": "delete"}, {"name": "z", "w": 1}]),
                json!([{"name": "z", "w": 1}, {"name": "x", "v": 1}, {"name": "x", "v": 2},
                    {"name": "y"}]),
            ),
        ] {
            let mut patched = object.clone();
            let patch = json!({"l": patch});
            let members = patch.as_object().unwrap();
            merge(&mut patched, members, &OBJECT).unwrap();
            assert_eq!(patched["l"], expected, "{patch}");
        }
    }

    /// Where the time is linear, this takes none; it took minutes.
    #[test]
    fn long_lists_take_little_time() {
        const COUNT: usize = 20_000;
        let names = |letter: char| (0..COUNT).map(move |index| json!(format!("{letter}{index}")));
        let keyed = (0..COUNT).rev().map(|index| json!({"uid": index.to_string()}));
        let keyed: Vec<Value> = keyed.collect();
        let began = std::time::Instant::now();
        let patch = json!({"$retainKeys": names('k').chain([json!("metadata")]).collect::<Vec<_>>(),
        "metadata": {
            "finalizers": names('f').rev().collect::<Vec<_>>(),
            "$deleteFromPrimitiveList/finalizers": names('d').collect::<Vec<_>>(),
            "$setElementOrder/finalizers": names('f').rev().collect::<Vec<_>>(),
            "ownerReferences": keyed.clone(),
            "$setElementOrder/ownerReferences": keyed,
        }});
        let mut object = json!({"metadata": {"finalizers": names('d').collect::<Vec<_>>()}});
        let patch = patch.as_object().unwrap();
        merge(&mut object, patch, &ITEM).unwrap();
        let metadata = &object["metadata"];
        assert_eq!(metadata["finalizers"][0], format!("f{}", COUNT - 1));
        assert_eq!(metadata["ownerReferences"][0]["uid"], (COUNT - 1).to_string());
        // Deep members with long names do not repeat the names above them.
        let name = "n".repeat(300);
        let mut deep = json!({});
        for _ in 0..5_000 {
            deep = Value::Object(Map::from_iter([(name.clone(), deep)]));
        }
        let deep = DeepValue::from(deep);
        let mut target = DeepValue::from(json!({}));
        let members = deep.as_object().unwrap();
        merge(&mut target, members, &ITEM).unwrap();
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }
}
