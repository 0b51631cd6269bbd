//! The constraints of a schema, and objects that break them.

use billhook::{FieldError, FieldPath, Segment};
use billhook_apimachinery::value::{deep_clone, deep_eq, grow};
use billhook_generation::{FIXED, Hints, MAX_DEPTH, Oracle, changes, find, replaced};
use billhook_schema::{SchemaStep, SchemaView};
use serde_json::Value;

use super::broken::{Breach, breaches};
use super::{UntestedConstraint, UntestedReason};

/// How many objects are tried to break a combination of schemas.
const MAX_JUNCTOR_TRIES: usize = 200;
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
    pub(super) changed: Option<(FieldPath, Value)>,
    /// Whether only the status is updated.
    pub(super) is_status: bool,
    pub(super) error: FieldError,
    /// Whether only its text distinguishes the error from others of the field.
    pub(super) needs_text: bool,
}

/// The search for what breaks the constraints of a schema.
pub(super) struct Constraints<'c> {
    pub(super) oracle: &'c Oracle<'c>,
    schema: SchemaView<'c>,
    valid: &'c Value,
    pub(super) found: Vec<Broken>,
    pub(super) untested: Vec<UntestedConstraint>,
}

impl<'c> Constraints<'c> {
    pub(super) fn new(oracle: &'c Oracle<'c>, schema: SchemaView<'c>, valid: &'c Value) -> Self {
        let (found, untested) = (Vec::new(), Vec::new());
        Constraints { oracle, schema, valid, found, untested }
    }

    /// Looks for an object that breaks each constraint.
    pub(super) fn search(&mut self) {
        let (schema, valid) = (self.schema, deep_clone(self.valid));
        self.node(schema, Some(&valid), &FieldPath::default(), "");
    }

    /// The constraints of a schema and below; the object is valid and has a value there. Without an
    /// object they stay untested.
    fn node(
        &mut self,
        schema: SchemaView<'c>,
        object: Option<&Value>,
        at: &FieldPath,
        pointer: &str,
    ) {
        if at.segments().count() > MAX_DEPTH {
            return;
        }
        self.oracle.allow_more();
        let object = object.filter(|_| !self.oracle.is_exhausted() && !self.is_full());
        self.required(schema, object, at);
        for breach in breaches(schema, object.and_then(|object| find(object, at))) {
            self.breach(&breach, object, at);
        }
        self.junctors(schema, object, at);
        for (index, rule) in schema.list("x-kubernetes-validations").enumerate() {
            self.rule(rule, (pointer, index), schema, object, at);
        }
        grow(|| self.below(schema, object, at, pointer));
    }

    fn below(
        &mut self,
        schema: SchemaView<'c>,
        object: Option<&Value>,
        at: &FieldPath,
        pointer: &str,
    ) {
        let (oracle, valid): (&'c Oracle<'c>, &'c Value) = (self.oracle, self.valid);
        for (step, part) in schema.parts() {
            let place = at.clone();
            let place = match step {
                SchemaStep::Property(name) => place.name(name),
                SchemaStep::AdditionalProperties => place.name("key0"),
                SchemaStep::Items => place.index(0),
            };
            let top = place.segments().next().filter(|_| at.is_empty());
            if matches!(top, Some(Segment::Name(name)) if FIXED.contains(&name)) {
                continue;
            }
            let keyword = step.add_to(FieldPath::default()).to_json_pointer();
            let pointer = format!("{pointer}{keyword}");
            let mut look = || {
                let object = object.and_then(|object| self.oracle.with(object, part, &place));
                self.node(part, object.as_ref(), &place, &pointer);
            };
            match top == Some(Segment::Name("status")) && oracle.has_status() {
                // A creation drops the status.
                true => oracle.with_status_of(valid, look),
                false => look(),
            }
        }
    }

    fn required(&mut self, schema: SchemaView<'_>, object: Option<&Value>, at: &FieldPath) {
        for name in schema.texts("required") {
            // With a default it is never missing.
            let property = schema.property(name);
            let is_fixed = at.is_empty() && FIXED.contains(&name);
            if is_fixed || property.is_some_and(|property| property.keyword("default").is_some()) {
                continue;
            }
            let place = at.clone().name(name);
            let words = format!("{} is required", shown(&place));
            let is_own = |error: &FieldError| {
                error.error_type().reason() == "FieldValueRequired" && is_of(error, &place)
            };
            let is_found = object.is_some_and(|object| {
                self.add(&words, replaced(object, &place, None), None, &is_own)
            });
            if !is_found {
                self.leave("required", &place, &words, self.reason(object));
            }
        }
    }

    /// Adds a case with another value at a place.
    fn breach(&mut self, breach: &Breach, object: Option<&Value>, at: &FieldPath) {
        let name = format!("{} {}", shown(at), breach.words);
        let is_found = object.is_some_and(|object| {
            let is_alone = deep_eq(object, self.valid);
            breach.values.iter().any(|value| {
                let changed = replaced(object, at, Some(deep_clone(value)));
                let change = is_alone.then(|| (at.clone(), deep_clone(value)));
                let is_own = |error: &FieldError| breach.is_reported_by(error) && is_of(error, at);
                self.add(&name, changed, change, &is_own)
            })
        });
        if !is_found {
            let reason = match breach.reason {
                UntestedReason::NotFound => self.reason(object),
                known => known,
            };
            self.leave(breach.keyword, at, &name, reason);
        }
    }

    /// Adds cases that break combinations of schemas.
    fn junctors(&mut self, schema: SchemaView<'_>, object: Option<&Value>, at: &FieldPath) {
        let is_either = schema.is_set("x-kubernetes-int-or-string");
        for keyword in ["allOf", "anyOf", "oneOf", "not"] {
            if schema.keyword(keyword).is_none() || is_either {
                continue;
            }
            let (name, shown_keyword) =
                (format!("{} keeps {keyword}", shown(at)), format!("({keyword})"));
            let field = if at.is_empty() { String::new() } else { shown(at) };
            // Such an error names its field in its text only.
            let is_own = |error: &FieldError| {
                error.detail().contains(&shown_keyword) && error.detail().contains(&field)
            };
            let is_found = object.is_some_and(|object| {
                let Some(value) = find(object, at) else { return false };
                let tries = changes(schema.written(), value, &Hints::default()).into_iter();
                tries.take(MAX_JUNCTOR_TRIES).any(|value| {
                    let changed = replaced(object, at, Some(value));
                    self.add(&name, changed, None, &is_own)
                })
            });
            if !is_found {
                self.leave(keyword, at, &name, self.reason(object));
            }
        }
    }

    /// Adds a case if the object is refused with an error about the constraint.
    fn add(
        &mut self,
        name: &str,
        object: Value,
        changed: Option<(FieldPath, Value)>,
        is_own: &dyn Fn(&FieldError) -> bool,
    ) -> bool {
        let mut errors = self.oracle.errors(&object, None).into_iter();
        let Some(error) = errors.find(|error| is_own(error)) else { return false };
        let old = self.oracle.status_of();
        let is_status = old.is_some();
        let name = name.to_owned();
        // An error without a field is one of many.
        let needs_text = error.field().segments().next().is_none();
        self.found.push(Broken { name, object, old, changed, is_status, error, needs_text });
        true
    }

    fn is_full(&self) -> bool {
        self.found.len() > MAX_CASES
    }

    /// Why a constraint has no case after all objects were tried.
    pub(super) fn reason(&self, object: Option<&Value>) -> UntestedReason {
        match object {
            _ if self.is_full() => UntestedReason::Full,
            Some(_) => UntestedReason::NotFound,
            None => UntestedReason::NoValue,
        }
    }

    /// Notes a constraint without a case.
    pub(super) fn leave(
        &mut self,
        keyword: &'static str,
        at: &FieldPath,
        words: &str,
        reason: UntestedReason,
    ) {
        self.untested.push(UntestedConstraint {
            keyword,
            reason,
            field: shown(at),
            words: words.split_whitespace().collect::<Vec<_>>().join(" "),
        });
    }
}

/// Whether an error is about a place or below it.
fn is_of(error: &FieldError, at: &FieldPath) -> bool {
    at.is_empty() || error.field().to_string().starts_with(&shown(at))
}

/// A place as errors name it.
fn shown(place: &FieldPath) -> String {
    if place.is_empty() { "the object".to_owned() } else { place.to_string() }
}
