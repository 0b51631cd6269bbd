//! Server-side apply: lists and objects are merged as before (CC-24).

use billhook::{CrdVersion, DeepValue, FieldManagement, FieldPath, Time};
use billhook_apimachinery::value::{deep_clone, deep_eq, grow, sorted};
use billhook_generation::{changes, find, numbered, replaced, sample};
use billhook_schema::JsonSchemaProps;
use serde_json::{Value, json};

use crate::answer::{Answer, Question};
use crate::inclusion::{Obstacle, Shape, StoredEffect, Unlisted, change, shown};
use crate::search::build::Builder;
use crate::search::run::{self, Part, Unknown};
use crate::version::{Pair, Witness};

/// How many members are applied on their own.
const MAX_PARTS: usize = 12;

/// The answers about server-side apply.
pub(crate) fn answers(pair: &Pair<'_>) -> Vec<Answer> {
    let mut walk = Walk { pair, found: Vec::new() };
    let place = (FieldPath::default(), FieldPath::default());
    walk.node(pair.old.shape(), pair.new.shape(), &FieldPath::default(), &place);
    let mut answers = Vec::new();
    for obstacle in walk.found {
        let witness = witness(pair, &obstacle);
        answers.push(pair.about(Question::Appliers, &obstacle, witness));
    }
    if answers.is_empty() {
        let reason = "lists and objects are merged as before";
        answers.push(pair.safe(Question::Appliers, reason));
    }
    answers
}

struct Walk<'w, 's> {
    pair: &'w Pair<'s>,
    found: Vec<Obstacle<'s>>,
}

/// How values of a node are merged (SA-10).
#[derive(Debug, PartialEq)]
enum Merge {
    Atomic,
    Set,
    /// By these keys, in order.
    Map(Vec<String>),
    /// Member by member.
    Granular,
    /// As the values themselves suggest.
    Deduced,
}

fn merge(shape: Shape<'_>) -> Merge {
    let schema = shape.schema;
    let is_atomic = schema.map_type.as_deref() == Some("atomic");
    match (schema.type_.as_str(), schema.list_type.as_deref()) {
        ("array", Some("set")) => Merge::Set,
        ("array", Some("map")) => {
            let mut keys = schema.list_map_keys.clone().unwrap_or_default();
            keys.sort();
            Merge::Map(keys)
        }
        ("array", _) => Merge::Atomic,
        ("object", _) if is_atomic => Merge::Atomic,
        ("object", _) => Merge::Granular,
        ("", _) if !schema.int_or_string => Merge::Deduced,
        _ => Merge::Atomic,
    }
}

/// Whether values of a node, and of all below it, are merged as if there were no schema.
fn is_deduced(schema: &JsonSchemaProps) -> bool {
    grow(|| {
        let has_list = schema.list_type.as_deref().is_some_and(|list| list != "atomic");
        let has_map = schema.map_type.as_deref() == Some("atomic");
        !has_list && !has_map && schema.children().into_iter().all(is_deduced)
    })
}

/// The names of the members of an object, if it has no others.
fn only_members(schema: &JsonSchemaProps) -> Option<Vec<&String>> {
    let is_open = schema.preserves_unknown_fields()
        || schema.embedded_resource
        || schema.additional_properties.is_some();
    let names = schema.properties.iter().flatten().map(|(name, _)| name);
    (schema.type_ == "object" && !is_open).then(|| names.collect())
}

impl<'s> Walk<'_, 's> {
    fn node(
        &mut self,
        from: Shape<'s>,
        to: Shape<'s>,
        path: &FieldPath,
        places: &(FieldPath, FieldPath),
    ) {
        if deep_eq(from.document, to.document) {
            return;
        }
        let (before, after) = (merge(from), merge(to));
        let is_other_type = before != Merge::Deduced
            && after != Merge::Deduced
            && from.schema.type_ != to.schema.type_;
        if is_other_type {
            return;
        }
        match (&before, &after) {
            (Merge::Deduced, _) | (_, Merge::Deduced)
                if is_deduced(from.schema) && is_deduced(to.schema) => {}
            (Merge::Deduced, _) | (_, Merge::Deduced) => {
                let text = "lists below are merged otherwise";
                self.add("x-kubernetes-list-type", text, (from, to), path, places);
            }
            (Merge::Atomic, Merge::Granular) | (Merge::Granular, Merge::Atomic)
                if only_members(from.schema).is_some_and(|names| names.is_empty()) => {}
            (before, after) if before != after => {
                let keyword = match from.schema.type_.as_str() {
                    "array" if from.schema.list_type == to.schema.list_type => {
                        "x-kubernetes-list-map-keys"
                    }
                    "array" => "x-kubernetes-list-type",
                    _ => "x-kubernetes-map-type",
                };
                let text = change(keyword, from.schema, to.schema);
                self.add(keyword, &text, (from, to), path, places);
            }
            (Merge::Map(keys), _) => self.elements(keys, (from, to), path, places),
            (Merge::Granular, _) => grow(|| self.members(from, to, path, places)),
            _ => {}
        }
    }

    fn elements(
        &mut self,
        keys: &[String],
        (from, to): (Shape<'s>, Shape<'s>),
        path: &FieldPath,
        places: &(FieldPath, FieldPath),
    ) {
        let bare = self.pair.prover.bare;
        let default = |shape: Shape<'s>, key: &str| {
            shape.items(bare).listed(key).and_then(|part| part.schema.default_value())
        };
        let is_other = |key: &String| match (default(from, key), default(to, key)) {
            (Some(one), Some(other)) => !deep_eq(one, other),
            (None, None) => false,
            _ => true,
        };
        if keys.iter().any(is_other) {
            self.add("default", "the default of a key changed", (from, to), path, places);
        }
        // A configuration has all keys of an element.
        let is_key = |shape: Shape<'s>| {
            let names = only_members(shape.items(bare).schema);
            names.is_some_and(|names| names.into_iter().all(|name| keys.contains(name)))
        };
        if is_key(from) && is_key(to) {
            return;
        }
        let below = (places.0.clone().name("items"), places.1.clone().name("items"));
        let path = FieldPath::index(path.clone(), 0);
        self.node(from.items(bare), to.items(bare), &path, &below);
    }

    fn members(
        &mut self,
        from: Shape<'s>,
        to: Shape<'s>,
        path: &FieldPath,
        places: &(FieldPath, FieldPath),
    ) {
        let bare = self.pair.prover.bare;
        let listed = |shape: Shape<'s>| shape.schema.properties.iter().flatten();
        let mut names: Vec<&String> =
            listed(from).chain(listed(to)).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            if let (Some(before), Some(after)) = (from.member(name, bare), to.member(name, bare)) {
                let below = |place: &FieldPath| place.clone().name("properties").name(name);
                let below = (below(&places.0), below(&places.1));
                self.node(before, after, &path.clone().name(name.as_str()), &below);
            }
        }
        if let (Unlisted::Kept(before), Unlisted::Kept(after)) =
            (from.unlisted(bare), to.unlisted(bare))
        {
            let below = |place: &FieldPath| place.clone().name("additionalProperties");
            let below = (below(&places.0), below(&places.1));
            self.node(before, after, &path.clone().key("key0"), &below);
        }
    }

    fn add(
        &mut self,
        keyword: &'static str,
        change: &str,
        (from, to): (Shape<'s>, Shape<'s>),
        path: &FieldPath,
        places: &(FieldPath, FieldPath),
    ) {
        self.found.push(Obstacle {
            path: path.clone(),
            keyword,
            change: change.to_owned(),
            attempts: Vec::new(),
            stored: StoredEffect::Open,
            nodes: (from.schema, to.schema),
            places: places.clone(),
        });
    }
}

/// Two configurations of different managers that are merged otherwise.
fn witness(pair: &Pair<'_>, obstacle: &Obstacle<'_>) -> Option<Witness> {
    // What else has changed may refuse the objects that are made of one of the schemas.
    let mut builders = [&pair.old_builder, &pair.new_builder].into_iter();
    builders.find_map(|builder| witness_of(pair, obstacle, builder))
}

/// The same, of objects that one of the definitions suggests.
fn witness_of(pair: &Pair<'_>, obstacle: &Obstacle<'_>, builder: &Builder<'_>) -> Option<Witness> {
    let path = &obstacle.path;
    let document = billhook_generation::schema_at(builder.schema, path)?;
    let accepted = |object: &Value| {
        run::write(&pair.old.version, object, Unknown::Refused).is_ok()
            && run::write(&pair.new.version, object, Unknown::Dropped).is_ok()
    };
    builder.at(path, || {
        let around = builder.around(path)?;
        let with = |value: &Value| builder.with(&around, path, value).filter(|it| accepted(it));
        let pairs = values(document, obstacle);
        let whole = pairs
            .iter()
            .find_map(|(one, other)| merged_otherwise(pair, path, &with(one)?, &with(other)?));
        // A configuration need not have all that the object needs.
        let partial = || {
            let parts = parts(document);
            let first = pairs.iter().map(|(one, _)| one).chain(parts.last()).find_map(with)?;
            parts.iter().find_map(|part| {
                let second = replaced(&first, path, Some(deep_clone(part)));
                merged_otherwise(pair, path, &first, &second)
            })
        };
        // Rules may ask for more of what is around a member.
        let left_out = || {
            let object = builder.with_any(&around, path)?;
            let listed = document.get("properties").and_then(Value::as_object)?;
            sorted(listed).into_iter().take(MAX_PARTS).find_map(|(name, _)| {
                let member = path.clone().name(name.as_str());
                let first = builder.with_any(&object, &member).filter(|it| accepted(it))?;
                let second = builder.without(&first, &member).filter(|it| accepted(it))?;
                merged_otherwise(pair, path, &first, &second)
            })
        };
        whole.or_else(partial).or_else(left_out)
    })
}

/// The witness that two configurations are, if they are merged otherwise.
fn merged_otherwise(
    pair: &Pair<'_>,
    path: &FieldPath,
    first: &Value,
    second: &Value,
) -> Option<Witness> {
    let (old, new) = (&pair.old.version, &pair.new.version);
    let is_status = pair.part(path) == Part::Status;
    let before = applied(old, first, second, is_status)?;
    let after = applied(new, first, second, is_status)?;
    let (one, other) = (find(&before, path)?, find(&after, path)?);
    let differs = !deep_eq(one, other) && run::write(old, &before, Unknown::Refused).is_ok();
    differs.then(|| Witness {
        reason: format!(
            "`{path}` was merged to {} and is merged to {} now",
            shown(one),
            shown(other)
        ),
        value: json!({"before": first, "after": second}),
    })
}

/// The object after one manager has applied a configuration and another one a second one; to the
/// status, if it is written on its own.
fn applied(
    version: &CrdVersion,
    first: &Value,
    second: &Value,
    is_status: bool,
) -> Option<DeepValue> {
    let apply = |name: &str, config: &Value, live: Option<&DeepValue>, subresource: &str| {
        let now = Time::parse("2026-01-01T00:00:00Z").ok()?;
        let management = FieldManagement::new(version, name, now).subresource(subresource);
        management.apply(config, live, true).ok()
    };
    if !is_status {
        let live = apply("first", first, None, "")?;
        return apply("second", second, Some(&live), "");
    }
    let created = replaced(first, &FieldPath::default().name("status"), None);
    let created = apply("first", &created, None, "")?;
    let live = apply("first", first, Some(&created), "status")?;
    apply("second", second, Some(&live), "status")
}

/// Parts of an object, from nothing to one member, and all of it.
fn parts(document: &Value) -> Vec<Value> {
    let listed = document
        .get("properties")
        .and_then(Value::as_object)
        .filter(|_| document.get("items").is_none());
    let Some(listed) = listed else { return Vec::new() };
    let member = |(name, part): (&String, &Value)| json!({name.as_str(): sample(part)});
    let members = sorted(listed).into_iter().take(MAX_PARTS).map(member);
    [json!({})].into_iter().chain(members).chain([sample(document)]).collect()
}

/// Values that are merged with each other.
fn values(document: &Value, obstacle: &Obstacle<'_>) -> Vec<(Value, Value)> {
    let Some(items) = document.get("items") else {
        let one = sample(document);
        let others = changes(document, &one, &billhook_generation::Hints::default());
        if let Some(part) = document.get("additionalProperties").filter(|part| part.is_object()) {
            let (one, other) = (sample(part), sample(part));
            return vec![(json!({"key0": one}), json!({"key1": other}))];
        }
        let is_kept = document.get("x-kubernetes-preserve-unknown-fields").is_some();
        let listed = document.get("properties").and_then(Value::as_object);
        if is_kept && listed.is_none_or(serde_json::Map::is_empty) {
            return vec![(json!({"key0": 1}), json!({"key1": 1}))];
        }
        if let Some(listed) = listed {
            let single = |(name, part): (&String, &Value)| json!({name.as_str(): sample(part)});
            let singles: Vec<Value> = sorted(listed).into_iter().map(single).collect();
            let one = sample(document);
            let with = |member: &Value| {
                let mut members = one.as_object().cloned().unwrap_or_default();
                members.extend(member.as_object().cloned().unwrap_or_default());
                Value::Object(members)
            };
            let more: Vec<Value> = singles.iter().map(with).collect();
            let first = more.iter().map(|more| (more, &one));
            let others = singles.iter().zip(singles.iter().skip(1));
            let pairs = first.chain(others).filter(|(one, other)| !deep_eq(one, other)).take(24);
            let pairs: Vec<_> =
                pairs.map(|(one, other)| (deep_clone(one), deep_clone(other))).collect();
            if !pairs.is_empty() {
                return pairs;
            }
        }
        let objects = [deep_clone(&one)]
            .into_iter()
            .chain(others)
            .filter(|it| it.as_object().is_some_and(|members| !members.is_empty()));
        let objects: Vec<Value> = objects.take(8).collect();
        let pairs = objects
            .iter()
            .flat_map(|one| objects.iter().map(|other| (deep_clone(one), deep_clone(other))));
        return pairs.filter(|(one, other)| !deep_eq(one, other)).collect();
    };
    let (from, to) = obstacle.nodes;
    let keys = from.list_map_keys.iter().chain(&to.list_map_keys).flatten();
    let mut keys: Vec<&String> = keys.collect();
    keys.dedup();
    let mut item = sample(items);
    if let Some(members) = item.as_object_mut() {
        for key in &keys {
            let part = items.get("properties").and_then(|listed| listed.get(key.as_str()));
            if let (Some(part), false) = (part, members.contains_key(key.as_str())) {
                members.insert((*key).clone(), sample(part));
            }
        }
    }
    let mut others: Vec<Value> = Vec::new();
    for key in &keys {
        let list = json!({"x-kubernetes-list-map-keys": [key]});
        others.extend((1..3).map(|number| numbered(&list, &item, number)));
    }
    others.push(numbered(document, &item, 1));
    others.extend(items.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
    others
        .extend(changes(items, &item, &billhook_generation::Hints::default()).into_iter().take(20));
    let pairs = others.into_iter().filter(|other| !deep_eq(other, &item));
    pairs.map(|other| (json!([deep_clone(&item)]), json!([other]))).collect()
}
