//! Objects that together have all fields of a schema.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::value::{deep_clone, grow};
use billhook_schema::{SchemaStep, SchemaView};
use serde_json::{Value, json};

use crate::changes::{FIXED, MAX_DEPTH, changes};
use crate::hints::Hints;
use crate::oracle::Oracle;
use crate::place::{find, replaced};
use crate::sample::{sample, sample_object};

/// How many fields are filled.
const MAX_FIELDS: usize = 10_000;

/// Objects that together have all fields of a schema, where such objects were found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Covering {
    /// The objects, all of which a server accepts: the one with the most fields first.
    pub objects: Vec<Value>,
    /// The fields that none of them has, without those below.
    pub missing: Vec<FieldPath>,
}

/// The objects under way.
struct Filling<'o, 's> {
    oracle: &'o Oracle<'s>,
    /// The object that others begin with.
    base: Value,
    found: Covering,
    /// How many fields may still be filled.
    fields: usize,
}

impl Oracle<'_> {
    /// Returns objects that a server accepts and that together have the fields of the schema, where
    /// it can be done with values that say something: no empty texts, no zeros.
    pub fn covering(&self) -> Covering {
        let smallest = sample_object(&self.version, self.schema);
        let Some(base) = self.valid_near(&smallest, &|_| true) else {
            return Covering { objects: Vec::new(), missing: vec![FieldPath::default()] };
        };
        let mut object = deep_clone(&base);
        let found = Covering::default();
        let mut filling = Filling { oracle: self, base, found, fields: MAX_FIELDS };
        let schema = SchemaView::new(self.schema);
        filling.members(&mut object, schema, &FieldPath::default(), 0);
        filling.found.objects.insert(0, object);
        filling.found
    }
}

impl Filling<'_, '_> {
    /// Fills the fields of an object at a place, which is there.
    fn members(
        &mut self,
        object: &mut Value,
        schema: SchemaView<'_>,
        at: &FieldPath,
        depth: usize,
    ) {
        for (step, part) in schema.parts() {
            let at = at.clone();
            let at = match step {
                SchemaStep::Property(name) if depth == 0 && FIXED.contains(&name) => continue,
                SchemaStep::Property(name) => at.name(name),
                SchemaStep::AdditionalProperties => at.key("key0"),
                SchemaStep::Items => at.index(0),
            };
            self.part_of(object, part, &at, depth);
        }
    }

    /// Fills a field; the status is written on its own, if it is a subresource.
    fn part_of(&mut self, object: &mut Value, part: SchemaView<'_>, at: &FieldPath, depth: usize) {
        let is_status = depth == 0 && at.segments().next() == Some(Segment::Name("status"));
        if !is_status || !self.oracle.has_status() {
            return self.field(object, part, at, depth);
        }
        let oracle = self.oracle;
        let of = deep_clone(object);
        oracle.with_status_of(&of, || self.field(object, part, at, depth));
    }

    fn field(&mut self, object: &mut Value, part: SchemaView<'_>, at: &FieldPath, depth: usize) {
        let Some(rest) = self.fields.checked_sub(1).filter(|_| depth < MAX_DEPTH) else {
            return self.found.missing.push(at.clone());
        };
        self.fields = rest;
        self.oracle.allow_more();
        if let Some(filled) = self.filled(object, part, at) {
            *object = filled;
            return grow(|| self.members(object, part, at, depth + 1));
        }
        // What rules out another field has an object of its own.
        match self.alone(at) {
            Some(mut alone) => {
                grow(|| self.members(&mut alone, part, at, depth + 1));
                self.found.objects.push(alone);
            }
            None => self.found.missing.push(at.clone()),
        }
    }

    /// The smallest object with a value at a place, and what that needs.
    fn alone(&self, at: &FieldPath) -> Option<Value> {
        let count = at.segments().count();
        (1..=count).try_fold(deep_clone(&self.base), |object, length| {
            let place: FieldPath = at.segments().take(length).collect();
            self.oracle.allow_more();
            let part = SchemaView::new(self.oracle.schema).at(&place)?;
            self.oracle.with(&object, part, &place)
        })
    }

    /// The object with a value at a place that says something, if a server accepts that.
    fn filled(&self, object: &Value, part: SchemaView<'_>, at: &FieldPath) -> Option<Value> {
        let part = part.written();
        let start = find(object, at).map_or_else(|| sample(part), deep_clone);
        let telling = |value: &Value| !is_empty(value);
        let mut values = match start {
            Value::Object(_) | Value::Array(_) => vec![start],
            start => [vec![deep_clone(&start)], changes(part, &start, &Hints::default())].concat(),
        };
        values.sort_by_key(|value| !telling(value));
        values.into_iter().find_map(|value| {
            let with = replaced(object, at, Some(value));
            (find(&with, at).is_some() && self.oracle.accepts(&with, None)).then_some(with)
        })
    }
}

/// Whether a value is what many programs leave out.
fn is_empty(value: &Value) -> bool {
    value.is_null() || [json!(""), json!(0), json!(0.0), json!(false)].contains(value)
}
