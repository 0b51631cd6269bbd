//! A bound of the work of junctors: each of their branches may look at the whole value again.

use std::cell::Cell;

/// The most steps that the branches of junctors take for one value. A step is a branch, an element
/// or a member that is looked at, or so many bytes of a text.
pub(crate) const MAX_WORK: u64 = 1 << 24;

/// The bytes of a text that are looked at in a step.
const BYTES: usize = 64;

/// The work that is left. Only what happens in branches of junctors counts: all else is done once.
#[derive(Debug)]
pub(crate) struct Work {
    left: Cell<u64>,
    is_in_branch: Cell<bool>,
    is_over: Cell<bool>,
}

impl Work {
    pub(crate) fn new() -> Self {
        Work {
            left: Cell::new(MAX_WORK),
            is_in_branch: Cell::new(false),
            is_over: Cell::new(false),
        }
    }

    /// Whether there was too much to do; from then on nothing is admitted.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Does what belongs to branches.
    pub(crate) fn in_branches<R>(&self, run: impl FnOnce() -> R) -> R {
        let outer = self.is_in_branch.replace(true);
        let result = run();
        self.is_in_branch.set(outer);
        result
    }

    /// Takes steps.
    #[inline]
    pub(crate) fn take(&self, steps: usize) {
        if !self.is_in_branch.get() {
            return;
        }
        match self.left.get().checked_sub(steps as u64) {
            Some(left) => self.left.set(left),
            None => self.is_over.set(true),
        }
    }

    /// Takes the steps for a text.
    #[inline]
    pub(crate) fn take_text(&self, text: &str) {
        self.take(text.len() / BYTES);
    }
}
