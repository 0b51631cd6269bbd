//! The smallest value of a schema.

use std::cell::Cell;

use billhook::CrdVersion;
use billhook_apimachinery::value::grow;
use billhook_schema::SchemaView;
use serde_json::{Map, Number, Value, json};

use crate::pattern;
use crate::place::set_metadata;

/// How many items or members a value is given to be large enough.
const MAX_COUNT: u64 = 100;

/// How many bytes the smallest value of a schema takes, about: lists in lists may be asked to have more
/// elements than there is memory for.
pub const MAX_SAMPLE_BYTES: usize = 1 << 17;

/// How many bytes a value takes, beside its text.
const VALUE_BYTES: usize = 32;

/// Returns the smallest value that a schema allows, rules aside; of one that would take more than
/// [`MAX_SAMPLE_BYTES`], a part.
pub fn sample(schema: &Value) -> Value {
    let left = Cell::new(MAX_SAMPLE_BYTES);
    grow(|| sampled(SchemaView::new(schema), 0, &left))
}

/// Returns the smallest object of a version, rules aside, with its apiVersion, kind and a name.
pub fn sample_object(version: &CrdVersion, schema: &Value) -> Value {
    let mut object = sample(schema);
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), version.api_version().into());
        members.insert("kind".to_owned(), version.definition().kind().into());
    }
    set_metadata(&mut object, "name", Some("example"));
    object
}

/// A value that differs from others of its schema by a number.
fn sampled(schema: SchemaView<'_>, number: u64, left: &Cell<usize>) -> Value {
    left.set(left.get().saturating_sub(VALUE_BYTES));
    if let Some(values) = schema.keyword("enum").and_then(Value::as_array) {
        let at = usize::try_from(number).unwrap_or_default();
        return values.get(at).or(values.first()).cloned().unwrap_or_default();
    }
    match schema.text("type") {
        "object" => object(schema, left),
        "array" => {
            let items = schema.items().unwrap_or(SchemaView::new(&Value::Null));
            let count = count(schema, "minItems");
            let more = (0..count).take_while(|_| left.get() > 0);
            more.map(|number| grow(|| sampled(items, number, left))).collect()
        }
        "string" => {
            let text = string(schema, number);
            left.set(left.get().saturating_sub(text.as_str().map_or(0, str::len)));
            text
        }
        "integer" => integer(schema, number).into(),
        "number" => match integer(schema, number) {
            whole if fits(schema, &whole.into()) => whole.into(),
            _ => middle(schema),
        },
        "boolean" => (number % 2 == 1).into(),
        _ if schema.is_set("x-kubernetes-int-or-string") => int_or_string(schema, number),
        _ if schema.keyword("properties").is_some() => object(schema, left),
        _ => json!({}),
    }
}

fn object(schema: SchemaView<'_>, left: &Cell<usize>) -> Value {
    let mut members = Map::new();
    if schema.is_set("x-kubernetes-embedded-resource") {
        members.insert("apiVersion".to_owned(), "v1".into());
        members.insert("kind".to_owned(), "Example".into());
        members.insert("metadata".to_owned(), json!({"name": "example"}));
    }
    let required = schema.texts("required");
    for name in required.chain(one_branch(schema).flat_map(|branch| branch.texts("required"))) {
        let part = schema.property(name);
        let part = part.or_else(|| schema.keyword("additionalProperties").map(SchemaView::new));
        let Some(part) = part else { continue };
        if part.keyword("default").is_none() && !members.contains_key(name) {
            members.insert(name.to_owned(), grow(|| sampled(part, 0, left)));
        }
    }
    let missing = count(schema, "minProperties").saturating_sub(members.len() as u64);
    if missing > 0 {
        let optional = schema.properties().filter(|(name, _)| !members.contains_key(*name));
        let optional: Vec<_> = optional.take(missing as usize).collect();
        for (name, part) in optional {
            members.insert(name.to_owned(), grow(|| sampled(part, 0, left)));
        }
    }
    if let Some(additional) = schema.additional() {
        let missing = count(schema, "minProperties").saturating_sub(members.len() as u64);
        for number in (0..missing).take_while(|_| left.get() > 0) {
            let member = grow(|| sampled(additional, number, left));
            members.insert(format!("key{number}"), member);
        }
    }
    Value::Object(members)
}

/// The first of the alternatives, and all that must hold beside.
fn one_branch(schema: SchemaView<'_>) -> impl Iterator<Item = SchemaView<'_>> {
    let first =
        ["oneOf", "anyOf"].into_iter().filter_map(move |keyword| schema.list(keyword).next());
    schema.list("allOf").chain(first).map(SchemaView::new)
}

fn int_or_string(schema: SchemaView<'_>, number: u64) -> Value {
    match schema.text("pattern") {
        "" => number.saturating_add(1).into(),
        pattern => match pattern::sample(pattern) {
            Some(text) => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
            None => number.into(),
        },
    }
}

fn string(schema: SchemaView<'_>, number: u64) -> Value {
    let minimum = count_to(schema, "minLength", 10_000) as usize;
    let written = match (schema.text("pattern"), schema.text("format")) {
        ("", "") => match number {
            0 => "a".repeat(minimum),
            number => format!("{}{number}", "a".repeat(minimum)),
        },
        ("", format) => formatted(format, number),
        (pattern, _) => pattern::sample_of(pattern, minimum, number).unwrap_or_default(),
    };
    written.into()
}

/// A text of a format.
fn formatted(format: &str, number: u64) -> String {
    match format {
        "date-time" | "datetime" => "2026-01-01T00:00:00Z".to_owned(),
        "date" => "2026-01-01".to_owned(),
        "duration" => "1h".to_owned(),
        "uri" => format!("https://example.com/{number}"),
        "email" => "someone@example.com".to_owned(),
        "hostname" => "example.com".to_owned(),
        "ipv4" => "192.0.2.1".to_owned(),
        "ipv6" => "2001:db8::1".to_owned(),
        "cidr" => "192.0.2.0/24".to_owned(),
        "mac" => "00:00:5e:00:53:01".to_owned(),
        "uuid" | "uuid4" => "6ba7b810-9dad-41d1-80b4-00c04fd430c8".to_owned(),
        "uuid3" => "6ba7b810-9dad-31d1-80b4-00c04fd430c8".to_owned(),
        "uuid5" => "6ba7b810-9dad-51d1-80b4-00c04fd430c8".to_owned(),
        "byte" => "YQ==".to_owned(),
        "hexcolor" => "#ffffff".to_owned(),
        "rgbcolor" => "rgb(1,1,1)".to_owned(),
        "isbn" | "isbn13" => "978-3-16-148410-0".to_owned(),
        "isbn10" => "3-16-148410-0".to_owned(),
        "creditcard" => "4111111111111111".to_owned(),
        "ssn" => "111-11-1111".to_owned(),
        "bsonobjectid" => "507f1f77bcf86cd799439011".to_owned(),
        _ => "a".to_owned(),
    }
}

/// A whole number that a schema allows, if there is one nearby.
fn integer(schema: SchemaView<'_>, number: u64) -> i64 {
    let bound = |keyword: &str| schema.keyword(keyword).and_then(Value::as_f64);
    let exclusive = |keyword: &str| i64::from(schema.is_set(keyword));
    let step = bound("multipleOf").filter(|step| *step >= 1.0).map_or(1, |step| step as i64);
    let minimum = bound("minimum").map(|it| it.ceil() as i64 + exclusive("exclusiveMinimum"));
    let maximum = bound("maximum").map(|it| it.floor() as i64 - exclusive("exclusiveMaximum"));
    let first = match (minimum, maximum) {
        (Some(minimum), _) if minimum > 0 => minimum,
        (_, Some(maximum)) if maximum < 0 => maximum,
        _ => 0,
    };
    let up = first.rem_euclid(step);
    let first = if up == 0 { first } else { first.saturating_add(step - up) };
    first.saturating_add(step.saturating_mul(i64::try_from(number).unwrap_or_default()))
}

/// A number between the bounds.
fn middle(schema: SchemaView<'_>) -> Value {
    let bound = |keyword: &str| schema.keyword(keyword).and_then(Value::as_f64);
    let number = match (bound("minimum"), bound("maximum")) {
        (Some(minimum), Some(maximum)) => (minimum + maximum) / 2.0,
        (Some(minimum), None) => minimum + 0.5,
        (None, Some(maximum)) => maximum - 0.5,
        (None, None) => 0.5,
    };
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Whether a number is within the bounds.
fn fits(schema: SchemaView<'_>, value: &Value) -> bool {
    let value = value.as_f64().unwrap_or_default();
    let bound = |keyword: &str| schema.keyword(keyword).and_then(Value::as_f64);
    bound("minimum").is_none_or(|minimum| value >= minimum)
        && bound("maximum").is_none_or(|maximum| value <= maximum)
}

fn count(schema: SchemaView<'_>, keyword: &str) -> u64 {
    count_to(schema, keyword, MAX_COUNT)
}

fn count_to(schema: SchemaView<'_>, keyword: &str, most: u64) -> u64 {
    schema.size(keyword).unwrap_or_default().min(most)
}
