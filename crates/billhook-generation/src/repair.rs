//! The search for objects that a server accepts.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::value::deep_clone;
use billhook_schema::SchemaView;
use serde_json::Value;

use crate::changes::{Hints, hinted, near};
use crate::oracle::{Judged, Oracle, ways};
use crate::place::{find, parent, replaced, schema_at};
use crate::queue::{Candidate, Queue, TURN};
use crate::sample::sample;

/// How many objects are tried until one is valid.
const MAX_TRIES: usize = 500;

/// How many errors of an object are looked at.
const MAX_ERRORS: usize = 100;

impl Oracle<'_> {
    /// Returns the object, or one like it that a server accepts; what is not wanted does not count.
    /// The values that its errors are about are changed.
    pub fn valid_near(&self, object: &Value, is_wanted: &dyn Fn(&Value) -> bool) -> Option<Value> {
        self.valid_within(MAX_TRIES, object, is_wanted)
    }

    /// [`valid_near`](Self::valid_near) with so many tries.
    pub fn valid_within(
        &self,
        most: usize,
        object: &Value,
        is_wanted: &dyn Fn(&Value) -> bool,
    ) -> Option<Value> {
        let judged = self.judged(object, None)?;
        let mut queue = Queue::default();
        let (cost, signature) = (judged.errors.len(), judged.signature());
        queue.push(deep_clone(object), judged, cost, signature);
        let mut tries = 0;
        while let Some(candidate) = queue.pop() {
            let Candidate { object, known, tried, .. } = &candidate;
            if known.errors.is_empty() {
                return Some(candidate.object);
            }
            let (places, hints) = self.places(object, known);
            let around: Vec<FieldPath> = places.iter().flat_map(ancestors).collect();
            let first = places.iter().chain(&around);
            let first = first.flat_map(|place| self.changed(object, place, &hints, hinted));
            let others = places.iter().flat_map(|place| self.changed(object, place, &hints, near));
            let before = tries;
            for near in first.chain(others).skip(*tried).take(TURN) {
                tries += 1;
                let judged = self.judged(&near, None).filter(|_| is_wanted(&near));
                let Some(judged) = judged else { continue };
                let (cost, mut signature) = (judged.errors.len(), judged.signature());
                signature.extend(places.iter().map(|place| hints.outline(find(&near, place))));
                queue.push(near, judged, cost, signature);
                if cost < known.errors.len() {
                    break;
                }
            }
            if tries > most || self.is_exhausted() {
                return None;
            }
            queue.give_back(candidate, tries - before);
        }
        None
    }

    /// Returns the object, or one like it with a value at a place, if a server accepts that. What is
    /// around the place must be there.
    pub fn with(&self, object: &Value, schema: SchemaView<'_>, at: &FieldPath) -> Option<Value> {
        if self.is_exhausted() {
            return None;
        }
        let has_value = |object: &Value| find(object, at).is_some_and(|value| !value.is_null());
        if has_value(object) {
            return Some(deep_clone(object));
        }
        let default = schema.keyword("default").map(deep_clone);
        let mut values = default.into_iter().chain([sample(schema.written())]);
        values.find_map(|value| {
            let object = replaced(object, at, Some(value));
            self.valid_near(&object, &has_value)
        })
    }

    /// The places of the values that errors are about, and what the rules mention that are violated.
    fn places(&self, object: &Value, judged: &Judged) -> (Vec<FieldPath>, Hints) {
        let mut hints = Hints::of(judged.violated().filter_map(|verdict| self.rule(verdict)));
        let mut places: Vec<FieldPath> = Vec::new();
        for error in judged.errors.iter().take(MAX_ERRORS) {
            let mut place = error.field().clone();
            if let Some(Segment::Name(name) | Segment::Key(name)) = place.segments().last() {
                hints.add_name(name);
            }
            while find(object, &place).is_none()
                && let Some(above) = parent(&place)
            {
                place = above;
            }
            if !places.contains(&place) {
                places.push(place);
            }
        }
        (places, hints)
    }

    /// The objects with another value at a place.
    fn changed<'p, I: IntoIterator<Item = Value>>(
        &'p self,
        object: &'p Value,
        place: &'p FieldPath,
        hints: &'p Hints,
        changes: fn(&'p Value, &'p Value, &'p Hints) -> I,
    ) -> impl Iterator<Item = Value> {
        let value = find(object, place).zip(schema_at(self.schema, place));
        let changed = value.map(|(value, schema)| changes(schema, value, hints));
        changed.into_iter().flatten().map(move |value| replaced(object, place, Some(value)))
    }
}

/// The places around one, from the inside.
fn ancestors(place: &FieldPath) -> impl Iterator<Item = FieldPath> {
    std::iter::successors(parent(place), parent)
}

impl Judged {
    /// The kinds, places and rules of its errors: objects that share them need the same changes.
    fn signature(&self) -> Vec<String> {
        let field = |error: &billhook::FieldError| {
            format!("{} {}", error.error_type().reason(), error.field())
        };
        let rules =
            self.violated().map(|it| format!("{} {} {}", it.schema_path, it.rule, ways(it)));
        self.errors.iter().map(field).chain(rules).collect()
    }
}
