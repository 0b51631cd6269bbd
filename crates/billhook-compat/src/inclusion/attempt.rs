//! The values that are tried at a place without a proof.

use billhook_apimachinery::value::{deep_clone, grow};
use billhook_generation::weight;
use billhook_schema::JsonSchemaProps;
use serde_json::Value;

use super::known::{Known, Shape};
use crate::limits::MAX_LIST_VALUES;

/// An attempt to find a witness.
#[derive(Clone, Debug)]
pub(crate) enum Attempt {
    /// It sends a value.
    Value(Value),
    /// It sends any value.
    Present,
    /// It leaves the field out.
    Absent,
    /// It sends so many elements, of which each is accepted alone.
    Items(usize),
    /// It sends values like others.
    Search,
    /// It violates a rule, by its position in the schema.
    Rule(usize),
}

/// The number of elements that is one too large.
pub(super) fn too_many(keyword: &str, target: &JsonSchemaProps) -> Option<usize> {
    const MOST: usize = 200;
    let most = target.max_items.filter(|_| keyword == "maxItems")?;
    usize::try_from(most).ok().map(|most| most.saturating_add(1)).filter(|count| *count <= MOST)
}

/// Lists and maps that are too small or too large.
pub(super) fn sized(
    keyword: &str,
    target: &JsonSchemaProps,
    from: Shape<'_>,
    known: &Known<'_>,
) -> impl Iterator<Item = Value> + use<> {
    const MOST: i64 = 2_000;
    let count = match keyword {
        "minItems" => target.min_items.map(|wanted| wanted - 1),
        "maxItems" => target.max_items.map(|wanted| wanted.saturating_add(1)),
        "minProperties" => target.min_properties.map(|wanted| wanted - 1),
        "maxProperties" => target.max_properties.map(|wanted| wanted.saturating_add(1)),
        "uniqueItems" => Some(2),
        _ => None,
    };
    let is_list = keyword.ends_with("Items");
    let count = count.filter(|count| (0..=MOST).contains(count));
    let least = known.at_least(|it| if is_list { it.min_items } else { it.min_properties });
    let count =
        count.map(|count| if keyword.starts_with("min") { count.max(least) } else { count });
    count.map(|count| made(from.document, keyword, count)).into_iter().flatten()
}

fn made(document: &Value, keyword: &str, count: i64) -> Vec<Value> {
    let Ok(count) = u64::try_from(count) else { return Vec::new() };
    if keyword.ends_with("Items") {
        let Some(items) = document.get("items") else { return Vec::new() };
        let item = billhook_generation::sample(items);
        let is_small = usize::try_from(count)
            .is_ok_and(|count| count.saturating_mul(weight(&item)) <= MAX_LIST_VALUES);
        if !is_small {
            return Vec::new();
        }
        if keyword == "uniqueItems" {
            return vec![(0..count).map(|_| deep_clone(&item)).collect()];
        }
        let by_key = (0..count).map(|number| other_item(document, items, &item, number)).collect();
        if !item.is_object() {
            return vec![by_key];
        }
        // Rules may ask for more than other keys.
        return vec![by_key, (0..count).map(|number| distinct(items, &item, number)).collect()];
    }
    let mut sample = document.clone();
    if let Some(schema) = sample.as_object_mut() {
        schema.insert("minProperties".to_owned(), count.into());
    }
    vec![billhook_generation::sample(&sample)]
}

/// A value of which each text and number that may be another one differs by a number.
fn distinct(schema: &Value, value: &Value, number: u64) -> Value {
    let is_free = |keyword: &str| schema.get(keyword).is_none();
    match value {
        Value::Object(members) => {
            let part = |name: &String| schema.get("properties")?.get(name);
            let member = |(name, member): (&String, &Value)| {
                let other = part(name).map(|part| grow(|| distinct(part, member, number)));
                (name.clone(), other.unwrap_or_else(|| deep_clone(member)))
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::String(_) | Value::Number(_) if is_free("enum") && is_free("format") => {
            other_item(&Value::Null, schema, value, number)
        }
        other => deep_clone(other),
    }
}

/// An item that differs from others by a number, also where it has a pattern or an enum.
fn other_item(list: &Value, items: &Value, item: &Value, number: u64) -> Value {
    if let Some(Value::Array(entries)) = items.get("enum")
        && let Some(entry) = entries.iter().cycle().nth(number as usize)
    {
        return deep_clone(entry);
    }
    match items.get("pattern").and_then(Value::as_str) {
        Some(pattern) if number > 0 => {
            let text = billhook_generation::text_of_pattern(pattern, 0, number);
            text.map_or_else(|| deep_clone(item), Value::from)
        }
        _ => billhook_generation::numbered(list, item, number),
    }
}

/// A keyword that is not known to be kept, and values that may break it.
#[derive(Clone, Debug)]
pub(crate) struct Unmet {
    pub(crate) keyword: &'static str,
    pub(crate) values: Vec<Value>,
}

impl Unmet {
    pub(super) fn new(keyword: &'static str, values: Vec<Value>) -> Self {
        Unmet { keyword, values }
    }
}
