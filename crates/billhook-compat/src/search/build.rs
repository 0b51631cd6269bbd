//! Objects that a definition accepts, with a certain value at a certain place.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use billhook::{CrdVersion, FieldPath, Segment, to_json};
use billhook_apimachinery::value::{deep_clone, deep_eq};
use billhook_generation::{
    Hints, Oracle, changes, find, near, numbered, parent, replaced, sample_object, schema_at,
};
use billhook_schema::{JsonSchemaProps, SchemaView};
use billhook_validation::Validator;
use serde_json::Value;

use crate::limits::MAX_VALUES;

/// Makes objects of a version.
pub(crate) struct Builder<'s> {
    pub(crate) version: CrdVersion,
    pub(crate) schema: &'s Value,
    pub(crate) oracle: Oracle<'s>,
    base: OnceCell<Option<Value>>,
    /// The values that no object was found for: the object around, the place and the value.
    failed: RefCell<BTreeSet<[String; 3]>>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(version: CrdVersion, schema: &'s Value) -> Self {
        let oracle = Oracle::new(version.clone(), schema);
        Builder { version, schema, oracle, base: OnceCell::new(), failed: RefCell::default() }
    }

    /// The smallest object that was found; none if none was.
    pub(crate) fn base(&self) -> Option<&Value> {
        let find = || self.oracle.valid_near(&sample_object(&self.version, self.schema), &|_| true);
        self.base.get_or_init(find).as_ref()
    }

    /// Does something to objects in which the status is written on its own, if the place is in it.
    pub(crate) fn at<R>(&self, path: &FieldPath, work: impl FnOnce() -> Option<R>) -> Option<R> {
        let is_status = path.segments().next() == Some(billhook::Segment::Name("status"));
        if !is_status || !self.oracle.has_status() {
            return work();
        }
        let base = deep_clone(self.base()?);
        let mut result = None;
        self.oracle.with_status_of(&base, || result = work());
        result
    }

    /// An object that is accepted and has a value around a place.
    pub(crate) fn around(&self, path: &FieldPath) -> Option<Value> {
        let mut object = deep_clone(self.base()?);
        let Some(parent) = parent(path) else { return Some(object) };
        let count = parent.segments().count();
        for length in 1..=count {
            let place: FieldPath = parent.segments().take(length).collect();
            self.oracle.allow_more();
            let schema = schema_at(self.schema, &place).map(SchemaView::new);
            let with = |schema| self.oracle.with(&object, schema, &place);
            object = schema.and_then(with).or_else(|| {
                // What is kept has no schema.
                let made = replaced(&object, &place, Some(serde_json::json!({})));
                self.oracle.accepts(&made, None).then_some(made)
            })?;
        }
        Some(object)
    }

    /// An object that is accepted and has a value at a place.
    pub(crate) fn with(&self, around: &Value, path: &FieldPath, value: &Value) -> Option<Value> {
        let known = [to_json(around), path.to_string(), to_json(value)];
        if self.failed.borrow().contains(&known) {
            return None;
        }
        let has_value = |object: &Value| find(object, path).is_some_and(|it| deep_eq(it, value));
        let with = |around: &Value| {
            self.oracle.allow_more();
            let object = replaced(around, path, Some(deep_clone(value)));
            if has_value(&object) { self.oracle.valid_near(&object, &has_value) } else { None }
        };
        // Rules may ask for the same of the other elements, or for another element.
        let found = with(around)
            .or_else(|| with(&without_others(around, path)?))
            .or_else(|| with(&self.with_another(around, path)?));
        if found.is_none() {
            self.failed.borrow_mut().insert(known);
        }
        found
    }

    /// An object that is accepted and has any value at a place.
    pub(crate) fn with_any(&self, around: &Value, path: &FieldPath) -> Option<Value> {
        self.oracle.allow_more();
        let schema = schema_at(self.schema, path)?;
        self.oracle.with(around, SchemaView::new(schema), path)
    }

    /// An object that is accepted and has no value at a place.
    pub(crate) fn without(&self, around: &Value, path: &FieldPath) -> Option<Value> {
        let without = |around: &Value| {
            self.oracle.allow_more();
            let object = replaced(around, path, None);
            self.oracle.valid_near(&object, &|object| find(object, path).is_none())
        };
        without(around).or_else(|| without(&self.with_another(around, path)?))
    }

    /// An object that is accepted and has a second element in the innermost list around a place; none
    /// without a list.
    fn with_another(&self, around: &Value, path: &FieldPath) -> Option<Value> {
        let segments: Vec<Segment<'_>> = path.segments().collect();
        let at = segments.iter().rposition(|segment| *segment == Segment::Index(0))?;
        let place: FieldPath = path.segments().take(at).collect();
        let first = find(around, &FieldPath::index(place.clone(), 0))?;
        let list = schema_at(self.schema, &place)?;
        let second = numbered(list, first, 1);
        let object = replaced(around, &FieldPath::index(place.clone(), 1), Some(second));
        self.oracle.valid_near(&object, &|object| {
            find(object, &place).and_then(Value::as_array).is_some_and(|list| list.len() > 1)
        })
    }
}

/// The object without the elements beside those on the way to a place; none if there are none.
fn without_others(object: &Value, path: &FieldPath) -> Option<Value> {
    let mut alone = deep_clone(object);
    for length in 1..=path.segments().count() {
        let place: FieldPath = path.segments().take(length).collect();
        if path.segments().nth(length) == Some(Segment::Index(0))
            && let Some(Value::Array(items)) = alone.pointer_mut(&place.to_json_pointer())
        {
            items.truncate(1);
        }
    }
    (!deep_eq(&alone, object)).then_some(alone)
}

/// Values that one schema admits and another one does not because of a keyword, near the smallest of
/// the first.
pub(crate) fn told_apart(
    document: &Value,
    from: &JsonSchemaProps,
    (keyword, to): (&str, &JsonSchemaProps),
    start: Option<&Value>,
) -> Vec<Value> {
    let alone = bound(keyword, to);
    let (from, to) = (Validator::new(from), Validator::new(alone.as_ref().unwrap_or(to)));
    let start = start.map_or_else(|| billhook_generation::sample(document), deep_clone);
    let hints = Hints::default();
    let once = changes(document, &start, &hints);
    let twice = once.iter().take(20).flat_map(|value| changes(document, value, &hints));
    let once = once.iter().map(deep_clone);
    let all = [deep_clone(&start)].into_iter().chain(once).chain(twice.take(MAX_VALUES));
    let all = all.chain(near(document, &start, &hints).take(MAX_VALUES));
    let apart = |value: &Value| from.is_valid(value) && !to.is_valid(value);
    all.filter(|value| apart(value)).take(8).collect()
}

/// A schema with nothing but a bound of another one.
fn bound(keyword: &str, schema: &JsonSchemaProps) -> Option<JsonSchemaProps> {
    let mut alone = JsonSchemaProps::default();
    match keyword {
        "minimum" => {
            alone.minimum = schema.minimum;
            alone.exclusive_minimum = schema.exclusive_minimum;
        }
        "maximum" => {
            alone.maximum = schema.maximum;
            alone.exclusive_maximum = schema.exclusive_maximum;
        }
        "minLength" => alone.min_length = schema.min_length,
        "maxLength" => alone.max_length = schema.max_length,
        "minItems" => alone.min_items = schema.min_items,
        "maxItems" => alone.max_items = schema.max_items,
        "pattern" => alone.pattern.clone_from(&schema.pattern),
        _ => return None,
    }
    alone.type_.clone_from(&schema.type_);
    Some(alone)
}
