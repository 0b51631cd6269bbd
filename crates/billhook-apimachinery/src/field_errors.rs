//! A list of errors whose size is bounded by what was inspected, not by its square: the paths of
//! deeply nested places are long.

use crate::field_error::FieldError;
use crate::field_path::FieldPath;

/// The maximum number of steps in the paths of all errors together. A server has no limit; this one
/// is beyond anything that is written by hand.
const MAX_STEPS: usize = 1_000_000;

/// The errors of one walk. It takes no more when their paths together are very long.
#[derive(Debug, Default)]
pub struct FieldErrors {
    errors: Vec<FieldError>,
    steps: usize,
}

impl FieldErrors {
    /// Adds an error, if there is room.
    pub fn push(&mut self, error: FieldError) {
        if !self.is_full() {
            self.note(error.field());
            self.errors.push(error);
        }
    }

    /// Counts a path that is kept elsewhere.
    pub fn note(&mut self, path: &FieldPath) {
        self.steps += path.segments().count() + 1;
    }

    /// Returns whether the list is full; a walk may end then.
    pub fn is_full(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// Returns the number of errors.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Appends the errors of another list, if there is room.
    pub fn append(&mut self, mut other: FieldErrors) {
        if self.steps + other.steps > MAX_STEPS {
            return self.extend(other.errors);
        }
        self.steps += other.steps;
        if self.errors.is_empty() {
            self.errors = other.errors;
        } else {
            self.errors.append(&mut other.errors);
        }
    }

    /// Removes all errors except the first `count`.
    pub fn truncate(&mut self, count: usize) {
        for error in self.errors.drain(count.min(self.errors.len())..) {
            self.steps = self.steps.saturating_sub(error.field().segments().count() + 1);
        }
    }

    /// Returns the errors in the order they were added.
    pub fn into_vec(self) -> Vec<FieldError> {
        self.errors
    }
}

impl Extend<FieldError> for FieldErrors {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}
