//! The output of a pass: nothing until the first change, then unchanged stretches copied whole.

use std::ops::Range;

pub(crate) struct Output<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// Up to here the input is written or left out.
    done: usize,
    changed: bool,
}

/// Room for what defaults add to a text, so that most outputs take one allocation.
const ROOM: usize = 1024;

impl<'t> Output<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Output { text, out: Vec::new(), done: 0, changed: false }
    }

    /// Copies the input up to `at`.
    fn copy_to(&mut self, at: usize) {
        if !self.changed {
            self.changed = true;
            self.out.reserve(self.text.len() + ROOM);
        }
        if let Some(unchanged) = self.text.get(self.done..at) {
            self.out.extend_from_slice(unchanged);
            self.done = at;
        }
    }

    /// Leaves a stretch of the input out; what of it lies behind is left out already.
    pub(crate) fn cut(&mut self, range: Range<usize>) {
        self.copy_to(range.start);
        self.done = self.done.max(range.end);
    }

    /// Writes something in place of a stretch of the input.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &[u8]) {
        self.copy_to(range.start);
        self.out.extend_from_slice(with);
        self.done = range.end;
    }

    /// Writes something in front of a place of the input.
    pub(crate) fn insert(&mut self, at: usize, text: &[u8]) {
        self.copy_to(at);
        self.out.extend_from_slice(text);
    }

    /// The output; none if it is the input.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        if !self.changed {
            return None;
        }
        self.copy_to(self.text.len());
        Some(self.out)
    }
}
