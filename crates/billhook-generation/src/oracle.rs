//! A server's verdicts on objects.

use std::cell::{Cell, RefCell};

use billhook::{CrdVersion, DecodeOptions, DeepValue, FieldError, RuleVerdict, ValidateOptions};
use billhook_apimachinery::value::deep_clone;
use billhook_cel::Branch;
use serde_json::Value;

use crate::place::set_metadata;

/// How many objects may be tried at first.
const FIRST_TRIES: usize = 5_000;
/// How many more each schema allows: few need many, and time grows with their number only.
const TRIES_EACH: usize = 100;

/// The schema of a rule as a JSON pointer inside that of the version, and the position of the rule
/// there.
pub type RulePlace<'r> = (&'r str, usize);

/// Says what a server would say of objects of a version, a bounded number of times.
pub struct Oracle<'s> {
    pub(crate) version: CrdVersion,
    pub(crate) schema: &'s Value,
    /// How many objects may still be tried.
    tries: Cell<usize>,
    /// The object whose status is updated, where all requests are such updates.
    status_of: RefCell<Option<Value>>,
}

/// A verdict on an object that can be decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The errors, in the server's order.
    pub errors: Vec<FieldError>,
    verdicts: Vec<RuleVerdict>,
}

impl Judged {
    /// Returns whether a value violates a rule.
    pub fn violates(&self, rule: RulePlace<'_>) -> bool {
        self.of_rule(rule).any(|verdict| !verdict.is_kept)
    }

    /// The verdicts on values of rules that are violated.
    pub(crate) fn violated(&self) -> impl Iterator<Item = &RuleVerdict> {
        self.verdicts.iter().filter(|verdict| !verdict.is_kept)
    }

    /// The verdicts on the values of a rule.
    pub(crate) fn of_rule(
        &self,
        (schema, rule): RulePlace<'_>,
    ) -> impl Iterator<Item = &RuleVerdict> {
        let is_it = move |verdict: &&RuleVerdict| {
            verdict.rule == rule && verdict.schema_path.to_json_pointer().ends_with(schema)
        };
        self.verdicts.iter().filter(is_it)
    }
}

impl<'s> Oracle<'s> {
    /// Creates an oracle for a version, with its schema as a document.
    pub fn new(version: CrdVersion, schema: &'s Value) -> Self {
        let tries = Cell::new(FIRST_TRIES);
        Oracle { version, schema, tries, status_of: RefCell::new(None) }
    }

    /// Returns the schema of the version as a document.
    pub fn schema(&self) -> &'s Value {
        self.schema
    }

    /// Allows the tries for one more schema.
    pub fn allow_more(&self) {
        self.tries.set(self.tries.get() + TRIES_EACH);
    }

    /// Does work in which all requests are updates of the status of an object.
    pub fn with_status_of(&self, object: &Value, work: impl FnOnce()) {
        self.status_of.replace(Some(deep_clone(object)));
        work();
        self.status_of.replace(None);
    }

    /// Returns whether the status is written on its own.
    pub fn has_status(&self) -> bool {
        self.version.has_status_subresource()
    }

    /// Returns the object whose status is updated, if all requests are such updates.
    pub fn status_of(&self) -> Option<Value> {
        self.status_of.borrow().as_ref().map(deep_clone)
    }

    /// Returns whether enough has been tried.
    pub fn is_exhausted(&self) -> bool {
        self.tries.get() == 0
    }

    /// Returns the errors of an object, on creation or as an update of another one.
    pub fn errors(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        self.judged(object, old).map(|judged| judged.errors).unwrap_or_default()
    }

    /// Returns whether a server accepts an object.
    pub fn accepts(&self, object: &Value, old: Option<&Value>) -> bool {
        self.judged(object, old).is_some_and(|judged| judged.errors.is_empty())
    }

    /// Returns the verdict on an object; `None` if it cannot be decoded.
    pub fn judged(&self, object: &Value, old: Option<&Value>) -> Option<Judged> {
        self.tries.set(self.tries.get().saturating_sub(1));
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
        let verdicts = validation.rule_verdicts().to_vec();
        Some(Judged { errors: validation.errors().to_vec(), verdicts })
    }

    fn decoded(&self, object: &Value) -> Option<DeepValue> {
        let decoded =
            self.version.decode(billhook::to_json(object).as_bytes(), &DecodeOptions::default());
        let mut object = decoded.ok()?.into_object();
        billhook::remove_server_fields(&mut object);
        Some(object)
    }

    /// The rule of a verdict.
    pub(crate) fn rule(&self, verdict: &RuleVerdict) -> Option<&'s Value> {
        const SCHEMA: &str = "/openAPIV3Schema";
        let path = verdict.schema_path.to_json_pointer();
        let inside = path.split_once(SCHEMA).map_or(path.as_str(), |(_, inside)| inside);
        let rules = self.schema.pointer(inside)?.get("x-kubernetes-validations")?;
        rules.get(verdict.rule)
    }
}

/// How many outcomes of its branches a rule has not had.
pub(crate) fn missed(verdict: &RuleVerdict) -> usize {
    let missed =
        |branch: &Branch| usize::from(branch.truths == 0) + usize::from(branch.falsehoods == 0);
    verdict.branches.iter().map(missed).sum()
}

/// The way that values take through a rule: which branches are true and false.
pub(crate) fn ways(verdict: &RuleVerdict) -> String {
    let way = |branch: &Branch| format!("{}{} ", branch.truths.min(1), branch.falsehoods.min(1));
    verdict.branches.iter().map(way).collect()
}
