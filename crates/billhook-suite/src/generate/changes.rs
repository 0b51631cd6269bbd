//! Values like another one, for searches.

use billhook_apimachinery::value::{deep_clone, grow, sorted};
use serde_json::{Value, json};

use super::pattern;
use super::sample::{required, sample, text};

/// The fields of all objects, which the server looks after.
pub(super) const FIXED: [&str; 3] = ["apiVersion", "kind", "metadata"];
/// How deep schemas are looked at.
pub(super) const MAX_DEPTH: usize = 60;

/// An item that differs from others by a number, where that is easy.
pub(super) fn numbered(item: &Value, number: u64) -> Value {
    match item {
        Value::String(text) if number > 0 => format!("{text}{number}").into(),
        Value::Number(_) => number.into(),
        other => deep_clone(other),
    }
}

/// Values like one of a schema, each with one change, in a fixed order.
pub(super) fn changes<'s>(schema: &'s Value, value: &'s Value) -> impl Iterator<Item = Value> + 's {
    let mut found = Vec::new();
    collect(schema, value, 0, &mut found);
    found.into_iter()
}

/// How many changes of a value are tried.
const MAX_CHANGES: usize = 200;

fn collect(schema: &Value, value: &Value, depth: usize, found: &mut Vec<Value>) {
    if depth > MAX_DEPTH || found.len() > MAX_CHANGES {
        return;
    }
    found.extend(scalars(schema, value).into_iter().filter(|other| other != value));
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Value::Object(members) = value {
        let with = |name: &str, member: Option<Value>| {
            let mut members = members.clone();
            match member {
                Some(member) => members.insert(name.to_owned(), member),
                None => members.remove(name),
            };
            Value::Object(members)
        };
        for (name, part) in properties.map(sorted).into_iter().flatten() {
            if depth == 0 && FIXED.contains(&name.as_str()) {
                continue;
            }
            let Some(member) = members.get(name) else {
                found.push(with(name, Some(sample(part))));
                continue;
            };
            if !required(schema).any(|known| known == name) {
                found.push(with(name, None));
            }
            let mut below = Vec::new();
            grow(|| collect(part, member, depth + 1, &mut below));
            found.extend(below.into_iter().map(|member| with(name, Some(member))));
        }
    }
    if let (Value::Array(items), Some(part)) = (value, schema.get("items")) {
        let mut more = items.clone();
        more.push(numbered(&sample(part), items.len() as u64));
        found.push(Value::Array(more));
        if let Some(first) = items.first() {
            found.push(json!([]));
            let mut below = Vec::new();
            grow(|| collect(part, first, depth + 1, &mut below));
            found.extend(below.into_iter().map(|item| {
                let mut items = items.clone();
                if let Some(first) = items.first_mut() {
                    *first = item;
                }
                Value::Array(items)
            }));
        }
    }
}

/// Other scalars of a schema.
fn scalars(schema: &Value, value: &Value) -> Vec<Value> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.clone();
    }
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
    match text(schema, "type") {
        "boolean" => vec![json!(false), json!(true)],
        "integer" | "number" => {
            let own = value.as_i64().unwrap_or_default();
            let around = [own.saturating_add(1), own.saturating_sub(1), 0, 1, 100];
            let bounds = [bound("minimum"), bound("maximum")].into_iter().flatten();
            around.into_iter().chain(bounds).map(Value::from).collect()
        }
        "string" => {
            let own = value.as_str().unwrap_or_default();
            let other = format!("{own}b");
            let more = ["", "a", "b", "A", "1", "a-b", "a.b", "a/b", "https://example.com"];
            let made = pattern::sample_of(text(schema, "pattern"), own.len() + 1, 1);
            let more = more.into_iter().map(Value::from).chain(made.map(Value::from));
            [Value::from(other)].into_iter().chain(more).collect()
        }
        _ => Vec::new(),
    }
}
