//! A list of errors whose size is bounded by what was looked at, not by its square: the paths of
//! deeply nested places are long.

use crate::field_error::FieldError;
use crate::field_path::FieldPath;

/// How many steps the paths of all errors have together. A server has no limit; it is beyond all
/// that people write.
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

    /// Counts a path that was kept elsewhere.
    pub fn note(&mut self, path: &FieldPath) {
        self.steps += path.segments().count() + 1;
    }

    /// Whether it takes no more; a walk may end then.
    pub fn is_full(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Takes the errors of another list, if there is room.
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

    /// Forgets all errors but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        for error in self.errors.drain(count.min(self.errors.len())..) {
            self.steps = self.steps.saturating_sub(error.field().segments().count() + 1);
        }
    }

    /// The errors in the order they were added.
    pub fn into_vec(self) -> Vec<FieldError> {
        self.errors
    }
}

impl Extend<FieldError> for FieldErrors {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}
