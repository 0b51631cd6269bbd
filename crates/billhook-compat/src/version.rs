//! A version in both definitions, and what all questions about it share.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use billhook::{
    CrdError, CrdVersion, CustomResourceDefinition, DeepValue, ErrorType, FieldError, FieldPath,
    Segment,
};
use billhook_apimachinery::value::deep_eq;
use billhook_generation::{Hints, Oracle, find};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::Value;

use crate::answer::{Answer, Question, Verdict};
use crate::inclusion::{Attempt, Bare, Mode, Obstacle, Prover, Shape, StoredEffect, walk};
use crate::limits::{MAX_ALL_UPDATES, MAX_CANDIDATES};
use crate::search::build::{Builder, told_apart};
use crate::search::elements;
use crate::search::run::{Part, Refusal};

/// A version of one of the definitions.
pub(crate) struct Side {
    pub(crate) version: CrdVersion,
    /// Its schema as a document, and read.
    pub(crate) document: DeepValue,
    pub(crate) schema: JsonSchemaProps,
    /// Its place in the definition.
    pub(crate) place: FieldPath,
    is_stored: bool,
}

impl Side {
    pub(crate) fn all(
        crd: &CustomResourceDefinition,
        value: &Value,
    ) -> Result<Vec<Side>, CrdError> {
        let stored = value.pointer("/status/storedVersions").and_then(Value::as_array);
        let stored: Vec<&str> = stored.into_iter().flatten().filter_map(Value::as_str).collect();
        let versions = FieldPath::default().name("spec").name("versions");
        let side = |(index, version): (usize, CrdVersion)| {
            let document = version.open_api_v3_schema().unwrap_or_default();
            let schema = JsonSchemaProps::from_value(&document)?;
            let is_stored = version.is_storage() || stored.contains(&version.name());
            let place = versions.clone().index(index);
            Ok(Side { version, document, schema, place, is_stored })
        };
        crd.versions().enumerate().map(side).collect()
    }

    /// Whether objects may be stored in it.
    pub(crate) fn is_stored(&self) -> bool {
        self.is_stored
    }

    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape { is_resource: true, ..Shape::new(&self.schema, &self.document) }
    }

    pub(crate) fn schema_place(&self) -> FieldPath {
        self.place.clone().name("schema").name("openAPIV3Schema")
    }
}

/// A version in both definitions.
pub(crate) struct Pair<'s> {
    pub(crate) old: &'s Side,
    pub(crate) new: &'s Side,
    pub(crate) prover: Prover<'s>,
    pub(crate) old_builder: Builder<'s>,
    pub(crate) new_builder: Builder<'s>,
    /// Says what the old definition says of objects that are mended.
    pub(crate) mender: Oracle<'s>,
    obstacles: OnceCell<Vec<Obstacle<'s>>>,
    /// The attempts that were made so far for each obstacle.
    tried: RefCell<HashMap<usize, Tried>>,
    /// The rules that no object was found to violate, by their places in the new schema.
    pub(crate) unviolated: RefCell<BTreeSet<(String, usize)>>,
    /// How many updates of stored objects may still be tried.
    updates: Cell<usize>,
}

/// The requests that were found so far for an obstacle.
#[derive(Debug, Default)]
struct Tried {
    found: Vec<Candidate>,
    /// How many of its attempts were made.
    attempts: usize,
    /// An object with a value around its place, once it was looked for.
    around: Option<Option<Value>>,
}

/// Requests that the old definition accepts.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) object: Value,
    /// The object that it is an update of.
    pub(crate) old: Option<Value>,
}

impl<'s> Pair<'s> {
    pub(crate) fn new(old: &'s Side, new: &'s Side, bare: &'s Bare) -> Self {
        let ratchets_status =
            new.version.ratchets_status() || !new.version.has_status_subresource();
        let drops_status =
            old.version.has_status_subresource() || new.version.has_status_subresource();
        Pair {
            old,
            new,
            prover: Prover::new(bare)
                .ratcheting_status(ratchets_status)
                .dropping_status(drops_status)
                .with_replicas(old.version.scale().map(|scale| scale.spec_replicas.as_str())),
            old_builder: Builder::new(old.version.clone(), &old.document),
            new_builder: Builder::new(new.version.clone(), &new.document),
            mender: Oracle::new(old.version.clone(), &old.document),
            obstacles: OnceCell::new(),
            tried: RefCell::default(),
            unviolated: RefCell::default(),
            updates: Cell::new(MAX_ALL_UPDATES),
        }
    }

    /// Whether nothing that counts for objects differs.
    pub(crate) fn is_same(&self) -> bool {
        let (old, new) = (&self.old.version, &self.new.version);
        deep_eq(&self.old.document, &self.new.document)
            && old.has_status_subresource() == new.has_status_subresource()
            && old.scale() == new.scale()
            && !self.names_others()
            && self.preserves() == (false, false)
            || self.preserves() == (true, true) && deep_eq(&self.old.document, &self.new.document)
    }

    /// Whether the definitions keep what no schema describes.
    pub(crate) fn preserves(&self) -> (bool, bool) {
        let of = |side: &Side| side.version.definition().preserves_unknown_fields();
        (of(self.old), of(self.new))
    }

    /// Why nothing can be said of it.
    pub(crate) fn unreadable(&self) -> Option<String> {
        if self.names_others() {
            return Some(format!(
                "the {} of objects changed",
                self.other_names().join(" and the ")
            ));
        }
        let is_kept = self.preserves() != (false, false);
        is_kept.then(|| "spec.preserveUnknownFields is true".to_owned())
    }

    /// The places without a proof between the old schema and the new one.
    pub(crate) fn obstacles(&self) -> &[Obstacle<'s>] {
        self.obstacles.get_or_init(|| {
            let mut found = walk(&self.prover, self.old.shape(), self.new.shape(), Mode::Writes);
            found.extend(self.scale());
            found
        })
    }

    /// Whether the objects of the two definitions are others.
    fn names_others(&self) -> bool {
        !self.other_names().is_empty()
    }

    /// The things that make the objects of the two definitions others.
    fn other_names(&self) -> Vec<&'static str> {
        let (old, new) = (self.old.version.definition(), self.new.version.definition());
        let differ = [
            ("group", old.group() != new.group()),
            ("kind", old.kind() != new.kind()),
            ("scope", old.scope() != new.scope()),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }

    /// The number of replicas, which a scale subresource checks (RP-75).
    fn scale(&self) -> Option<Obstacle<'s>> {
        let scale = self.new.version.scale()?;
        if self.old.version.scale() == Some(scale) {
            return None;
        }
        let names = scale.spec_replicas.split('.').filter(|name| !name.is_empty());
        Some(Obstacle {
            path: names.fold(FieldPath::default(), |path, name| path.name(name)),
            keyword: "scale",
            change: "subresource scale added or changed".to_owned(),
            attempts: vec![Attempt::Value((-1).into())],
            stored: StoredEffect::Open,
            nodes: (&self.old.schema, &self.new.schema),
            places: Default::default(),
        })
    }

    /// The part of an object that a request about a field writes.
    pub(crate) fn part(&self, path: &FieldPath) -> Part {
        let is_status = path.segments().next() == Some(Segment::Name("status"))
            && self.old.version.has_status_subresource()
            && self.new.version.has_status_subresource();
        if is_status { Part::Status } else { Part::Whole }
    }

    /// Takes so much of what may be spent on updates of stored objects; false if nothing is left.
    pub(crate) fn spend(&self, work: usize) -> bool {
        let left = self.updates.get().saturating_sub(work);
        self.updates.set(left);
        left > 0
    }

    /// Requests that the old definition accepts, for an obstacle by its position. Each is looked for
    /// when it is asked for, and known from then on.
    pub(crate) fn candidates(&self, index: usize) -> impl Iterator<Item = Candidate> {
        let mut numbers = 0..MAX_CANDIDATES;
        std::iter::from_fn(move || self.candidate(index, numbers.next()?))
    }

    fn candidate(&self, index: usize, number: usize) -> Option<Candidate> {
        let obstacle = self.obstacles().get(index)?;
        let mut tried = self.tried.borrow_mut();
        let Tried { found, attempts, around } = tried.entry(index).or_default();
        let builder = &self.old_builder;
        while found.len() <= number {
            let attempt = obstacle.attempts.get(*attempts)?;
            *attempts += 1;
            let more = builder.at(&obstacle.path, || {
                let around = around.get_or_insert_with(|| builder.around(&obstacle.path));
                Some(self.attempted(attempt, obstacle, around.as_ref()?))
            });
            found.extend(more.into_iter().flatten());
        }
        found.get(number).cloned()
    }

    /// The requests that an attempt leads to.
    fn attempted(
        &self,
        attempt: &Attempt,
        obstacle: &Obstacle<'s>,
        around: &Value,
    ) -> Vec<Candidate> {
        let Attempt::Rule(rule) = attempt else {
            let objects = attempted(&self.old_builder, attempt, obstacle, around);
            return objects.into_iter().map(|object| Candidate { object, old: None }).collect();
        };
        self.violation(*rule, obstacle, around).into_iter().collect()
    }

    pub(crate) fn answer(&self, question: Question, verdict: Verdict) -> Answer {
        let version = &self.old.version;
        Answer {
            definition: version.definition().name().to_owned(),
            version: version.name().to_owned(),
            question,
            verdict,
            path: FieldPath::default(),
            change: String::new(),
            reason: String::new(),
            witness: None,
            old_place: self.old.place.clone(),
            new_place: self.new.place.clone(),
        }
    }

    pub(crate) fn safe(&self, question: Question, reason: &str) -> Answer {
        Answer { reason: reason.to_owned(), ..self.answer(question, Verdict::Safe) }
    }

    pub(crate) fn undecided(&self, question: Question, reason: &str) -> Answer {
        Answer { reason: reason.to_owned(), ..self.answer(question, Verdict::Undecided) }
    }

    /// The answer about an obstacle: with a witness it breaks, without it is undecided.
    pub(crate) fn about(
        &self,
        question: Question,
        obstacle: &Obstacle<'_>,
        witness: Option<Witness>,
    ) -> Answer {
        let place = |side: &Side, place: &FieldPath| side.schema_place().join(place);
        let verdict = if witness.is_some() { Verdict::Breaks } else { Verdict::Undecided };
        let (reason, witness) = match witness {
            Some(witness) => (witness.reason, Some(witness.value.into())),
            None if obstacle.is_rest() => {
                ("the others were not looked at (CC-04)".to_owned(), None)
            }
            None => ("neither a proof nor a witness was found".to_owned(), None),
        };
        Answer {
            path: obstacle.path.clone(),
            change: obstacle.change.clone(),
            reason,
            witness,
            old_place: place(self.old, &obstacle.places.0),
            new_place: place(self.new, &obstacle.places.1),
            ..self.answer(question, verdict)
        }
    }
}

impl Pair<'_> {
    /// Whether an object, or an update of an old one, is refused because of an obstacle: what is wrong
    /// is near its place, and if it is about a rule, not only something else.
    pub(crate) fn is_refused_for(
        &self,
        obstacle: &Obstacle<'_>,
        refusal: &Refusal,
        (object, old): (&Value, Option<&Value>),
    ) -> bool {
        if !is_related(refusal, &obstacle.path) {
            return false;
        }
        let Some(Attempt::Rule(index)) = obstacle.attempts.first() else { return true };
        // A rule that cannot be evaluated has no verdict.
        let is_here = |error: &FieldError| {
            error.error_type() == ErrorType::Invalid && *error.field() == obstacle.path
        };
        if refusal.errors.is_empty() || refusal.errors.iter().any(is_here) {
            return true;
        }
        let (builder, pointer) = (&self.new_builder, obstacle.places.1.to_json_pointer());
        let judged = builder.at(&obstacle.path, || builder.oracle.judged(object, old));
        judged.is_some_and(|judged| judged.violates((&pointer, *index)))
    }

    /// The places of an obstacle on the way from the new definition to the old one: in the old one
    /// and in the new one.
    pub(crate) fn swapped(&self, obstacle: &Obstacle<'_>) -> (FieldPath, FieldPath) {
        let (new, old) = &obstacle.places;
        (self.old.schema_place().join(old), self.new.schema_place().join(new))
    }
}

/// The proof that a change breaks something.
pub(crate) struct Witness {
    pub(crate) value: Value,
    pub(crate) reason: String,
}

/// The objects that an attempt leads to, which the version of the builder accepts.
pub(crate) fn attempted(
    builder: &Builder<'_>,
    attempt: &Attempt,
    obstacle: &Obstacle<'_>,
    around: &Value,
) -> Vec<Value> {
    let path = &obstacle.path;
    match attempt {
        Attempt::Value(value) if is_invalid(value, obstacle) => Vec::new(),
        Attempt::Value(value) => builder.with(around, path, value).into_iter().collect(),
        Attempt::Present => builder.with_any(around, path).into_iter().collect(),
        Attempt::Absent => builder.without(around, path).into_iter().collect(),
        Attempt::Items(count) => {
            let elements = elements::elements(&builder.oracle, around, path, &Hints::default());
            let lists = elements::repeated(&builder.oracle, around, path, &elements, *count);
            lists.filter(|object| builder.oracle.accepts(object, None)).take(2).collect()
        }
        Attempt::Search => {
            let document = billhook_generation::schema_at(builder.schema, path);
            let Some(document) = document else { return Vec::new() };
            let (from, to) = obstacle.nodes;
            let values = told_apart(document, from, (obstacle.keyword, to), find(around, path));
            let objects = values.iter().filter_map(|value| builder.with(around, path, value));
            objects.take(3).collect()
        }
        Attempt::Rule(_) => Vec::new(),
    }
}

/// Whether a value that nothing completes is not one of the schema at the place of an obstacle,
/// whatever is around it.
fn is_invalid(value: &Value, obstacle: &Obstacle<'_>) -> bool {
    let is_scalar = matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_));
    is_scalar && obstacle.keyword != "scale" && !Validator::new(obstacle.nodes.0).is_valid(value)
}

/// The error at a place, in it or around it; the first one if there is none.
pub(crate) fn reason(refusal: &Refusal, path: &FieldPath) -> String {
    let found = |fits: fn(&FieldPath, &FieldPath) -> bool| {
        refusal.errors.iter().find(|error| fits(error.field(), path))
    };
    let nearest = found(|field, path| field == path).or_else(|| found(are_nested));
    nearest.map_or_else(|| refusal.text.clone(), ToString::to_string)
}

/// Whether an error is about a place, something in it or around it.
pub(crate) fn is_related(refusal: &Refusal, path: &FieldPath) -> bool {
    refusal.errors.is_empty()
        || refusal.errors.iter().any(|error| {
            let field = error.field();
            // The errors of scales have their paths as they are written in the definition.
            let is_written = |name: &str| name.trim_start_matches('.') == path.to_string();
            let mut segments = field.segments();
            let is_path = match (segments.next(), segments.next()) {
                (Some(billhook::Segment::Name(name)), None) => {
                    name.contains('.') && is_written(name)
                }
                _ => false,
            };
            is_path || are_nested(field, path)
        })
}

/// Whether one of two places is in the other one, whatever kind of member leads there.
pub(crate) fn are_nested(one: &FieldPath, other: &FieldPath) -> bool {
    one.segments().zip(other.segments()).all(|(one, other)| text(one) == text(other))
}

fn text(segment: billhook::Segment<'_>) -> String {
    use billhook::Segment::{Index, Key, Name};
    match segment {
        Name(name) | Key(name) => name.to_owned(),
        Index(index) => index.to_string(),
        _ => String::new(),
    }
}
