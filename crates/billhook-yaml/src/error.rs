//! Errors of YAML text, with their place, worded as the server words them.

use std::fmt;

use crate::place::{Mark, Place};

/// YAML text that the server refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.message)]
pub struct YamlError(Box<Refusal>);

/// Boxed, because results are passed often and fail rarely.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    message: Box<str>,
    place: Place,
    /// Whether the text ended too early.
    unfinished: bool,
}

impl YamlError {
    /// Creates an error of a character. The text names its line unless it is the first.
    pub(crate) fn of_scanner(mark: Mark, is_at_end: bool, problem: impl fmt::Display) -> Self {
        let line = if mark.line == 0 { 0 } else { mark.line + 1 };
        let mut error = YamlError::in_line(mark, line, problem);
        error.0.unfinished = is_at_end;
        error
    }

    /// Creates an error of a token. The text names the line before, as the server counts.
    pub(crate) fn of_parser(mark: Mark, problem: impl fmt::Display) -> Self {
        YamlError::in_line(mark, mark.line, problem)
    }

    fn in_line(mark: Mark, line: usize, problem: impl fmt::Display) -> Self {
        YamlError::plain(
            mark.place(),
            match line {
                0 => format!("yaml: {problem}"),
                line => format!("yaml: line {line}: {problem}"),
            },
        )
    }

    /// Creates an error of the document as a whole, or one for which the server names no line.
    pub(crate) fn plain(place: Place, message: impl Into<Box<str>>) -> Self {
        YamlError(Box::new(Refusal { message: message.into(), place, unfinished: false }))
    }

    /// Whether the text ended too early.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.0.unfinished
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.0.place.line
    }

    /// Returns the character in the line, from 1.
    pub fn column(&self) -> usize {
        self.0.place.column
    }
}

/// Returns the message about text that is nested too deeply.
pub(crate) fn depth_problem() -> String {
    format!("exceeded max depth of {}", crate::MAX_DEPTH)
}
