//! A server's verdicts on objects, and the search for those that it accepts.

use std::cell::{Cell, RefCell};

use billhook::{CrdVersion, DecodeOptions, DeepValue, FieldError, ValidateOptions};
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use super::changes::changes;
use crate::install::{body, set_metadata};

/// How many objects are tried for one definition.
const MAX_TRIES: usize = 20_000;
/// How many objects are tried until one is valid.
const MAX_VALID_TRIES: usize = 2_000;

/// The schema of a rule as a JSON pointer, and its position there.
type RulePlace = (String, usize);

/// Says what a server would say.
pub(super) struct Oracle {
    version: CrdVersion,
    tries: Cell<usize>,
    /// The object whose status is updated, where all requests are such updates.
    status_of: RefCell<Option<Value>>,
}

impl Oracle {
    pub(super) fn new(version: CrdVersion) -> Self {
        Oracle { version, tries: Cell::new(0), status_of: RefCell::new(None) }
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

    /// The object, or one like it that a server accepts.
    pub(super) fn valid_near(&self, schema: &Value, object: &Value) -> Option<Value> {
        let mut open = vec![deep_clone(object)];
        let mut tries = 0;
        while let Some(best) = open.pop() {
            let errors = self.errors(&best, None).len();
            if errors == 0 && self.accepts(&best, None) {
                return Some(best);
            }
            let mut fewest = errors;
            for changed in changes(schema, &best) {
                tries += 1;
                if tries > MAX_VALID_TRIES {
                    return None;
                }
                if self.accepts(&changed, None) {
                    return Some(changed);
                }
                let count = self.errors(&changed, None).len();
                // Only what is better is followed, so that the search ends.
                if count > 0 && count < fewest {
                    fewest = count;
                    open = vec![changed];
                }
            }
        }
        None
    }
}
