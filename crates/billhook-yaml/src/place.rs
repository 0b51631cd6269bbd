//! Places in a text.

/// A place in a text: line and character, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A place in the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    /// In bytes.
    pub(crate) offset: usize,
    /// From 0.
    pub(crate) line: usize,
    /// In characters, from 0.
    pub(crate) column: usize,
}

impl Mark {
    pub(crate) fn place(self) -> Place {
        Place { line: self.line + 1, column: self.column + 1 }
    }
}
