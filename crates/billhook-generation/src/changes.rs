//! Values like another one, for searches.

use std::collections::BTreeSet;

use billhook_apimachinery::value::{deep_clone, grow, sorted};
use billhook_cel::Mentions;
use billhook_schema::SchemaView;
use serde_json::{Value, json};

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
/// The largest size that is made because a rule mentions it.
const MAX_HINTED: i64 = 20;

/// The names and literals of the rules of a schema: what a search had better look at.
#[derive(Clone, Debug, Default)]
pub struct Hints(Mentions);

impl Hints {
    /// Returns the hints of rules; one that cannot be read has none.
    pub fn of<'v>(rules: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut all = Mentions::default();
        for rule in rules {
            let found =
                billhook_cel::mentions(SchemaView::new(rule).text("rule")).unwrap_or_default();
            all.names.extend(found.names);
            all.texts.extend(found.texts);
            all.integers.extend(found.integers);
        }
        Hints(all)
    }

    /// Returns the same with more texts.
    #[must_use]
    pub fn with_texts(mut self, texts: impl IntoIterator<Item = String>) -> Self {
        self.0.texts.extend(texts.into_iter().map(Into::into));
        self
    }

    pub(crate) fn add_name(&mut self, name: &str) {
        self.0.names.insert(name.into());
    }

    /// Returns which of the members that are mentioned a value has, or its elements have.
    pub(crate) fn outline(&self, value: Option<&Value>) -> String {
        const MAX_ITEMS: usize = 3;
        match value {
            Some(Value::Object(members)) => {
                let names = sorted(members).into_iter().map(|(name, _)| name.as_str());
                names.filter(|name| self.mention(name)).collect::<Vec<_>>().join(",")
            }
            Some(Value::Array(items)) => {
                let items = items.iter().take(MAX_ITEMS).map(|item| self.outline(Some(item)));
                items.collect::<Vec<_>>().join(";")
            }
            _ => String::new(),
        }
    }

    fn mention(&self, name: &str) -> bool {
        self.0.names.contains(name) || self.0.texts.contains(name)
    }

    fn has_literal(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| self.0.texts.contains(text))
            || value.as_i64().is_some_and(|integer| self.0.integers.contains(&integer))
    }

    /// Returns the sizes that are one too small, just right or one too large.
    pub fn sizes(&self) -> BTreeSet<usize> {
        let around = self.0.integers.iter().filter(|size| (0..=MAX_HINTED).contains(*size));
        let around = around.flat_map(|size| [size - 1, *size, size + 1]);
        around.filter_map(|size| usize::try_from(size).ok()).collect()
    }
}

/// A changed value.
struct Changed {
    value: Value,
    hint: Hint,
}

/// How much hints say for a change: they mention the member that is added or removed, or the value
/// that it is given; or only what is around the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hint {
    Exact,
    Around,
    None,
}

/// Returns values like one of a schema, each with one change, in a fixed order: first those that
/// hints mention.
pub fn changes(schema: &Value, value: &Value, hints: &Hints) -> Vec<Value> {
    sort(collect(SchemaView::new(schema), value, hints, 0))
        .into_iter()
        .map(|changed| changed.value)
        .collect()
}

/// Returns only the changed values that hints mention.
pub(crate) fn hinted(schema: &Value, value: &Value, hints: &Hints) -> Vec<Value> {
    let found = sort(collect(SchemaView::new(schema), value, hints, 0)).into_iter();
    let found = found.filter(|changed| changed.hint != Hint::None);
    found.map(|changed| changed.value).collect()
}

/// Returns values with one change that hints mention, then those with two, then those with one that
/// they do not mention.
pub fn near(schema: &Value, value: &Value, hints: &Hints) -> impl Iterator<Item = Value> {
    let found = sort(collect(SchemaView::new(schema), value, hints, 0));
    let hinted_count = found.partition_point(|changed| changed.hint != Hint::None);
    let mut once = found.into_iter().map(|changed| changed.value);
    let first: Vec<Value> = once.by_ref().take(hinted_count).collect();
    let twice = std::iter::once_with(move || hinted(schema, value, hints)).flatten();
    let twice = twice.flat_map(move |changed| hinted(schema, &changed, hints));
    first.into_iter().chain(twice).chain(once)
}

fn sort(mut found: Vec<Changed>) -> Vec<Changed> {
    found.sort_by_key(|changed| changed.hint);
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

fn collect(schema: SchemaView<'_>, value: &Value, hints: &Hints, depth: usize) -> Vec<Changed> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let scalars = scalars(schema, value, hints).into_iter().filter(|other| other != value);
    let hint = if depth == 0 { Hint::Around } else { Hint::None };
    let mut found: Vec<Changed> = scalars.map(|value| Changed { value, hint }).collect();
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
fn members(
    schema: SchemaView<'_>,
    value: &Value,
    hints: &Hints,
    depth: usize,
    found: &mut Vec<Changed>,
) {
    let Some(members) = value.as_object() else { return };
    let with = |name: &str, member: Option<Value>| {
        let mut members = members.clone();
        match member {
            Some(member) => members.insert(name.to_owned(), member),
            None => members.remove(name),
        };
        Value::Object(members)
    };
    let most_copies = (MAX_COPIED / weight(value)).min(10 * MAX_CHANGES);
    for (name, part) in schema.properties() {
        if depth == 0 && FIXED.contains(&name) && members.contains_key("apiVersion") {
            continue;
        }
        let is_named = hints.mention(name);
        if found.len() > if is_named { 4 * most_copies } else { most_copies } {
            continue;
        }
        let mut add = |member: Option<Value>, hint: Hint| {
            found.push(Changed { value: with(name, member), hint });
        };
        let exact = if is_named { Hint::Exact } else { Hint::None };
        let new = members.get(name).is_none().then(|| sample(part.written()));
        if let Some(new) = &new {
            add(Some(deep_clone(new)), exact);
        } else if !schema.texts("required").any(|known| known == name) {
            add(None, exact);
        }
        if new.is_some() && !is_named && depth > 0 {
            continue;
        }
        let most = if new.is_some() { MAX_NEW } else { MAX_CHANGES };
        let Some(member) = new.as_ref().or_else(|| members.get(name)) else { continue };
        let below = sort(grow(|| collect(part, member, hints, depth + 1)));
        for Changed { value, hint } in below.into_iter().take(most) {
            let hint = match is_named {
                true if hints.has_literal(&value) => Hint::Exact,
                true => hint.min(Hint::Around),
                false => hint,
            };
            add(Some(value), hint);
        }
    }
    if let Some(part) = schema.additional() {
        let texts = hints.0.texts.iter().map(|text| &**text);
        for name in texts.chain(["key0"]).filter(|name| !members.contains_key(*name)) {
            let hint = if hints.mention(name) { Hint::Exact } else { Hint::None };
            found.push(Changed { value: with(name, Some(sample(part.written()))), hint });
        }
        for size in hints.sizes().into_iter().filter(|size| *size > members.len()) {
            let mut members = members.clone();
            for number in members.len()..size {
                members.insert(format!("key{number}"), sample(part.written()));
            }
            let hint = if depth == 0 { Hint::Around } else { Hint::None };
            found.push(Changed { value: Value::Object(members), hint });
        }
    }
}

/// Lists with more, fewer or other items.
fn list(
    schema: SchemaView<'_>,
    items: &[Value],
    hints: &Hints,
    depth: usize,
    found: &mut Vec<Changed>,
) {
    let Some(part) = schema.items() else { return };
    let mut add = |items: Vec<Value>, hint: Hint| {
        found.push(Changed { value: Value::Array(items), hint });
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
    for Changed { value, hint } in changed.iter().filter(|_| !items.is_empty()) {
        let rest = items.iter().skip(1).map(deep_clone);
        add(std::iter::once(deep_clone(value)).chain(rest).collect(), *hint);
    }
    let hinted = || changed.iter().filter(|it| it.hint != Hint::None);
    for Changed { value, hint } in hinted() {
        add(items.iter().chain([value]).map(deep_clone).collect(), *hint);
    }
    // Two of what was changed, and one beside one as it was.
    for Changed { value, hint } in hinted().filter(|it| it.value.is_object()) {
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
            let hinted = hints.0.integers.iter();
            let hinted = hinted.flat_map(|it| [it.saturating_sub(1), *it, it.saturating_add(1)]);
            let around = [own.saturating_add(1), own.saturating_sub(1), 0, 1, 100];
            let bounds = [bound("minimum"), bound("maximum")].into_iter().flatten();
            hinted.chain(around).chain(bounds).map(Value::from).collect()
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
    let hinted = hints.0.texts.iter();
    let hinted = hinted.flat_map(|text| {
        // It may be a pattern.
        let matching = pattern::sample(text).into_iter();
        [text.to_string(), format!("{text}a"), format!("a{text}"), format!("a{text}b")]
            .into_iter()
            .chain(matching)
    });
    let sizes = hints.sizes().into_iter().map(|size| "a".repeat(size));
    let made = pattern::sample_of(schema.text("pattern"), own.len() + 1, 1);
    let more = [format!("{own}b")].into_iter().chain(PLAIN.map(str::to_owned)).chain(made);
    hinted.chain(sizes).chain(more).map(Value::from).collect()
}
