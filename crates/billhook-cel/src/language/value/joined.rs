//! Concatenated lists. They share their parts, as concatenation costs the same whatever the lengths
//! (CE-35); how deep they nest is bounded by the depth of expressions (CE-10).

use std::sync::Arc;

use super::{EvaluationError, List};

/// Two lists, one after the other.
#[derive(Debug)]
pub struct Joined<'a> {
    left: List<'a>,
    right: List<'a>,
    len: usize,
}

impl<'a> Joined<'a> {
    /// Returns one list after another as a list.
    pub(crate) fn list(left: List<'a>, right: List<'a>) -> Result<List<'a>, EvaluationError> {
        let len = left.len().checked_add(right.len()).ok_or(EvaluationError::MemoryLimit)?;
        Ok(List::Joined(Arc::new(Joined { left, right, len })))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<'a> List<'a> {
    /// Returns the part of a concatenated list with an element, and the place there.
    pub(super) fn part(&self, mut index: usize) -> (&List<'a>, usize) {
        let mut list = self;
        while let List::Joined(joined) = list {
            list = match index.checked_sub(joined.left.len()) {
                None => &joined.left,
                Some(after) => {
                    index = after;
                    &joined.right
                }
            };
        }
        (list, index)
    }

    /// Returns the lists that were concatenated.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &List<'a>> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let mut list = waiting.pop()?;
            while let List::Joined(joined) = list {
                waiting.push(&joined.right);
                list = &joined.left;
            }
            Some(list)
        })
    }
}
