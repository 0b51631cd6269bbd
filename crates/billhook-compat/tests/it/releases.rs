//! Definitions that people serve, changed in many places at once, as a release changes them.

use std::path::Path;

use billhook::{Definition, KubernetesVersion};
use serde_json::{Map, Value, json};

use crate::checks::{Tally, check};
use crate::corpus::{corpus, nodes};
use crate::operators::{OPERATORS, Random, add_rule, is, optional, set};

/// The schema of a part of a definition.
type Part = Map<String, Value>;

/// A change of a definition; false if it does not apply.
type Change = fn(&mut Value, &[Part], &mut Random) -> bool;

/// How many changes are made together.
const SIZES: [usize; 3] = [2, 5, 20];

/// The changes of a release; those that are here twice are made twice as often.
const CHANGES: [Change; 18] = [
    any_operator,
    any_operator,
    any_operator,
    new_fields,
    new_fields,
    refreshed,
    refreshed,
    transplanted,
    transplanted,
    new_part_with_rules,
    rule_of_numbers,
    rule_of_lists,
    field_moved,
    field_renamed,
    list_types,
    version_added,
    version_withdrawn,
    storage_moved,
];

fn new_fields(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let text = json!({"type": "string", "description": "A text."});
    let mut is_changed = false;
    for number in 0..=random.below(4) {
        let field = match random.below(4) {
            0 => text.clone(),
            1 => json!({"type": "array", "description": "Some.", "items": text}),
            2 => json!({"type": "object", "additionalProperties": text}),
            _ => object(random.below(2) == 0),
        };
        is_changed |= at_random(definition, random, |node, _| {
            insert(node, &format!("new{number}"), field.clone())
        });
    }
    is_changed
}

fn new_part_with_rules(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let mut part = object(true);
    part["x-kubernetes-validations"] = json!([
        {"rule": "!has(self.name) || self.name != '' || has(self.items)"},
        {"rule": "!has(self.count) || !has(self.items) || size(self.items) <= self.count"},
    ]);
    at_random(definition, random, |node, _| insert(node, "newPart", part.clone()))
}

fn rule_of_numbers(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    at_random(definition, random, |node, random| {
        let names = numbers(node);
        let (Some(a), Some(b)) =
            (names.get(random.below(names.len())), names.get(random.below(names.len())))
        else {
            return false;
        };
        let bound = random.below(100);
        let rule = match random.below(3) {
            _ if a == b => format!("!has(self.{a}) || self.{a} + 1 <= {bound}"),
            0 => format!("!has(self.{a}) || !has(self.{b}) || self.{a} <= self.{b}"),
            1 => format!("!(has(self.{a}) && has(self.{b})) || self.{a} + self.{b} <= {bound}"),
            _ => format!("has(self.{a}) && has(self.{b}) ? 2 * self.{a} >= self.{b} : true"),
        };
        add_rule(node, &rule)
    })
}

fn rule_of_lists(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    at_random(definition, random, |node, random| {
        let Some(items) = node.get("items").and_then(Value::as_object) else { return false };
        let Some(name) = optional(items, random) else { return false };
        let rule = match random.below(3) {
            0 => format!("self.exists(x, has(x.{name}))"),
            1 => format!("self.all(x, has(x.{name})) || self.all(x, !has(x.{name}))"),
            _ => format!("self.filter(x, has(x.{name})).size() <= 1"),
        };
        set(node, "maxItems", 8.into());
        add_rule(node, &rule)
    })
}

fn field_moved(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let mut moved = None;
    at_random(definition, random, |node, random| {
        let name = optional(node, random);
        let properties = node.get_mut("properties").and_then(Value::as_object_mut);
        moved = name.and_then(|name| Some((name.clone(), properties?.remove(&name)?)));
        moved.is_some()
    });
    let Some((name, part)) = moved else { return false };
    at_random(definition, random, |node, _| insert(node, &name, part.clone()))
}

fn field_renamed(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    at_random(definition, random, |node, random| {
        let Some(name) = optional(node, random) else { return false };
        let properties = node.get_mut("properties").and_then(Value::as_object_mut).unwrap();
        let part = properties.remove(&name).unwrap();
        properties.insert(format!("{name}Renamed"), part).is_none()
    })
}

fn list_types(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    at_random(definition, random, |node, _| {
        let keys = node.get("items").and_then(|items| items.get("required"));
        let keys = keys.and_then(Value::as_array).filter(|keys| keys.len() == 1).cloned();
        if !is(node, "array") || node.contains_key("x-kubernetes-list-type") {
            return false;
        }
        let type_ = if keys.is_some() { "map" } else { "atomic" };
        if let Some(keys) = keys {
            node.insert("x-kubernetes-list-map-keys".into(), keys.into());
        }
        set(node, "x-kubernetes-list-type", type_.into())
    })
}

fn version_added(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let mut version = versions[random.below(versions.len())].clone();
    version["name"] = "v9".into();
    version["storage"] = false.into();
    let is_new = !versions.iter().any(|version| version["name"] == "v9");
    if is_new {
        versions.push(version);
    }
    is_new
}

fn version_withdrawn(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let chosen = random.below(versions.len());
    let is_possible = versions.len() > 1 && versions[chosen]["served"] == true;
    if is_possible {
        versions[chosen]["served"] = false.into();
    }
    is_possible
}

fn storage_moved(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let chosen = random.below(versions.len());
    let is_possible = versions[chosen]["storage"] == false;
    if is_possible {
        versions.iter_mut().for_each(|version| version["storage"] = false.into());
        versions[chosen]["storage"] = true.into();
    }
    is_possible
}

/// An operator at a random node.
fn any_operator(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let (_, operator) = OPERATORS[random.below(OPERATORS.len())];
    at_random(definition, random, operator)
}

/// Changes the first node, from a random one on, that a change applies to.
fn at_random(
    definition: &mut Value,
    random: &mut Random,
    mut change: impl FnMut(&mut Map<String, Value>, &mut Random) -> bool,
) -> bool {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let version = random.below(versions.len());
    let Some(schema) = versions[version].pointer_mut("/schema/openAPIV3Schema") else {
        return false;
    };
    let mut found = Vec::new();
    nodes(schema, "", &mut found);
    found.remove(0);
    let begin = random.below(found.len());
    found.rotate_left(begin);
    found.iter().any(|pointer| {
        let node = schema.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
        change(node, random)
    })
}

fn insert(node: &mut Map<String, Value>, name: &str, part: Value) -> bool {
    let properties = node.get_mut("properties").and_then(Value::as_object_mut);
    properties.is_some_and(|properties| match properties.contains_key(name) {
        true => false,
        false => properties.insert(name.to_owned(), part).is_none(),
    })
}

/// The schema of an object with some fields.
fn object(needs_name: bool) -> Value {
    let required = if needs_name { json!(["name"]) } else { json!([]) };
    json!({"type": "object", "description": "A part.", "required": required, "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 63},
        "count": {"type": "integer", "format": "int32", "minimum": 0},
        "mode": {"type": "string", "enum": ["Auto", "Manual"], "default": "Auto"},
        "items": {"type": "array", "maxItems": 16, "items": {"type": "string", "maxLength": 64},
            "x-kubernetes-list-type": "set"},
    }})
}

/// The members that hold integers, by the names that rules use.
fn numbers(node: &Map<String, Value>) -> Vec<String> {
    let properties = node.get("properties").and_then(Value::as_object);
    let is_number = |(name, part): &(&String, &Value)| {
        part["type"] == "integer" && name.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    properties.into_iter().flatten().filter(is_number).map(|(name, _)| name.clone()).collect()
}

/// Writes a part and what is below it anew, as a newer generator does.
fn refreshed(definition: &mut Value, _: &[Part], random: &mut Random) -> bool {
    let mut chosen = None;
    at_random(definition, random, |node, _| {
        let has_many =
            node.get("properties").and_then(Value::as_object).is_some_and(|all| all.len() > 2);
        chosen = has_many.then(|| Value::Object(node.clone()));
        has_many
    });
    let Some(before) = chosen else { return false };
    let mut after = before.clone();
    let mut below = Vec::new();
    nodes(&after, "", &mut below);
    for pointer in &below {
        let node = after.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
        refresh(node, pointer, random);
    }
    at_random(definition, random, |node, _| {
        let is_it = before.as_object() == Some(node);
        if is_it {
            *node = after.as_object().unwrap().clone();
        }
        is_it && before != after
    })
}

fn refresh(node: &mut Map<String, Value>, pointer: &str, random: &mut Random) {
    node.insert("description".into(), "Written anew.".into());
    let is_seldom = random.below(8) == 0;
    match node.get("type").and_then(Value::as_str) {
        Some("array") => {
            set(node, "x-kubernetes-list-type", "atomic".into());
            if is_seldom && !node.contains_key("default") {
                set(node, "maxItems", 64.into());
            }
        }
        Some("object") if pointer.ends_with("Ref") || pointer.ends_with("Selector") => {
            set(node, "x-kubernetes-map-type", "atomic".into());
        }
        Some("object") if is_seldom => {
            insert(node, "newOption", json!({"type": "boolean", "description": "An option."}));
        }
        Some("integer") => {
            node.entry("format").or_insert("int32".into());
        }
        Some("string")
            if is_seldom && !node.contains_key("default") && !node.contains_key("enum") =>
        {
            match random.below(4) {
                0 => set(node, "maxLength", 253.into()),
                1 => set(node, "minLength", 1.into()),
                2 => set(node, "default", "".into()),
                _ => set(node, "enum", json!(["", "Always", "Never"])),
            };
        }
        _ => {}
    }
}

/// A part as another project serves it that was made of another release of the same types.
fn transplanted(definition: &mut Value, parts: &[Part], random: &mut Random) -> bool {
    let begin = random.below(parts.len());
    at_random(definition, random, |node, _| {
        let names = |node: &Map<String, Value>| -> Vec<String> {
            let listed = node.get("properties").and_then(Value::as_object);
            listed.into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let own = names(node);
        if own.len() < 3 {
            return false;
        }
        let is_like = |part: &&Part| {
            let other = names(part);
            let both = own.iter().filter(|name| other.contains(name)).count();
            *part != node && both * 10 >= 7 * own.len().max(other.len())
        };
        let found = parts.iter().skip(begin).chain(parts.iter().take(begin)).find(is_like);
        found.is_some_and(|part| {
            *node = part.clone();
            true
        })
    })
}

fn definitions(path: &Path) -> Vec<Value> {
    let text = std::fs::read(path).unwrap();
    let manifests = billhook::read_manifests(&text).unwrap();
    manifests.into_iter().map(|manifest| manifest.into_value().into_inner()).collect()
}

/// The parts of definitions that have several fields.
fn parts(definitions: &[Value], found: &mut Vec<Part>) {
    for version in definitions.iter().flat_map(|it| it["spec"]["versions"].as_array().unwrap()) {
        let Some(schema) = version.pointer("/schema/openAPIV3Schema") else { continue };
        let mut pointers = Vec::new();
        nodes(schema, "", &mut pointers);
        for pointer in pointers.iter().filter(|pointer| pointer.matches('/').count() > 3) {
            let node = schema.pointer(pointer).and_then(Value::as_object).unwrap();
            let count = node.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            if (3..30).contains(&count) {
                found.push(node.clone());
            }
        }
    }
}

/// Whether a server takes a definition in place of another one.
fn is_accepted(old: &Value, new: &Value) -> bool {
    let read = |value: &Value| Definition::new(value.clone(), KubernetesVersion::default());
    let (Ok(old), Ok(new)) = (read(old), read(new)) else { return false };
    new.validate_update(&old).errors().is_empty()
}

/// Changes a definition in so many places; what a server would refuse is left out.
fn release(old: &Value, size: usize, parts: &[Part], random: &mut Random) -> Value {
    let (mut new, mut count) = (old.clone(), 0);
    for _ in 0..2 * size {
        let change = CHANGES[random.below(CHANGES.len())];
        let mut changed = new.clone();
        if count < size && change(&mut changed, parts, random) && is_accepted(old, &changed) {
            new = changed;
            count += 1;
        }
    }
    new
}

#[test]
fn answers_about_releases_hold() {
    let files = corpus();
    // How many releases of each size, how many objects for each proof, and which part of the
    // definitions.
    let wanted = std::env::var("BILLHOOK_COMPAT_RELEASES").unwrap_or_default();
    let numbers: Vec<usize> = wanted.split('/').filter_map(|it| it.parse().ok()).collect();
    let (count, objects, step) = match numbers.as_slice() {
        [count, objects, step] => (*count, *objects, *step),
        _ => (1, 20, files.len().div_ceil(2)),
    };
    let all: Vec<_> = files.iter().step_by(step).map(|path| (path, definitions(path))).collect();
    let mut parts = Vec::new();
    all.iter().for_each(|(_, definitions)| self::parts(definitions, &mut parts));
    let (mut random, mut tally) = (Random(4711), Tally::default());
    for (path, definitions) in &all {
        let file = path.file_name().unwrap().to_string_lossy();
        for old in definitions {
            for size in SIZES.into_iter().flat_map(|size| std::iter::repeat_n(size, count)) {
                let new = release(old, size, &parts, &mut random);
                let label = format!("{file} {size}");
                check(&label, old, &new, objects, &mut tally);
                check(&format!("{label} undone"), &new, old, objects, &mut tally);
            }
        }
    }
    if !wanted.is_empty() {
        println!("{}", tally.report());
    }
    let [decided, open] = tally.sums();
    assert!(decided >= 19 * open, "{}", tally.report());
}
