//! Values that break one of the constraints of a schema on the value itself.

use billhook::FieldError;
use billhook_apimachinery::value::deep_clone;
use billhook_generation::{numbered, sample};
use billhook_schema::SchemaView;
use billhook_validation::Format;
use serde_json::{Map, Value, json};

use super::UntestedReason;

/// How many characters a text is given to be too long.
const MAX_LENGTH: u64 = 5_000;
/// How many items and members a value is given to be too large.
const MAX_COUNT: u64 = 300;

/// A constraint on a value, and values that may break it.
pub(super) struct Breach {
    /// The keyword of the schema.
    pub(super) keyword: &'static str,
    /// The constraint in words, after the field.
    pub(super) words: String,
    pub(super) values: Vec<Value>,
    /// Why it has no case if none of the values breaks it.
    pub(super) reason: UntestedReason,
    refusal: Refusal,
}

/// How a server reports that a constraint is broken: by the reason of an error, and a part of its
/// detail.
#[derive(Clone, Copy)]
struct Refusal(&'static str, &'static str);

const INVALID: &str = "FieldValueInvalid";

impl Breach {
    fn new(keyword: &'static str, refusal: Refusal, words: String, values: Vec<Value>) -> Self {
        Breach { keyword, words, values, reason: UntestedReason::NotFound, refusal }
    }

    /// The breach with the reason for which it has no case, where that is so.
    fn untested(mut self, is_so: bool, reason: UntestedReason) -> Self {
        if is_so {
            (self.values, self.reason) = (Vec::new(), reason);
        }
        self
    }

    /// Whether an error is about the constraint.
    pub(super) fn is_reported_by(&self, error: &FieldError) -> bool {
        let Refusal(reason, detail) = self.refusal;
        error.error_type().reason() == reason && error.detail().contains(detail)
    }
}

/// Returns the constraints of a schema on a value; without a value, they have no values that break
/// them.
pub(super) fn breaches(schema: SchemaView<'_>, value: Option<&Value>) -> Vec<Breach> {
    let mut found = Vec::new();
    if let Some(known) = schema.keyword("enum").and_then(Value::as_array) {
        let others = [json!("other"), json!(-1), json!(""), json!(true), json!(false)];
        let is_like = |other: &Value| {
            known.first().is_some_and(|it| {
                (it.is_string(), it.is_boolean()) == (other.is_string(), other.is_boolean())
            })
        };
        let values = others.into_iter().filter(|it| !known.contains(it) && is_like(it)).collect();
        let refusal = Refusal("FieldValueNotSupported", "");
        found.push(Breach::new("enum", refusal, "is one of the values of its enum".into(), values));
    }
    numbers(schema, &mut found);
    texts(schema, value, &mut found);
    lists(schema, value, &mut found);
    objects(schema, value, &mut found);
    if value.is_none() {
        found.iter_mut().for_each(|breach| breach.values.clear());
    }
    found
}

fn numbers(schema: SchemaView<'_>, found: &mut Vec<Breach>) {
    let bounds = [
        ("minimum", "exclusiveMinimum", "greater than", ["at least", "more than"], -1),
        ("maximum", "exclusiveMaximum", "less than", ["at most", "less than"], 1),
    ];
    for (keyword, exclusive, refusal, [inclusive_words, exclusive_words], step) in bounds {
        let Some(bound) = schema.keyword(keyword).filter(|bound| bound.is_number()) else {
            continue;
        };
        let (words, broken) = match (schema.is_set(exclusive), whole(bound)) {
            (true, _) => (exclusive_words, deep_clone(bound)),
            (false, Some(bound)) => (inclusive_words, bound.saturating_add(step).into()),
            (false, None) => {
                let bound = bound.as_f64().unwrap_or_default();
                (inclusive_words, json!(bound + step as f64))
            }
        };
        let words = format!("is {words} {bound}");
        found.push(Breach::new(keyword, Refusal(INVALID, refusal), words, vec![broken]));
    }
    if let Some(step) = schema.keyword("multipleOf").and_then(whole).filter(|step| *step > 1) {
        let words = format!("is a multiple of {step}");
        let values = vec![(step + 1).into(), 1.into()];
        found.push(Breach::new("multipleOf", Refusal(INVALID, "multiple of"), words, values));
    }
}

/// A number without a fraction.
fn whole(number: &Value) -> Option<i64> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15);
    number.as_i64().or_else(|| float.map(|float| float as i64))
}

fn texts(schema: SchemaView<'_>, value: Option<&Value>, found: &mut Vec<Breach>) {
    if let Some(least) = schema.size("minLength").filter(|least| *least > 0) {
        let short = "a".repeat(usize::try_from(least.min(MAX_LENGTH)).unwrap_or(1) - 1);
        let words = format!("has at least {least} characters");
        let refusal = Refusal(INVALID, "chars long");
        found.push(Breach::new("minLength", refusal, words, vec![short.into()]));
    }
    if let Some(most) = schema.size("maxLength") {
        let own = value.and_then(Value::as_str).unwrap_or("a");
        let filler = own.chars().last().unwrap_or('a').to_string();
        let missing = (most.min(MAX_LENGTH) as usize + 1).saturating_sub(own.chars().count());
        let long = format!("{own}{}", filler.repeat(missing));
        let words = format!("has at most {most} characters");
        let refusal = Refusal("FieldValueTooLong", "");
        let breach = Breach::new("maxLength", refusal, words, vec![long.into()]);
        found.push(breach.untested(most >= MAX_LENGTH, UntestedReason::TooLarge));
    }
    let (pattern, format) = (schema.text("pattern"), schema.text("format"));
    if !pattern.is_empty() {
        let own = value.and_then(Value::as_str).unwrap_or_default();
        let values = unmatched(pattern, own, schema.size("minLength"), schema.size("maxLength"));
        let refusal = Refusal(INVALID, "should match");
        found.push(Breach::new("pattern", refusal, format!("matches {pattern}"), values));
    }
    if schema.text("type") == "string" && Format::named(format).is_some() {
        let values = ["?", "", "\u{e9}", "%zz"].map(Value::from).to_vec();
        let refusal = Refusal("FieldValueTypeInvalid", "must be of type");
        let words = format!("has the format {format}");
        found.push(Breach::new("format", refusal, words, values));
    }
}

/// Texts of the right length that do not match a pattern.
fn unmatched(pattern: &str, own: &str, least: Option<u64>, most: Option<u64>) -> Vec<Value> {
    let Ok(matcher) = billhook_regex::Pattern::new(pattern) else { return Vec::new() };
    let plain = ["", "!", "a b", "-", "A", "1", "a", "\u{e9}", "..", "x!y", "/", "_", " ", "\n"];
    let least = usize::try_from(least.unwrap_or_default().min(MAX_LENGTH)).unwrap_or_default();
    let repeated = plain.into_iter().map(|text| match text.chars().count() {
        0 => text.to_owned(),
        length => text.repeat(least.div_ceil(length).max(1)),
    });
    let near = [format!("{own}!"), format!("!{own}"), own.to_uppercase(), format!("{own} ")];
    let long = ["a".repeat(64), "a".repeat(300), "a.".repeat(150), "/a".repeat(300)];
    let fits = |text: &String| {
        let length = text.chars().count() as u64;
        length >= least as u64 && most.is_none_or(|most| length <= most)
    };
    let texts = repeated.chain(near).chain(long).filter(fits);
    texts.filter(|text| !matcher.is_match(text)).take(4).map(Value::from).collect()
}

fn lists(schema: SchemaView<'_>, value: Option<&Value>, found: &mut Vec<Breach>) {
    let Some(part) = schema.items() else { return };
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let item = items.first().map_or_else(|| sample(part.written()), deep_clone);
    if let Some(least) = schema.size("minItems").filter(|least| *least > 0) {
        let words = format!("has at least {least} items");
        let fewer = items.iter().take(least as usize - 1).map(deep_clone).collect();
        let refusal = Refusal(INVALID, "should have at least");
        found.push(Breach::new("minItems", refusal, words, vec![fewer]));
    }
    if let Some(most) = schema.size("maxItems") {
        let words = format!("has at most {most} items");
        let is_free = part.keyword("enum").is_none();
        let numbers = 0..=most.min(MAX_COUNT);
        let more = numbers
            .map(|number| numbered(schema.written(), &item, if is_free { number } else { 0 }));
        let refusal = Refusal("FieldValueTooMany", "");
        let breach = Breach::new("maxItems", refusal, words, vec![more.collect()]);
        found.push(breach.untested(most >= MAX_COUNT, UntestedReason::TooLarge));
    }
    if matches!(schema.text("x-kubernetes-list-type"), "set" | "map") {
        let twice = json!([deep_clone(&item), item]);
        let refusal = Refusal("FieldValueDuplicate", "");
        let words = "has no item twice".to_owned();
        found.push(Breach::new("x-kubernetes-list-type", refusal, words, vec![twice]));
    }
}

fn objects(schema: SchemaView<'_>, value: Option<&Value>, found: &mut Vec<Breach>) {
    let none = Map::new();
    let members = value.and_then(Value::as_object).unwrap_or(&none);
    if let Some(least) = schema.size("minProperties").filter(|least| *least > 0) {
        let fewer = members.iter().take(least as usize - 1);
        let fewer = fewer.map(|(name, member)| (name.clone(), deep_clone(member)));
        let words = format!("has at least {least} members");
        let refusal = Refusal(INVALID, "should have at least");
        let values = vec![Value::Object(fewer.collect())];
        found.push(Breach::new("minProperties", refusal, words, values));
    }
    if let Some(most) = schema.size("maxProperties") {
        let mut more = members.clone();
        for (name, part) in schema.properties() {
            if more.len() as u64 <= most && !more.contains_key(name) {
                more.insert(name.to_owned(), sample(part.written()));
            }
        }
        let additional = schema.additional();
        let preserved = schema.is_set("x-kubernetes-preserve-unknown-fields");
        let additional = additional.or(preserved.then_some(SchemaView::new(&Value::Null)));
        let mut number = 0;
        while let (Some(part), true) = (additional, more.len() as u64 <= most.min(MAX_COUNT)) {
            more.insert(format!("key{number}"), sample(part.written()));
            number += 1;
        }
        let words = format!("has at most {most} members");
        let refusal = Refusal("FieldValueTooMany", "");
        // Others are pruned.
        let is_kept = additional.is_none() && more.len() as u64 <= most;
        let breach = Breach::new("maxProperties", refusal, words, vec![Value::Object(more)]);
        let breach = breach.untested(most >= MAX_COUNT, UntestedReason::TooLarge);
        found.push(breach.untested(is_kept, UntestedReason::NeverFails));
    }
}
