//! The text of an expression and the errors in it.
//!
//! Positions are offsets in code points from zero; the texts of errors name line and column from
//! one, as the server does.

/// Errors printed at most.
const PRINTED: usize = 100;
/// Lines longer than this, in bytes, are not printed below an error.
const LONGEST_EXCERPT: usize = 16 * 1024;

/// The text of an expression.
pub(crate) struct Source<'t> {
    text: &'t str,
    /// Where each code point begins, and the end; none if each is one byte.
    offsets: Option<Vec<usize>>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let offsets = || text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Source { text, offsets: (!text.is_ascii()).then(offsets) }
    }

    /// The number of code points.
    pub(crate) fn len(&self) -> usize {
        self.offsets.as_ref().map_or(self.text.len(), |offsets| offsets.len().saturating_sub(1))
    }

    fn offset(&self, at: usize) -> Option<usize> {
        match &self.offsets {
            None => Some(at),
            Some(offsets) => offsets.get(at).copied(),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<char> {
        match &self.offsets {
            None => self.text.as_bytes().get(at).map(|byte| char::from(*byte)),
            Some(offsets) => self.text.get(*offsets.get(at)?..)?.chars().next(),
        }
    }

    /// The text from one position to before another.
    pub(crate) fn text(&self, from: usize, to: usize) -> &'t str {
        let range = self.offset(from).zip(self.offset(to));
        range.and_then(|(from, to)| self.text.get(from..to)).unwrap_or_default()
    }

    /// Line and column, both from zero, and the text of the line.
    fn locate(&self, at: usize) -> (usize, usize, &'t str) {
        let before = self.text(0, at.min(self.len()));
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (lines, line) = before.split_at(start);
        let rest = self.text.get(start..).unwrap_or_default();
        let excerpt = rest.split('\n').next().unwrap_or_default();
        (lines.matches('\n').count(), line.chars().count(), excerpt)
    }
}

/// Errors as they are found.
#[derive(Default)]
pub(crate) struct Issues {
    found: Vec<(Option<usize>, String)>,
}

impl Issues {
    /// An error at a position.
    pub(crate) fn report(&mut self, at: usize, text: impl Into<String>) {
        self.found.push((Some(at), text.into()));
    }

    /// An error of the expression as a whole.
    pub(crate) fn report_whole(&mut self, text: impl Into<String>) {
        self.found.push((None, text.into()));
    }

    /// All errors in the order of their positions, if there are any.
    pub(crate) fn into_result(mut self, source: &Source<'_>) -> Result<(), CompileError> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|(at, _)| *at);
        let mut printed: Vec<String> =
            self.found.iter().take(PRINTED).map(|(at, text)| print(source, *at, text)).collect();
        if let Some(more @ 1..) = self.found.len().checked_sub(PRINTED) {
            printed.push(format!("{more} more errors were truncated"));
        }
        Err(CompileError { text: printed.join("\n"), is_instantiation: false })
    }
}

/// An error with its place and the line it is in.
fn print(source: &Source<'_>, at: Option<usize>, text: &str) -> String {
    let Some(at) = at else { return format!("ERROR: <input>:-1:0: {text}") };
    let (line, column, excerpt) = source.locate(at);
    let mut printed = format!("ERROR: <input>:{}:{}: {text}", line + 1, column + 1);
    if excerpt.len() <= LONGEST_EXCERPT {
        let mut characters = excerpt.chars();
        let marks: String = characters.by_ref().take(column).map(|c| mark(c, '.', '．')).collect();
        let pointer = mark(characters.next().unwrap_or(' '), '^', '＾');
        printed += &format!("\n | {}\n | {marks}{pointer}", excerpt.replace('\t', " "));
    }
    printed
}

/// Returns the mark below a character: wide below non-ASCII characters.
fn mark(below: char, narrow: char, wide: char) -> char {
    if below.is_ascii() { narrow } else { wide }
}

/// An expression that does not compile; prints as the server does, without `compilation failed: `
/// or `program instantiation failed: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct CompileError {
    text: String,
    is_instantiation: bool,
}

impl CompileError {
    /// The conversion of a constant fails.
    pub(crate) fn instantiation(text: String) -> Self {
        CompileError { text, is_instantiation: true }
    }

    /// Returns the text with the failed step before it, as in the details of the server's errors.
    pub fn detail(&self) -> String {
        let step = match self.is_instantiation {
            false => "compilation failed",
            true => "program instantiation failed",
        };
        format!("{step}: {}", self.text)
    }

    /// Returns whether the expression is well-formed and well-typed, but a conversion of a constant
    /// in it fails: the server calls that a failed instantiation of the program.
    pub fn is_instantiation(&self) -> bool {
        self.is_instantiation
    }
}
