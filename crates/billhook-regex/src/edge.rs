//! Places between characters, by what stands on one side of them.

use regex_syntax::hir::Look;

/// One side of a place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Edge {
    /// The text ends here.
    Text,
    /// A newline.
    Line,
    /// An ASCII letter, a digit or an underscore.
    Word,
    /// Any other character.
    Other,
}

impl Edge {
    /// The kind of a character, if there is one.
    pub(crate) fn of(c: Option<char>) -> Edge {
        match c {
            None => Edge::Text,
            Some('\n') => Edge::Line,
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => Edge::Word,
            Some(_) => Edge::Other,
        }
    }
}

/// Whether a place between two sides is the one looked for.
pub(crate) fn holds(look: Look, before: Edge, after: Edge) -> bool {
    let is_word_boundary = (before == Edge::Word) != (after == Edge::Word);
    match look {
        Look::Start => before == Edge::Text,
        Look::End => after == Edge::Text,
        Look::StartLF => matches!(before, Edge::Text | Edge::Line),
        Look::EndLF => matches!(after, Edge::Text | Edge::Line),
        Look::WordAscii => is_word_boundary,
        Look::WordAsciiNegate => !is_word_boundary,
        // The parser makes no others.
        _ => false,
    }
}
