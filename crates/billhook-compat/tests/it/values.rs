//! Values at random, mostly such that a schema admits them.

use serde_json::{Map, Value, json};

use crate::operators::Random;

/// Texts, among them such of which the bytes or the halves of characters are more than the characters.
const TEXTS: [&str; 16] = [
    "",
    "a",
    "b",
    "d",
    "A",
    "B",
    "C",
    "D",
    "aa",
    "bb",
    "\u{1d54f}\u{1d54f}",
    "\u{1d54f}\u{1d54f}\u{1d54f}",
    "\u{e9}\u{e9}",
    "10%",
    "2026-01-01T00:00:00Z",
    "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
];

/// A value for a schema, mostly one that it admits.
pub(crate) fn value(schema: &Value, random: &mut Random) -> Value {
    if random.below(40) == 0 {
        let odd =
            [json!(null), json!(1), json!("A"), json!([]), json!({}), json!(1.5), json!(true)];
        return odd[random.below(odd.len())].clone();
    }
    if let Some(entries) = schema["enum"].as_array()
        && random.below(4) > 0
    {
        return entries[random.below(entries.len())].clone();
    }
    let text = |random: &mut Random| json!(TEXTS[random.below(TEXTS.len())]);
    let number = |random: &mut Random| json!(random.below(17) as i64 - 8);
    match schema["type"].as_str().unwrap_or_default() {
        "string" if schema.get("format").is_some() && random.below(8) == 0 => json!([1]),
        "string" => text(random),
        "integer" if random.below(20) == 0 => json!(random.below(4) as f64),
        "integer" => number(random),
        "number" => json!((random.below(17) as f64 - 8.0) / 2.0),
        "boolean" => json!(random.below(2) == 0),
        "array" => {
            let mut items: Vec<Value> =
                (0..random.below(4)).map(|_| value(&schema["items"], random)).collect();
            if random.below(3) == 0
                && let Some(first) = items.first().cloned()
            {
                let mut again = first;
                if let (Some(members), Some(listed)) =
                    (again.as_object_mut(), schema["items"]["properties"].as_object())
                {
                    let names: Vec<&String> = listed.keys().collect();
                    if let Some(name) = names.get(random.below(names.len())) {
                        members.insert((*name).clone(), value(&listed[*name], random));
                    }
                }
                items.push(again);
            }
            items.into()
        }
        "object" => {
            let mut members = Map::new();
            if schema["x-kubernetes-embedded-resource"] == true {
                members.extend(
                    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}})
                        .as_object()
                        .unwrap()
                        .clone(),
                );
            }
            for (name, part) in schema["properties"].as_object().into_iter().flatten() {
                let is_required = schema["required"]
                    .as_array()
                    .is_some_and(|it| it.contains(&name.as_str().into()));
                if random.below(if is_required { 20 } else { 3 }) > 0 {
                    members.insert(name.clone(), value(part, random));
                }
            }
            let additional = schema.get("additionalProperties");
            if additional.is_some() || schema["x-kubernetes-preserve-unknown-fields"] == true {
                let part = additional.filter(|it| it.is_object()).cloned().unwrap_or(json!({}));
                for name in ["key0", "key1", "x"] {
                    if random.below(2) == 0 {
                        members.insert(name.to_owned(), value(&part, random));
                    }
                }
            }
            members.into()
        }
        _ if schema["x-kubernetes-int-or-string"] == true => {
            if random.below(2) == 0 {
                text(random)
            } else {
                number(random)
            }
        }
        _ => match random.below(4) {
            0 => text(random),
            1 => number(random),
            2 => json!({"t": "A", "x": 1}),
            _ => json!([{"t": "A", "x": {"y": null}}]),
        },
    }
}
