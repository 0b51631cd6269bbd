//! Errors of YAML text, with their place, worded as the server words them.

use std::fmt;

use granit_parser::{ErrorKind, ScanError};

/// A place in a text: line and character, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// YAML text that the server refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    message: Box<str>,
    place: Place,
    /// Whether the text ended too early.
    unfinished: bool,
    /// Whether a further line of a quoted scalar is not indented enough for the grammar.
    unindented: bool,
}

impl YamlError {
    /// An error whose text names its line.
    pub(crate) fn at(place: Place, problem: impl fmt::Display) -> Self {
        YamlError::plain(place, format!("yaml: line {}: {problem}", place.line))
    }

    /// Creates an error of the document as a whole, or one for which the server names no line.
    pub(crate) fn plain(place: Place, message: impl Into<Box<str>>) -> Self {
        YamlError { message: message.into(), place, unfinished: false, unindented: false }
    }

    /// Creates the error for text that the grammar refuses.
    pub(crate) fn of_scan(error: &ScanError) -> Self {
        let mark = error.marker();
        let place = Place { line: mark.line(), column: mark.col() + 1 };
        let unfinished = matches!(
            error.kind(),
            ErrorKind::UnclosedFlowCollection { .. }
                | ErrorKind::UnclosedQuotedScalar
                | ErrorKind::UnclosedVerbatimTag
                | ErrorKind::UnexpectedEof
        );
        let unindented = matches!(error.kind(), ErrorKind::InvalidQuotedScalarIndent);
        YamlError { unfinished, unindented, ..YamlError::at(place, problem(error.kind())) }
    }

    /// Whether the text ended too early.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Whether a further line of a quoted scalar is not indented enough for the grammar.
    pub(crate) fn is_unindented(&self) -> bool {
        self.unindented
    }

    /// The error in the text without the spaces that were added to some lines.
    pub(crate) fn without_indentation(mut self, lines: &[(usize, usize)]) -> Self {
        if let Ok(found) = lines.binary_search_by_key(&self.place.line, |(line, _)| *line)
            && let Some((_, spaces)) = lines.get(found)
        {
            self.place.column = self.place.column.saturating_sub(*spaces).max(1);
        }
        self
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.place.line
    }

    /// Returns the character in the line, from 1.
    pub fn column(&self) -> usize {
        self.place.column
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Returns the server's words for text that the grammar refuses.
fn problem(kind: &ErrorKind) -> String {
    use ErrorKind as Kind;
    let text = match kind {
        Kind::RecursionLimitExceeded => return depth_problem(),
        Kind::UnclosedFlowCollection { open: '{' } => "did not find expected ',' or '}'",
        Kind::UnclosedFlowCollection { .. } => "did not find expected ',' or ']'",
        Kind::UnexpectedEofFlowSequence | Kind::ExpectedFlowSequenceSeparator => {
            "did not find expected ',' or ']'"
        }
        Kind::UnexpectedEofFlowMapping
        | Kind::UnexpectedEofImplicitFlowMapping
        | Kind::ExpectedFlowMappingSeparator => "did not find expected ',' or '}'",
        Kind::MismatchedFlowCollectionEnd { .. }
        | Kind::MisplacedFlowCollectionEnd
        | Kind::ExpectedNodeContent
        | Kind::BlockEntryInFlowCollection
        | Kind::PlainScalarStartsWithDashFlowIndicator => "did not find expected node content",
        Kind::UnexpectedEofBlockSequence | Kind::ExpectedBlockSequenceEntry => {
            "did not find expected '-' indicator"
        }
        Kind::UnexpectedEofBlockMapping
        | Kind::ExpectedBlockMappingKey
        | Kind::InvalidTrailingSingleQuotedScalar
        | Kind::InvalidTrailingDoubleQuotedScalar
        | Kind::InvalidIndentation => "did not find expected key",
        Kind::ExpectedDocumentStart | Kind::MissingDocumentEndBeforeDirective => {
            "did not find expected <document start>"
        }
        Kind::DuplicateVersionDirective => "found duplicate %YAML directive",
        Kind::UnsupportedYamlMajorVersion => "found incompatible YAML document",
        Kind::DuplicateTagDirective => "found duplicate %TAG directive",
        Kind::UndeclaredTagHandle => "found undefined tag handle",
        Kind::MissingTagUri => "did not find expected tag URI",
        Kind::UnclosedVerbatimTag => "did not find the expected '>'",
        Kind::InvalidTagTerminator => "did not find expected whitespace or line break",
        Kind::ExpectedTagBang | Kind::ExpectedTagDirectiveBang => "did not find expected '!'",
        Kind::InvalidTagEscape => "did not find URI escaped octet",
        Kind::InvalidTagUtf8 | Kind::InvalidTagUtf8LeadingByte => {
            "found an incorrect leading UTF-8 octet"
        }
        Kind::InvalidTagUtf8TrailingByte => "found an incorrect trailing UTF-8 octet",
        Kind::MissingAnchorOrAliasName => "did not find expected alphabetic or numeric character",
        Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => "could not find expected ':'",
        Kind::UnexpectedCharacter { .. }
        | Kind::TabNotAllowed
        | Kind::TabInBlockIndentation
        | Kind::InvalidBlockEntryWhitespace
        | Kind::InvalidMappingValueWhitespace => "found character that cannot start any token",
        Kind::TabInIndentation | Kind::TabInPlainScalar => {
            "found a tab character that violates indentation"
        }
        Kind::TabAtBlockScalarStart => {
            "found a tab character where an indentation space is expected"
        }
        Kind::BlockSequenceEntryNotAllowed => {
            "block sequence entries are not allowed in this context"
        }
        Kind::MappingKeyNotAllowed => "mapping keys are not allowed in this context",
        Kind::MappingValueNotAllowed | Kind::InvalidColonPlacement => {
            "mapping values are not allowed in this context"
        }
        Kind::FlowMappingValueAdjacentCollection => "did not find expected ',' or '}'",
        Kind::ZeroBlockScalarIndent => "found an indentation indicator equal to 0",
        Kind::InvalidBlockScalarHeader => "did not find expected comment or line break",
        Kind::InvalidBlockScalarIndent => "could not find expected ':'",
        Kind::DocumentIndicatorInQuotedScalar => "found unexpected document indicator",
        Kind::UnclosedQuotedScalar | Kind::UnexpectedEof => "found unexpected end of stream",
        Kind::UnknownQuotedScalarEscape => "found unknown escape character",
        Kind::InvalidQuotedScalarHexEscape | Kind::InvalidLowSurrogateHexEscape => {
            "did not find expected hexdecimal number"
        }
        Kind::InvalidUnicodeEscape
        | Kind::InvalidLowSurrogate
        | Kind::MissingLowSurrogate
        | Kind::UnpairedLowSurrogate => "found invalid Unicode character escape code",
        Kind::InvalidQuotedScalarIndent | Kind::InvalidFlowScalarIndent => {
            "found a line that is not indented enough"
        }
        Kind::CommentNotSeparated => "did not find a space before a comment",
        Kind::CommentInterceptedScalar => "could not find expected ':' behind a comment",
        Kind::MissingDirectiveName | Kind::InvalidDirectiveName => {
            "could not find expected directive name"
        }
        Kind::TooManyReservedDirectiveParams { .. } => "found unknown directive name",
        Kind::MissingYamlVersion | Kind::MissingYamlVersionSeparator => {
            "did not find expected version number"
        }
        Kind::YamlVersionTooLong => "found extremely long version number",
        _ => "could not read this text",
    };
    text.to_owned()
}

/// Returns the message about text that is nested too deeply.
pub(crate) fn depth_problem() -> String {
    format!("exceeded max depth of {}", crate::MAX_DEPTH)
}
