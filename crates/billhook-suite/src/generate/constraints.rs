//! The constraints of a schema, and values that break them.

use billhook::FieldError;
use billhook_apimachinery::value::{deep_clone, deep_eq, grow, sorted};
use serde_json::{Value, json};

use super::changes::{FIXED, MAX_DEPTH, changes, numbered};
use super::oracle::Oracle;
use super::sample::{is_set, required, sample, text};
use super::{Step, find, replaced};

/// How many items and letters a value is given to be too large.
const MAX_SIZE: u64 = 1_000;
/// How many objects are tried to violate a rule.
const MAX_RULE_TRIES: usize = 500;
/// How many constraints become cases.
const MAX_CASES: usize = 2_000;

/// An object that a server refuses because of one constraint.
pub(super) struct Broken {
    /// The constraint in words.
    pub(super) name: String,
    pub(super) object: Value,
    /// The object that it is an update of.
    pub(super) old: Option<Value>,
    /// The place of the value that was changed, if the rest is that of the valid object.
    pub(super) changed: Option<(Vec<Step>, Value)>,
    /// Whether only the status is updated.
    pub(super) is_status: bool,
    pub(super) error: FieldError,
}

/// The search for what breaks the constraints of a schema.
pub(super) struct Constraints<'c> {
    pub(super) oracle: &'c Oracle,
    pub(super) schema: &'c Value,
    pub(super) valid: &'c Value,
    pub(super) found: Vec<Broken>,
}

impl<'c> Constraints<'c> {
    /// Looks for an object that breaks each constraint.
    pub(super) fn search(&mut self) {
        let (schema, valid) = (self.schema, deep_clone(self.valid));
        self.node(schema, &valid, &mut Vec::new(), "");
    }

    /// The constraints of a schema and below; the object is valid and has a value there.
    fn node(&mut self, schema: &Value, object: &Value, steps: &mut Vec<Step>, pointer: &str) {
        if steps.len() > MAX_DEPTH || self.oracle.is_exhausted() || self.found.len() > MAX_CASES {
            return;
        }
        let Some(value) = find(object, steps).map(deep_clone) else { return };
        for name in required(schema) {
            // With a default it is never missing.
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let is_fixed = steps.is_empty() && FIXED.contains(&name);
            if is_fixed || property.is_some_and(|property| property.get("default").is_some()) {
                continue;
            }
            let mut place = steps.clone();
            place.push(Step::Name(name.to_owned()));
            let field = shown(&place);
            let without = replaced(object, &place, None);
            self.add(format!("{field} is required"), without, None, &field);
        }
        for (name, broken) in broken_values(schema, &value) {
            self.value(&name, object, steps, broken);
        }
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
        for (index, rule) in rules.into_iter().flatten().enumerate() {
            self.rule(rule, (pointer, index), schema, object, steps);
        }
        grow(|| self.below(schema, object, steps, pointer));
    }

    fn below(&mut self, schema: &Value, object: &Value, steps: &mut Vec<Step>, pointer: &str) {
        let (oracle, valid): (&'c Oracle, &'c Value) = (self.oracle, self.valid);
        let properties = schema.get("properties").and_then(Value::as_object);
        let named = properties.map(sorted).into_iter().flatten().map(|(name, part)| {
            let escaped = name.replace('~', "~0").replace('/', "~1");
            (Step::Name(name.clone()), part, format!("/properties/{escaped}"))
        });
        let additional = schema.get("additionalProperties").filter(|part| part.is_object());
        let additional = additional
            .map(|part| (Step::Name("key0".to_owned()), part, "/additionalProperties".to_owned()));
        let items = schema.get("items").filter(|part| part.is_object());
        let items = items.map(|part| (Step::Index(0), part, "/items".to_owned()));
        let parts: Vec<_> = named.chain(additional).chain(items).collect();
        for (step, part, keyword) in parts {
            if steps.is_empty() && matches!(&step, Step::Name(name) if FIXED.contains(&&**name)) {
                continue;
            }
            let is_status = steps.is_empty() && step == Step::Name("status".to_owned());
            let pointer = format!("{pointer}{keyword}");
            steps.push(step);
            let mut look = || {
                if let Some(object) = self.with(object, part, steps) {
                    self.node(part, &object, steps, &pointer);
                }
            };
            match is_status && oracle.has_status() {
                // A creation drops the status.
                true => oracle.with_status_of(valid, look),
                false => look(),
            }
            steps.pop();
        }
    }

    /// The object, or one like it with a value at a place, if a server accepts that.
    fn with(&self, object: &Value, schema: &Value, steps: &[Step]) -> Option<Value> {
        if find(object, steps).is_some_and(|value| !value.is_null()) {
            return Some(deep_clone(object));
        }
        let default = schema.get("default").map(deep_clone);
        let values = default.into_iter().chain([sample(schema)]);
        let mut objects = values.map(|value| replaced(object, steps, Some(value)));
        objects.find_map(|object| match self.oracle.accepts(&object, None) {
            true => Some(object),
            false => self
                .oracle
                .valid_near(self.schema, &object)
                .filter(|near| find(near, steps).is_some_and(|value| !value.is_null())),
        })
    }

    /// Adds a case with another value at a place.
    fn value(&mut self, name: &str, object: &Value, steps: &[Step], value: Value) {
        let field = shown(steps);
        let changed = replaced(object, steps, Some(deep_clone(&value)));
        let is_alone = deep_eq(object, self.valid);
        let change = is_alone.then(|| (steps.to_vec(), value));
        self.add(format!("{field} {name}"), changed, change, &field);
    }

    /// Adds a case if the object is refused with an error of the field or below it.
    fn add(
        &mut self,
        name: String,
        object: Value,
        changed: Option<(Vec<Step>, Value)>,
        field: &str,
    ) {
        let errors = self.oracle.errors(&object, None);
        let exact = errors.iter().find(|error| error.field().to_string() == field);
        let of_field = |error: &&FieldError| error.field().to_string().starts_with(field);
        if let Some(error) = exact.or_else(|| errors.iter().find(of_field)).cloned() {
            let old = self.oracle.status_of();
            let is_status = old.is_some();
            self.found.push(Broken { name, object, old, changed, is_status, error });
        }
    }

    /// Looks for an object that violates a rule and nothing else, first as a new one.
    fn rule(
        &mut self,
        rule: &Value,
        place: (&str, usize),
        schema: &Value,
        object: &Value,
        steps: &[Step],
    ) {
        let Some(value) = find(object, steps) else { return };
        let whole = |value: Value| match steps.is_empty() {
            true => value,
            false => replaced(object, steps, Some(value)),
        };
        let once: Vec<Value> = changes(schema, value).collect();
        let twice = once.iter().flat_map(|changed| changes(schema, changed));
        let tries = once.iter().map(deep_clone).chain(twice).take(MAX_RULE_TRIES).map(whole);
        let uses_old = text(rule, "rule").contains("oldSelf");
        let mut fallback = None;
        let before = uses_old.then_some(object);
        for object in tries {
            let old = before.map(deep_clone);
            let Some(errors) = self.oracle.violation(&object, old.as_ref(), place) else {
                continue;
            };
            let Some(error) = errors.first().cloned() else { continue };
            let name = match text(rule, "message").trim() {
                "" => text(rule, "rule").trim().to_owned(),
                message => message.to_owned(),
            };
            let is_alone = errors.len() == 1;
            let status_of = self.oracle.status_of();
            let is_status = status_of.is_some();
            let old = old.or(status_of);
            let broken = Broken { name, object, old, changed: None, is_status, error };
            if is_alone {
                self.found.push(broken);
                return;
            }
            fallback = fallback.or(Some(broken));
        }
        self.found.extend(fallback);
    }
}

/// Values that break the constraints of a schema on a value itself, with the constraints in words.
fn broken_values(schema: &Value, value: &Value) -> Vec<(String, Value)> {
    let mut broken = Vec::new();
    let whole = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
    if let Some(known) = schema.get("enum").and_then(Value::as_array) {
        let others = [json!("other"), json!(-1), json!("")];
        let other = others.into_iter().find(|other| {
            !known.contains(other)
                && known.first().is_some_and(|it| it.is_string() == other.is_string())
        });
        broken.extend(other.map(|other| ("is one of the values of its enum".to_owned(), other)));
    }
    for (keyword, words, step) in [("minimum", "at least", -1), ("maximum", "at most", 1)] {
        let Some(bound) = whole(keyword) else { continue };
        let exclusive = match keyword {
            "minimum" => is_set(schema, "exclusiveMinimum"),
            _ => is_set(schema, "exclusiveMaximum"),
        };
        let (words, over) = match (exclusive, keyword) {
            (true, "minimum") => ("more than", bound),
            (true, _) => ("less than", bound),
            (false, _) => (words, bound.saturating_add(step)),
        };
        broken.push((format!("is {words} {bound}"), over.into()));
    }
    if let Some(step) = whole("multipleOf").filter(|step| *step > 1) {
        broken.push((format!("is a multiple of {step}"), (step + 1).into()));
    }
    sizes(schema, value, &mut broken);
    let (pattern, format) = (text(schema, "pattern"), text(schema, "format"));
    if !pattern.is_empty() {
        let matches = billhook_regex::Pattern::new(pattern);
        let others = ["", "!", "a b", "-", "A", "1", "\u{e9}", "..", "x!y"];
        let other = others.iter().find(|it| matches.as_ref().is_ok_and(|re| !re.is_match(it)));
        broken.extend(other.map(|it| (format!("matches {pattern}"), json!(it))));
    }
    if !format.is_empty() && text(schema, "type") == "string" {
        broken.push((format!("has the format {format}"), json!("?")));
    }
    broken
}

/// Values that are too small or too large.
fn sizes(schema: &Value, value: &Value, broken: &mut Vec<(String, Value)>) {
    let size = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let enough = |keyword: &str| size(keyword).filter(|size| (1..=MAX_SIZE).contains(size));
    if let Some(least) = enough("minLength") {
        broken.push((
            format!("has at least {least} characters"),
            "a".repeat(least as usize - 1).into(),
        ));
    }
    if let Some(most) = size("maxLength").filter(|most| *most < MAX_SIZE) {
        let text = value.as_str().unwrap_or("a");
        let filler = text.chars().last().unwrap_or('a').to_string();
        let missing = (most as usize + 1).saturating_sub(text.chars().count());
        broken.push((
            format!("has at most {most} characters"),
            format!("{text}{}", filler.repeat(missing)).into(),
        ));
    }
    if let (Some(least), Some(items)) = (enough("minItems"), value.as_array()) {
        let fewer = items.iter().take(least as usize - 1).map(deep_clone);
        broken.push((format!("has at least {least} items"), fewer.collect()));
    }
    if let (Some(most), Some(items)) =
        (size("maxItems").filter(|most| *most <= 100), schema.get("items"))
    {
        let item = value.get(0).map_or_else(|| sample(items), deep_clone);
        let is_free = items.get("enum").is_none();
        let more = (0..=most).map(|number| numbered(&item, if is_free { number } else { 0 }));
        broken.push((format!("has at most {most} items"), more.collect()));
    }
    if let (Some(least), Some(members)) = (enough("minProperties"), value.as_object()) {
        let fewer = members.iter().take(least as usize - 1);
        let fewer = fewer.map(|(name, member)| (name.clone(), deep_clone(member)));
        broken.push((format!("has at least {least} members"), Value::Object(fewer.collect())));
    }
    let additional = schema.get("additionalProperties").filter(|part| part.is_object());
    if let (Some(most), Some(part)) =
        (size("maxProperties").filter(|most| *most <= 100), additional)
    {
        let more = (0..=most).map(|number| (format!("key{number}"), sample(part)));
        broken.push((format!("has at most {most} members"), Value::Object(more.collect())));
    }
    if matches!(text(schema, "x-kubernetes-list-type"), "set" | "map")
        && let Some(item) = value.get(0)
    {
        let twice = json!([deep_clone(item), deep_clone(item)]);
        broken.push(("has no item twice".to_owned(), twice));
    }
}

/// A place as errors name it.
fn shown(steps: &[Step]) -> String {
    let mut path = billhook::FieldPath::default();
    for step in steps {
        path = match step {
            Step::Name(name) => path.name(name),
            Step::Index(index) => path.index(*index),
        };
    }
    if steps.is_empty() { "the object".to_owned() } else { path.to_string() }
}
