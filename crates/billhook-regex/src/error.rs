//! Errors of patterns: a kind to match on, the piece of the pattern at fault, and the text that Go
//! prints for the two.

use std::fmt;

/// A pattern that cannot be used.
///
/// `Display` prints exactly what Go's `regexp.Compile` would return as its error, for every
/// [`ErrorKind`] except [`ErrorKind::TooLargeToMatch`], which Go does not have.
///
/// ```
/// use billhook_regex::{ErrorKind, Pattern};
///
/// let error = Pattern::new("a(b").unwrap_err();
/// assert_eq!(error.to_string(), "error parsing regexp: missing closing ): `a(b`");
/// assert_eq!(error.kind(), ErrorKind::MissingParen);
/// assert_eq!(error.text(), "a(b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    text: Box<str>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: &str) -> Self {
        Self { kind, text: text.into() }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the piece of the pattern that is at fault, as Go cuts it: for some kinds the whole
    /// pattern, for [`ErrorKind::TrailingBackslash`] nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.kind, self.text)
    }
}

impl std::error::Error for Error {}

/// The kinds of [`Error`]; `Display` prints the words that Go uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `invalid character class`. Go declares this kind but never returns it.
    InvalidCharClass,
    /// `invalid character class range`: `[z-a]`, `[[:foo:]]`, `\p{Foo}`.
    InvalidCharRange,
    /// `invalid escape sequence`: `\C`, `\1`, `\x{110000}`.
    InvalidEscape,
    /// `invalid named capture`: `(?P<a b>c)`, `(?<=a)`.
    InvalidNamedCapture,
    /// `invalid or unsupported Perl syntax`: `(?x)`, `(?=a)`.
    InvalidPerlOp,
    /// `invalid nested repetition operator`: `a**`, `a{2}{3}`.
    InvalidRepeatOp,
    /// `invalid repeat count`: `a{1001}`, `a{2,1}`, `(a{100}){100}`.
    InvalidRepeatSize,
    /// `invalid UTF-8`. A `&str` never causes this.
    InvalidUtf8,
    /// `missing closing ]`.
    MissingBracket,
    /// `missing closing )`.
    MissingParen,
    /// `missing argument to repetition operator`: `*`, `(+a)`.
    MissingRepeatArgument,
    /// `trailing backslash at end of expression`.
    TrailingBackslash,
    /// `unexpected )`.
    UnexpectedParen,
    /// `expression nests too deeply`: see [`MAX_HEIGHT`](crate::limits::MAX_HEIGHT).
    NestingDepth,
    /// `expression too large`: see [`MAX_SIZE`](crate::limits::MAX_SIZE) and
    /// [`MAX_RUNES`](crate::limits::MAX_RUNES).
    Large,
    /// `expression needs too much memory to match`: Go accepts the pattern, but its automaton would
    /// exceed the `ENGINE_…` limits of [`limits`](crate::limits). [`check`](crate::check) never
    /// returns this.
    TooLargeToMatch,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidCharClass => "invalid character class",
            Self::InvalidCharRange => "invalid character class range",
            Self::InvalidEscape => "invalid escape sequence",
            Self::InvalidNamedCapture => "invalid named capture",
            Self::InvalidPerlOp => "invalid or unsupported Perl syntax",
            Self::InvalidRepeatOp => "invalid nested repetition operator",
            Self::InvalidRepeatSize => "invalid repeat count",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParen => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParen => "unexpected )",
            Self::NestingDepth => "expression nests too deeply",
            Self::Large => "expression too large",
            Self::TooLargeToMatch => "expression needs too much memory to match",
        })
    }
}
