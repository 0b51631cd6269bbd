//! Where a walk puts what it finds: nothing but the fact, or the errors themselves.

use billhook_schema::{FieldError, FieldErrors};

/// The receiver of a walk's findings.
pub(crate) trait Report {
    /// Whether somebody sees the errors. Then their order matters, so that members must be visited
    /// in the order of their keys, and so do scores (VV-54).
    const SHOWN: bool;

    /// Takes an error; it is only made when somebody wants to see it.
    fn add(&mut self, error: impl FnOnce() -> FieldError);

    /// Whether nothing that could still be found would change the result.
    fn is_done(&self) -> bool;

    /// How much was found so far.
    fn mark(&self) -> usize;

    /// Forgets what was found since a mark.
    fn reset(&mut self, mark: usize);

    /// A new report of the same kind for a branch that may be discarded.
    fn branch() -> Self;

    /// Adds what was found in a branch.
    fn absorb(&mut self, branch: Self);

    /// Whether anything was found.
    fn has_failed(&self) -> bool {
        self.mark() > 0
    }
}

/// Remembers only that something was wrong.
#[derive(Default)]
pub(crate) struct Silent {
    failed: bool,
}

impl Report for Silent {
    const SHOWN: bool = false;

    #[inline]
    fn add(&mut self, _: impl FnOnce() -> FieldError) {
        self.failed = true;
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.failed
    }

    #[inline]
    fn mark(&self) -> usize {
        usize::from(self.failed)
    }

    #[inline]
    fn reset(&mut self, mark: usize) {
        self.failed = mark > 0;
    }

    #[inline]
    fn branch() -> Self {
        Silent::default()
    }

    #[inline]
    fn absorb(&mut self, branch: Self) {
        self.failed |= branch.failed;
    }
}

/// Keeps the errors.
pub(crate) struct Errors {
    list: FieldErrors,
    /// How many errors are wanted.
    limit: usize,
}

impl Errors {
    /// Keeps errors until there are `limit`.
    pub(crate) fn up_to(limit: usize) -> Self {
        Errors { list: FieldErrors::default(), limit }
    }

    pub(crate) fn into_vec(self) -> Vec<FieldError> {
        self.list.into_vec()
    }
}

impl Report for Errors {
    const SHOWN: bool = true;

    fn add(&mut self, error: impl FnOnce() -> FieldError) {
        if !self.list.is_full() {
            self.list.push(error());
        }
    }

    fn is_done(&self) -> bool {
        self.list.len() >= self.limit || self.list.is_full()
    }

    fn mark(&self) -> usize {
        self.list.len()
    }

    fn reset(&mut self, mark: usize) {
        self.list.truncate(mark);
    }

    fn branch() -> Self {
        Errors::up_to(usize::MAX)
    }

    fn absorb(&mut self, branch: Self) {
        self.list.append(branch.list);
    }
}
