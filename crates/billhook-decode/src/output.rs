//! The output of a pass: nothing until the first change, then unchanged stretches copied whole.

use std::ops::Range;

pub(crate) struct Output<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// Up to here the input is written or left out.
    done: usize,
    changed: bool,
}

/// A state of an output.
pub(crate) struct Mark {
    written: usize,
    done: usize,
    changed: bool,
}

/// The room for the defaults added to a text, so that most outputs take one allocation.
const ROOM: usize = 1024;

impl<'t> Output<'t> {
    /// Creates an output that replaces the content of a buffer.
    pub(crate) fn new(text: &'t [u8], mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Output { text, out: buffer, done: 0, changed: false }
    }

    #[inline(never)]
    fn begin(&mut self) {
        self.changed = true;
        self.out.reserve(self.text.len() + ROOM);
    }

    /// Copies the input up to `at`.
    #[inline]
    fn copy_to(&mut self, at: usize) {
        if !self.changed {
            self.begin();
        }
        if let Some(unchanged) = self.text.get(self.done..at) {
            self.out.extend_from_slice(unchanged);
            self.done = at;
        }
    }

    /// Drops a stretch of the input; any part of it after this position is dropped already.
    pub(crate) fn cut(&mut self, range: Range<usize>) {
        self.copy_to(range.start);
        self.done = self.done.max(range.end);
    }

    /// Drops a member of an object that ends at `end`. The object's members begin at `start`, those
    /// that are kept end at `kept_end`, and a comma after the member ends at `comma_end`.
    #[inline]
    pub(crate) fn cut_member(
        &mut self,
        (start, kept_end): (usize, usize),
        end: usize,
        comma_end: Option<usize>,
    ) {
        // The comma before goes with the member; before the first kept member there is none, so the
        // one after it goes.
        let leading = comma_end.filter(|_| kept_end == start);
        self.cut(kept_end..leading.unwrap_or(end));
    }

    /// Returns the current end of the output, for [`Output::return_to`].
    pub(crate) fn mark(&self) -> Mark {
        Mark { written: self.out.len(), done: self.done, changed: self.changed }
    }

    /// Drops the output since a mark.
    pub(crate) fn return_to(&mut self, mark: &Mark) {
        self.out.truncate(mark.written);
        self.done = mark.done;
        self.changed = mark.changed;
    }

    /// Writes something in place of a stretch of the input.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &[u8]) {
        self.copy_to(range.start);
        self.out.extend_from_slice(with);
        self.done = range.end;
    }

    /// Writes text before a place of the input.
    pub(crate) fn insert(&mut self, at: usize, text: &[u8]) {
        self.copy_to(at);
        self.out.extend_from_slice(text);
    }

    /// The buffer, and whether the output is there; otherwise it is the input.
    pub(crate) fn finish(mut self) -> (Vec<u8>, bool) {
        if self.changed {
            self.copy_to(self.text.len());
        }
        (self.out, self.changed)
    }
}
