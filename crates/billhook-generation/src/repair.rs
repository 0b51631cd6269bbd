//! The search for objects that a server accepts.

use std::collections::BTreeSet;
use std::rc::Rc;

use billhook::{FieldError, FieldPath, Segment};
use billhook_apimachinery::value::deep_clone;
use billhook_schema::SchemaView;
use serde_json::Value;

use crate::changes::{hinted, near};
use crate::hints::Hints;
use crate::oracle::{Judged, Oracle, ways};
use crate::place::{find, parent, replaced, schema_at};
use crate::queue::{Candidate, Queue, TURN};
use crate::sample::sample;

/// How many objects are tried until one is valid.
const MAX_TRIES: usize = 500;

/// How many errors of an object are looked at.
const MAX_ERRORS: usize = 100;

/// The objects that are tried in place of one with errors.
struct Repairs<'s> {
    /// The places of the values that the errors are about.
    places: Vec<FieldPath>,
    hints: Hints,
    objects: Box<dyn Iterator<Item = Value> + 's>,
}

impl<'s> Oracle<'s> {
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
        queue.push(deep_clone(object), (judged, None), cost, signature);
        let mut tries = 0;
        while let Some(mut candidate) = queue.pop() {
            let Candidate { object, known: (known, repairs), .. } = &mut candidate;
            if known.errors.is_empty() {
                return Some(candidate.object);
            }
            let Repairs { places, hints, objects } =
                repairs.get_or_insert_with(|| self.repairs(object, known));
            let before = tries;
            for near in objects.by_ref().take(TURN) {
                tries += 1;
                if !is_wanted(&near) {
                    continue;
                }
                let Some(judged) = self.judged(&near, None) else { continue };
                let (cost, mut signature) = (judged.errors.len(), judged.signature());
                signature.extend(places.iter().map(|place| hints.outline(find(&near, place))));
                queue.push(near, (judged, None), cost, signature);
                if cost < known.errors.len() {
                    break;
                }
            }
            if tries > most || self.is_exhausted() {
                return None;
            }
            if tries > before {
                queue.give_back(candidate);
            }
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
        let hints = Hints::of(judged.violated().filter_map(|verdict| self.rule(verdict)));
        let (mut places, mut names) = (Vec::<FieldPath>::new(), BTreeSet::new());
        for error in judged.errors.iter().take(MAX_ERRORS) {
            let mut place = inner_place(error).unwrap_or_else(|| error.field().clone());
            if let Some(Segment::Name(name) | Segment::Key(name)) = error.field().segments().last()
            {
                names.insert(name);
            }
            names.extend(schema_at(self.schema, &place).into_iter().flat_map(alternatives));
            while find(object, &place).is_none()
                && let Some(above) = parent(&place)
            {
                place = above;
            }
            if !places.contains(&place) {
                places.push(place);
            }
        }
        (places, hints.with_names(names))
    }

    /// The objects that are tried in place of one with errors.
    fn repairs(&self, object: &Value, judged: &Judged) -> Repairs<'s> {
        let (places, hints) = self.places(object, judged);
        let around: Vec<FieldPath> = places.iter().flat_map(ancestors).collect();
        let first = places.iter().chain(&around).map(|place| (place.clone(), true));
        let others = places.iter().map(|place| (place.clone(), false));
        let all: Vec<(FieldPath, bool)> = first.chain(others).collect();
        let (schema, object, known) = (self.schema, Rc::new(deep_clone(object)), hints.clone());
        let changed = move |(place, is_hinted): (FieldPath, bool)| {
            let (value, part) = find(&object, &place).zip(schema_at(schema, &place))?;
            let values: Box<dyn Iterator<Item = Value> + 's> = match is_hinted {
                true => Box::new(hinted(part, value, &known)),
                false => Box::new(near(part, value, &known)),
            };
            let object = Rc::clone(&object);
            Some(values.map(move |value| replaced(&object, &place, Some(value))))
        };
        let objects = Box::new(all.into_iter().filter_map(changed).flatten());
        Repairs { places, hints, objects }
    }
}

/// The place of a value that no alternative of its schema admits: the error is at that of another one,
/// and its text has the rest.
fn inner_place(error: &FieldError) -> Option<FieldPath> {
    let (inside, _) = error.detail().strip_prefix('"')?.split_once("\" must validate ")?;
    let mut place = error.field().clone();
    for name in inside.split('.') {
        let mut parts = name.split('[');
        place =
            parts.next().filter(|name| !name.is_empty()).into_iter().fold(place, FieldPath::name);
        for index in parts {
            place = place.index(index.strip_suffix(']')?.parse::<usize>().ok()?);
        }
    }
    Some(place)
}

/// The names of members that the alternatives of a schema are about.
fn alternatives(schema: &Value) -> impl Iterator<Item = &str> {
    let branches = ["oneOf", "anyOf", "allOf"].into_iter();
    let branches = branches.flat_map(|keyword| SchemaView::new(schema).list(keyword));
    branches.map(SchemaView::new).flat_map(|branch| {
        branch.texts("required").chain(branch.properties().map(|(name, _)| name))
    })
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
