//! The findings of a walk: only whether there are any, or the errors themselves.

use billhook_apimachinery::{FieldError, FieldErrors};

/// The receiver of a walk's findings.
pub(crate) trait Report {
    /// Whether the order of errors matters, so that members must be visited in the order of their
    /// keys.
    const ORDERED: bool;

    /// Takes an error; it is only made when it will be seen.
    fn add(&mut self, error: impl FnOnce() -> FieldError);

    /// Whether nothing that could still be found would change the result.
    fn is_done(&self) -> bool;
}

/// Remembers only that something was wrong.
#[derive(Default)]
pub(crate) struct Silent {
    failed: bool,
}

impl Silent {
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }
}

impl Report for Silent {
    const ORDERED: bool = false;

    #[inline]
    fn add(&mut self, _: impl FnOnce() -> FieldError) {
        self.failed = true;
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.failed
    }
}

/// Keeps the errors.
pub(crate) struct Errors {
    list: FieldErrors,
    /// The number of errors wanted.
    limit: usize,
}

impl Errors {
    /// Keeps errors until there are `limit`.
    pub(crate) fn up_to(limit: usize) -> Self {
        Errors { list: FieldErrors::default(), limit }
    }

    /// For a branch that may be discarded.
    pub(crate) fn branch() -> Self {
        Errors::up_to(usize::MAX)
    }

    /// Whether anything was found.
    pub(crate) fn has_failed(&self) -> bool {
        self.mark() > 0
    }

    /// Returns the number of findings so far.
    pub(crate) fn mark(&self) -> usize {
        self.list.len()
    }

    /// Drops the findings since a mark.
    pub(crate) fn reset(&mut self, mark: usize) {
        self.list.truncate(mark);
    }

    /// Adds the findings of a branch.
    pub(crate) fn absorb(&mut self, branch: Self) {
        self.list.append(branch.list);
    }

    pub(crate) fn into_vec(self) -> Vec<FieldError> {
        self.list.into_vec()
    }
}

impl Report for Errors {
    const ORDERED: bool = true;

    fn add(&mut self, error: impl FnOnce() -> FieldError) {
        if !self.list.is_full() {
            self.list.push(error());
        }
    }

    fn is_done(&self) -> bool {
        self.list.len() >= self.limit || self.list.is_full()
    }
}
