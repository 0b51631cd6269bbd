//! A server's verdicts on objects, and the search for those that it accepts.

use std::cell::{Cell, RefCell};

use billhook::{CrdVersion, DecodeOptions, DeepValue, FieldError, ValidateOptions};
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use super::changes::{Hints, changes, hinted};
use super::{Step, find, replaced};
use crate::install::{body, set_metadata};

/// How many objects are tried for one definition.
const MAX_TRIES: usize = 20_000;
/// How many changes of one value are tried until an object is valid.
const MAX_VALID_TRIES: usize = 600;

/// The schema of a rule as a JSON pointer, and its position there.
type RulePlace = (String, usize);

/// Says what a server would say.
pub(super) struct Oracle<'s> {
    version: CrdVersion,
    schema: &'s Value,
    tries: Cell<usize>,
    /// The object whose status is updated, where all requests are such updates.
    status_of: RefCell<Option<Value>>,
}

impl<'s> Oracle<'s> {
    pub(super) fn new(version: CrdVersion, schema: &'s Value) -> Self {
        Oracle { version, schema, tries: Cell::new(0), status_of: RefCell::new(None) }
    }

    /// Does work in which all requests are updates of the status of an object.
    pub(super) fn with_status_of(&self, object: &Value, work: impl FnOnce()) {
        self.status_of.replace(Some(deep_clone(object)));
        work();
        self.status_of.replace(None);
    }

    /// Whether the status is written on its own.
    pub(super) fn has_status(&self) -> bool {
        self.version.has_status_subresource()
    }

    /// The object whose status is updated, if all requests are such updates.
    pub(super) fn status_of(&self) -> Option<Value> {
        self.status_of.borrow().as_ref().map(deep_clone)
    }

    /// Whether enough has been tried.
    pub(super) fn is_exhausted(&self) -> bool {
        self.tries.get() > MAX_TRIES
    }

    /// The errors of an object, on creation or as an update of another one.
    pub(super) fn errors(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        self.judged(object, old).map(|(errors, _)| errors).unwrap_or_default()
    }

    /// Whether a server accepts an object.
    pub(super) fn accepts(&self, object: &Value, old: Option<&Value>) -> bool {
        self.judged(object, old).is_some_and(|(errors, _)| errors.is_empty())
    }

    /// The errors of an object that violates a rule; the rule is a position in a schema, as a JSON
    /// pointer inside that of the version.
    pub(super) fn violation(
        &self,
        object: &Value,
        old: Option<&Value>,
        (schema, rule): (&str, usize),
    ) -> Option<Vec<FieldError>> {
        let (errors, violated) = self.judged(object, old)?;
        let is_it = |(path, index): &RulePlace| path.ends_with(schema) && *index == rule;
        violated.iter().any(is_it).then_some(errors)
    }

    /// The errors, and the rules that are violated; `None` if the object cannot be decoded.
    fn judged(
        &self,
        object: &Value,
        old: Option<&Value>,
    ) -> Option<(Vec<FieldError>, Vec<RulePlace>)> {
        self.tries.set(self.tries.get() + 1);
        let mut new = self.decoded(object)?;
        let options = ValidateOptions::default().generic_checks(false).rule_verdicts(true);
        let status_of = self.status_of.borrow();
        let validation = match old.or(status_of.as_ref()) {
            None => {
                self.version.prepare_create(&mut new, "default");
                self.version.validate_create(&new, &options)
            }
            Some(old) => {
                let mut old = self.decoded(old)?;
                if status_of.is_none() {
                    self.version.prepare_create(&mut old, "default");
                    self.version.prepare_create(&mut new, "default");
                }
                for object in [&mut old, &mut new] {
                    set_metadata(object, "resourceVersion", Some("1"));
                }
                if status_of.is_some() {
                    self.version.prepare_status_update(&mut new, &old);
                    self.version.validate_status_update(&new, &old, &options)
                } else {
                    self.version.prepare_update(&mut new, &old);
                    self.version.validate_update(&new, &old, &options)
                }
            }
        };
        let violated = validation.rule_verdicts().iter().filter(|verdict| !verdict.is_kept);
        let place =
            |verdict: &billhook::RuleVerdict| (verdict.schema_path.to_json_pointer(), verdict.rule);
        Some((validation.errors().to_vec(), violated.map(place).collect()))
    }

    fn decoded(&self, object: &Value) -> Option<DeepValue> {
        let decoded = self.version.decode(&body(object), &DecodeOptions::default());
        let mut object = decoded.ok()?.into_object();
        billhook::remove_server_fields(&mut object);
        Some(object)
    }

    /// The object, or one like it that a server accepts, with changes of the value at a place, which
    /// has a schema. What is not wanted does not count.
    pub(super) fn valid_near(
        &self,
        schema: &Value,
        steps: &[Step],
        object: &Value,
        is_wanted: &dyn Fn(&Value) -> bool,
    ) -> Option<Value> {
        let mut best = deep_clone(object);
        let mut tries = 0;
        let mut judged = self.judged(&best, None)?;
        'better: loop {
            let (errors, violated) = &judged;
            if errors.is_empty() {
                return Some(best);
            }
            let hints = Hints::of(violated.iter().filter_map(|place| self.rule(place)));
            let value = find(&best, steps)?;
            let once = changes(schema, value, &hints);
            let first = hinted(schema, value, &hints);
            let twice = first.iter().flat_map(|changed| hinted(schema, changed, &hints));
            for changed in once.into_iter().chain(twice) {
                tries += 1;
                if tries > MAX_VALID_TRIES || self.is_exhausted() {
                    return None;
                }
                let near = replaced(&best, steps, Some(changed));
                let Some(other) = self.judged(&near, None).filter(|_| is_wanted(&near)) else {
                    continue;
                };
                // Only what is better is followed, so that the search ends.
                if other.0.len() < errors.len() {
                    (best, judged) = (near, other);
                    continue 'better;
                }
            }
            return None;
        }
    }

    /// A rule of the schema.
    fn rule(&self, (path, index): &RulePlace) -> Option<&'s Value> {
        const SCHEMA: &str = "/openAPIV3Schema";
        let inside = path.split_once(SCHEMA).map_or(path.as_str(), |(_, inside)| inside);
        self.schema.pointer(&format!("{inside}/x-kubernetes-validations/{index}"))
    }
}
