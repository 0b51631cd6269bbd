//! One check of one value.

use std::cell::Cell;
use std::collections::HashSet;

use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_regex::Steps;
use billhook_schema::NodeId;
use serde_json::Value;

use crate::compile::Arena;
use crate::correlate::Correlation;
use crate::is_valid::Verdict;
use crate::report::Errors;
use crate::walk::Walk;
use crate::work::{MAX_WORK, Work};

/// The most steps that matching the patterns of a schema takes for one value (VV-22).
pub const MAX_STEPS: u64 = 1 << 28;

/// The check of a value: the value it replaces, its place, and the verbs.
///
/// ```
/// # use billhook_schema::JsonSchemaProps;
/// # use billhook_validation::Validator;
/// # use serde_json::json;
/// let schema = JsonSchemaProps::from_value(&json!({"type": "object", "properties": {
///     "a": {"type": "string", "maxLength": 2},
///     "b": {"type": "string", "maxLength": 2},
/// }}))?;
/// let validator = Validator::new(&schema);
/// let (old, new) = (json!({"a": "long", "b": "y"}), json!({"a": "long", "b": "yy"}));
/// assert!(!validator.is_valid(&new));
/// assert!(validator.check(&new).update_of(&old).is_valid());
/// # Ok::<(), billhook_apimachinery::record::RecordError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Check<'c> {
    arena: &'c Arena,
    root: NodeId,
    value: &'c Value,
    old: Option<&'c Value>,
    base: FieldPath,
}

/// The branches of junctors take too many steps (VV-50).
#[derive(PartialEq)]
struct TooMuchWork;

impl<'c> Check<'c> {
    pub(crate) fn new(arena: &'c Arena, root: NodeId, value: &'c Value) -> Self {
        Check { arena, root, value, old: None, base: FieldPath::default() }
    }

    /// Returns the check of an update: an error of the old value that has not changed is forgiven
    /// (VV-80 to VV-86).
    pub fn update_of(mut self, old: &'c Value) -> Self {
        self.old = Some(old);
        self
    }

    /// Returns the check of a value that stands at a path of a document: `status`, or the place of
    /// a default (VV-60). Texts name places from the value, paths from the document.
    pub fn at(mut self, base: FieldPath) -> Self {
        self.base = base;
        self
    }

    /// Returns whether the value is valid.
    pub fn is_valid(&self) -> bool {
        self.decide() == Ok(true)
    }

    /// Checks the value.
    ///
    /// # Errors
    ///
    /// Returns the first error of the value.
    pub fn validate(&self) -> Result<(), FieldError> {
        match self.decide() {
            Ok(true) => Ok(()),
            Ok(false) => self.list(1).into_iter().next().map_or(Ok(()), Err),
            Err(TooMuchWork) => Err(self.too_much_work()),
        }
    }

    /// Returns all errors, in the order of [`Validator::errors`](crate::Validator::errors); equal texts are there once
    /// (VV-06).
    pub fn errors(&self) -> Vec<FieldError> {
        let mut list = match self.decide() {
            Ok(true) => return Vec::new(),
            Ok(false) => self.list(usize::MAX),
            Err(TooMuchWork) => vec![self.too_much_work()],
        };
        if list.len() > 1 {
            let mut seen = HashSet::new();
            list.retain(|error| seen.insert(error.to_string()));
        }
        list
    }

    /// Whether the value is valid, if that is known.
    fn decide(&self) -> Result<bool, TooMuchWork> {
        let verdict = self.verdict();
        let is_valid = verdict.admits(self.root, self.value, self.old, 0);
        if verdict.work.is_over() { Err(TooMuchWork) } else { Ok(is_valid) }
    }

    fn too_much_work(&self) -> FieldError {
        let detail = format!(
            "the alternatives in its schema (allOf, anyOf, oneOf, not) take more than {MAX_WORK} \
             steps to check"
        );
        FieldError::invalid(self.base.clone(), "", &detail)
    }

    fn verdict(&self) -> Verdict<'_> {
        let (arena, root) = (self.arena, self.root);
        let steps = Cell::new(Steps::of(MAX_STEPS));
        Verdict { arena, root, correlation: Correlation::new(arena), steps, work: Work::new() }
    }

    /// The errors of an invalid value, until there are `limit`.
    fn list(&self, limit: usize) -> Vec<FieldError> {
        let mut errors = Errors::up_to(limit);
        let walk = Walk { verdict: self.verdict(), base: &self.base };
        walk.node(self.root, self.value, self.old, &Location::TOP, 0, &mut errors);
        // What was found to be invalid has an error.
        if walk.verdict.work.is_over() || !errors.has_failed() {
            return vec![self.too_much_work()];
        }
        let wording = self.arena.wording();
        errors.into_vec().into_iter().map(|error| error.worded(wording)).collect()
    }
}
