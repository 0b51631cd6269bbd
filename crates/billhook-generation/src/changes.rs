//! Values like another one, for searches.

use std::rc::Rc;

use billhook_apimachinery::value::{deep_clone, grow};
use billhook_schema::SchemaView;
use serde_json::{Value, json};

use crate::change::{Change, Hint};
use crate::hints::Hints;
use crate::pattern;
use crate::sample::sample;

/// The fields of all objects, which the server looks after.
pub const FIXED: [&str; 3] = ["apiVersion", "kind", "metadata"];
/// How deep schemas are looked at.
pub const MAX_DEPTH: usize = 60;
/// How many changes of a value are tried.
const MAX_CHANGES: usize = 400;
/// How many values all changed copies of a value have in them together, about.
const MAX_COPIED: usize = 1_000_000;
/// How many changes of a member that is missing are tried.
const MAX_NEW: usize = 12;

/// Returns values like one of a schema, each with one change, in a fixed order: first those that
/// hints mention.
pub fn changes(schema: &Value, value: &Value, hints: &Hints) -> Vec<Value> {
    let found = sort(collect(SchemaView::new(schema), value, hints, 0));
    found.iter().map(|change| change.of(value)).collect()
}

/// Returns only the changed values that hints mention.
pub(crate) fn hinted<'v>(
    schema: &'v Value,
    value: &Value,
    hints: &Hints,
) -> impl Iterator<Item = Value> + use<'v> {
    let found = sort(collect(SchemaView::new(schema), value, hints, 0));
    let value = deep_clone(value);
    let found = found.into_iter().filter(|change| change.hint != Hint::None);
    found.map(move |change| change.of(&value))
}

/// Returns values with one change that hints mention, then those with two, then those with one that
/// they do not mention; each is made when it is asked for.
pub fn near<'v>(
    schema: &'v Value,
    value: &Value,
    hints: &Hints,
) -> impl Iterator<Item = Value> + use<'v> {
    let mut first = sort(collect(SchemaView::new(schema), value, hints, 0));
    let last = first.split_off(first.partition_point(|change| change.hint != Hint::None));
    let (value, hints) = (Rc::new(deep_clone(value)), hints.clone());
    let each = |changes: Rc<[Change<'v>]>| {
        let value = Rc::clone(&value);
        let at = move |index| Some(Change::of(changes.get(index)?, &value));
        (0..).map_while(at)
    };
    let first: Rc<[Change<'v>]> = first.into();
    let twice = each(Rc::clone(&first)).flat_map(move |changed| hinted(schema, &changed, &hints));
    each(first).chain(twice).chain(each(last.into()))
}

fn sort(mut found: Vec<Change<'_>>) -> Vec<Change<'_>> {
    found.sort_by_key(|change| change.hint);
    found
}

/// Returns an item that differs from others by a number, where that is easy.
pub fn numbered(schema: &Value, item: &Value, number: u64) -> Value {
    match item {
        Value::String(text) if number > 0 => format!("{text}{number}").into(),
        Value::Number(_) => number.into(),
        Value::Object(members) => {
            let mut members = members.clone();
            for key in SchemaView::new(schema).texts("x-kubernetes-list-map-keys") {
                if let Some(member) = members.get_mut(key) {
                    *member = numbered(&Value::Null, member, number);
                }
            }
            Value::Object(members)
        }
        other => deep_clone(other),
    }
}

fn collect<'v>(
    schema: SchemaView<'v>,
    value: &Value,
    hints: &Hints,
    depth: usize,
) -> Vec<Change<'v>> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let scalars = scalars(schema, value, hints).into_iter().filter(|other| other != value);
    let hint = if depth == 0 { Hint::Around } else { Hint::None };
    let mut found: Vec<Change<'v>> = scalars.map(|value| Change::to(value, hint)).collect();
    match value {
        Value::Object(_) => members(schema, value, hints, depth, &mut found),
        Value::Array(items) => {
            list(schema, items, hints, depth, &mut found);
        }
        _ => {}
    }
    if found.len() > MAX_CHANGES {
        found = sort(found);
        found.truncate(MAX_CHANGES);
    }
    found
}

/// Returns how many values are in a value, itself included; long texts count as several.
pub fn weight(value: &Value) -> usize {
    const TEXT: usize = 64;
    match value {
        Value::String(text) => 1 + text.len() / TEXT,
        Value::Array(items) => items.iter().fold(1, |sum, item| sum + grow(|| weight(item))),
        Value::Object(members) => {
            members.values().fold(1, |sum, member| sum + grow(|| weight(member)))
        }
        _ => 1,
    }
}

/// Objects with one member that differs.
fn members<'v>(
    schema: SchemaView<'v>,
    value: &Value,
    hints: &Hints,
    depth: usize,
    found: &mut Vec<Change<'v>>,
) {
    let Some(members) = value.as_object() else { return };
    let most_copies = (MAX_COPIED / weight(value)).min(10 * MAX_CHANGES);
    for (name, part) in schema.properties() {
        if depth == 0 && FIXED.contains(&name) && members.contains_key("apiVersion") {
            continue;
        }
        let is_named = hints.mention(name);
        if found.len() > if is_named { 4 * most_copies } else { most_copies } {
            continue;
        }
        let exact = if is_named { Hint::Exact } else { Hint::None };
        let below = |member: &Value| sort(grow(|| collect(part, member, hints, depth + 1)));
        let hint = |hint: Hint, value: Option<&Value>| match is_named {
            true if value.is_some_and(|value| hints.has_literal(value)) => Hint::Exact,
            true => hint.min(Hint::Around),
            false => hint,
        };
        let Some(member) = members.get(name) else {
            found.push(Change::to_sample(part, exact).in_member(name));
            if is_named || depth == 0 {
                let new = sample(part.written());
                for change in below(&new).into_iter().take(MAX_NEW) {
                    let value = change.of(&new);
                    let hint = hint(change.hint, Some(&value));
                    found.push(Change::to(value, hint).in_member(name));
                }
            }
            continue;
        };
        if !schema.texts("required").any(|known| known == name) {
            found.push(Change::without(name, exact));
        }
        for mut change in below(member).into_iter().take(MAX_CHANGES) {
            change.hint = hint(change.hint, change.whole());
            found.push(change.in_member(name));
        }
    }
    if let Some(part) = schema.additional() {
        let texts = hints.names_of_members().map(|text| &**text);
        for name in texts.chain(["key0"]).filter(|name| !members.contains_key(*name)) {
            let hint = if hints.mention(name) { Hint::Exact } else { Hint::None };
            found.push(Change::to_sample(part, hint).in_member(name.to_owned()));
        }
        for size in hints.sizes().into_iter().filter(|size| *size > members.len()) {
            let mut members = members.clone();
            for number in members.len()..size {
                members.insert(format!("key{number}"), sample(part.written()));
            }
            let hint = if depth == 0 { Hint::Around } else { Hint::None };
            found.push(Change::to(Value::Object(members), hint));
        }
    }
}

/// Lists with more, fewer or other items.
fn list<'v>(
    schema: SchemaView<'v>,
    items: &[Value],
    hints: &Hints,
    depth: usize,
    found: &mut Vec<Change<'v>>,
) {
    let Some(part) = schema.items() else { return };
    let mut add = |items: Vec<Value>, hint: Hint| {
        found.push(Change::to(Value::Array(items), hint));
    };
    let hint = if depth == 0 { Hint::Around } else { Hint::None };
    let with_more = |size: usize, is_twice: bool| {
        let mut items: Vec<Value> = items.iter().map(deep_clone).collect();
        let model = items.first().map_or_else(|| sample(part.written()), deep_clone);
        for number in items.len()..size {
            let number = if is_twice { 0 } else { number as u64 };
            items.push(numbered(schema.written(), &model, number));
        }
        items
    };
    add(with_more(items.len() + 1, false), hint);
    add(with_more(items.len().max(1) + 1, true), hint);
    for size in hints.sizes().into_iter().filter(|size| *size > items.len() + 1) {
        add(with_more(size, false), hint);
    }
    for other in scalars(part, &Value::Null, hints) {
        add(items.iter().map(deep_clone).chain([other]).collect(), hint);
    }
    if !items.is_empty() {
        add(Vec::new(), hint);
    }
    // The first item changed, and a new one like it.
    let first = items.first().map_or_else(|| sample(part.written()), deep_clone);
    let mut changed = grow(|| collect(part, &first, hints, depth + 1));
    let own: usize = items.iter().map(weight).sum();
    changed.truncate(MAX_COPIED / (own + 1));
    let hinted = changed.iter().filter(|change| change.hint != Hint::None);
    let hinted: Vec<(Value, Hint)> = hinted.map(|it| (it.of(&first), it.hint)).collect();
    if !items.is_empty() {
        found.extend(changed.into_iter().map(Change::in_first));
    }
    let mut add = |items: Vec<Value>, hint: Hint| {
        found.push(Change::to(Value::Array(items), hint));
    };
    for (value, hint) in &hinted {
        add(items.iter().chain([value]).map(deep_clone).collect(), *hint);
    }
    // Two of what was changed, and one beside one as it was.
    for (value, hint) in hinted.iter().filter(|(value, _)| value.is_object()) {
        let other = numbered(schema.written(), value, items.len() as u64 + 1);
        add([value, &other].map(deep_clone).into(), *hint);
        add([value, &first].map(deep_clone).into(), *hint);
    }
}

/// Other scalars of a schema.
fn scalars(schema: SchemaView<'_>, value: &Value, hints: &Hints) -> Vec<Value> {
    if let Some(values) = schema.keyword("enum").and_then(Value::as_array) {
        // A rule may allow less or more.
        let other = values.iter().any(Value::is_string).then(|| "other".into());
        return values.iter().cloned().chain(other).collect();
    }
    let bound = |keyword: &str| schema.keyword(keyword).and_then(Value::as_i64);
    match schema.text("type") {
        "boolean" => vec![json!(false), json!(true)],
        "integer" | "number" => {
            let own = value.as_i64().unwrap_or_default();
            let around = [own.saturating_add(1), own.saturating_sub(1), 0, 1, 100];
            let bounds = [bound("minimum"), bound("maximum")].into_iter().flatten();
            hints.integers().chain(around).chain(bounds).map(Value::from).collect()
        }
        "string" => texts(schema, value.as_str().unwrap_or_default(), hints),
        _ => Vec::new(),
    }
}

/// Other texts of a schema.
fn texts(schema: SchemaView<'_>, own: &str, hints: &Hints) -> Vec<Value> {
    const PLAIN: [&str; 13] = [
        "",
        "a",
        "b",
        "A",
        "1",
        "a-b",
        "a.b",
        "a/b",
        "*",
        "*.a.b",
        "192.0.2.1",
        "example.com/a",
        "https://example.com",
    ];
    let made = pattern::sample_of(schema.text("pattern"), own.len() + 1, 1);
    let more = [format!("{own}b")].into_iter().chain(PLAIN.map(str::to_owned)).chain(made);
    hints.texts().iter().cloned().chain(more).map(Value::from).collect()
}
