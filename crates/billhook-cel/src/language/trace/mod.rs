//! How an expression came to its value.

mod text;

use std::ops::Range;

/// A part of an expression, with the value that it had in an evaluation, what that cost, and its
/// own parts. `Display` prints all of it as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpressionTrace {
    /// The text of the part.
    pub text: String,
    /// Where it is in the whole expression, in bytes.
    pub span: Range<usize>,
    /// The outcome.
    pub outcome: TracedOutcome,
    /// The cost, that of the parts included (CE-35).
    pub cost: u64,
    /// Its parts in order, except constants and the beginnings of selections.
    pub parts: Vec<ExpressionTrace>,
    /// The turns of a macro such as `all`: those of the first elements and of the last one.
    pub turns: Vec<TracedTurn>,
    /// The number of elements that are not among them.
    pub turns_left_out: usize,
}

/// The outcome of a part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TracedOutcome {
    /// A value.
    Value {
        /// The value as JSON where it has a form in it; cut if it is long.
        text: String,
        /// The name of its type: `int`, `list`, `map` ….
        type_name: String,
    },
    /// An error.
    Error(String),
    /// The part was not needed: another part decided.
    NotEvaluated,
}

/// One turn of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracedTurn {
    /// The variables of the macro with their values.
    pub variables: Vec<(String, String)>,
    /// The parts that are evaluated for each element.
    pub parts: Vec<ExpressionTrace>,
}
