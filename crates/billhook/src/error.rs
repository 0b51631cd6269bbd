//! Errors about refused objects, in the server's words (RP-18).

use billhook_apimachinery::print::quote;
use billhook_apimachinery::{Status, TypeMeta, strict_decoding_error};

/// The kind of a [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Malformed text, or `kind` is missing.
    Unrecognized,
    /// The object itself cannot be decoded, for instance for its metadata.
    Invalid,
    /// Field validation is strict, and there are unknown or duplicate fields (RP-21).
    Strict,
    /// The object is of another version than the one asked for (RP-10).
    WrongVersion,
    /// The object is of another kind than the definition; only a stream of objects looks.
    WrongKind,
}

/// An object that a server refuses to decode. `Display` is the bare error;
/// [`DecodeError::status`] is what the client gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct DecodeError {
    error: String,
    message: String,
    place: Option<(usize, usize)>,
    kind: DecodeErrorKind,
    field_findings: Vec<String>,
}

/// The number of bytes of a body that a message shows.
const SHOWN_BODY: usize = 30;

impl DecodeError {
    fn new(kind: DecodeErrorKind, error: String, message: String) -> Self {
        DecodeError { error, message, place: None, kind, field_findings: Vec::new() }
    }

    /// The kind of the object could be read.
    pub(crate) fn known(found: &TypeMeta, kind: &str, error: String) -> Self {
        Self::of_kind((&found.kind, &found.version), kind, error)
    }

    /// Field validation is strict and has findings in an object of a kind and version (RP-21).
    pub(crate) fn strict(found: (&str, &str), kind: &str, findings: &[String]) -> Self {
        let error = strict_decoding_error(findings.iter().map(String::as_str));
        DecodeError {
            field_findings: findings.to_vec(),
            kind: DecodeErrorKind::Strict,
            ..Self::of_kind(found, kind, error)
        }
    }

    fn of_kind((found, version): (&str, &str), kind: &str, error: String) -> Self {
        let message =
            format!("{found} in version \"{version}\" cannot be handled as a {kind}: {error}");
        Self::new(DecodeErrorKind::Invalid, error, message)
    }

    /// The API version or the kind could not be read.
    pub(crate) fn unrecognized(kind: &str, error: String, body: Option<&[u8]>) -> Self {
        let mut message =
            format!("the object provided is unrecognized (must be of type {kind}): {error}");
        if let Some(body) = body {
            message.push_str(&format!(" ({})", excerpt(body)));
        }
        Self::new(DecodeErrorKind::Unrecognized, error, message)
    }

    /// A body that is not of a native type (RE-125).
    pub(crate) fn not_registered(error: &str) -> Self {
        Self::new(DecodeErrorKind::Unrecognized, error.to_owned(), error.to_owned())
    }

    /// The version is looked at last, after the fields (RP-10).
    pub(crate) fn wrong_version(message: String, field_findings: Vec<String>) -> Self {
        let error = Self::new(DecodeErrorKind::WrongVersion, message.clone(), message);
        DecodeError { field_findings, ..error }
    }

    /// The server reports this when it validates.
    pub(crate) fn wrong_kind(found: &str, expected: &str) -> Self {
        let error = format!("kind: Invalid value: {}: must be {expected}", quote(found));
        Self::new(DecodeErrorKind::WrongKind, error.clone(), error)
    }

    /// The object came from storage or a conversion.
    pub(crate) fn storage(error: String) -> Self {
        Self::new(DecodeErrorKind::Invalid, error.clone(), error)
    }

    /// The object is fine but not of the type that was wanted.
    pub(crate) fn conversion(error: &serde_json::Error) -> Self {
        let error = error.to_string();
        Self::new(DecodeErrorKind::Invalid, error.clone(), error)
    }

    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        self.place = Some((line, column));
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Returns the status that the client gets for a request body, with code 400 and reason
    /// BadRequest.
    pub fn status(&self) -> Status {
        Status::bad_request(self.message.as_str())
    }

    /// Returns the message of [`DecodeError::status`].
    pub fn status_message(&self) -> &str {
        &self.message
    }

    /// Returns the unknown and duplicate fields that were found before the object was refused, in the
    /// words of warnings (RP-22): strict field validation refuses it for them, and a server warns
    /// about them if it refuses an object of another version (RE-25). None for other errors.
    pub fn field_findings(&self) -> &[String] {
        &self.field_findings
    }

    /// Line and column in the body, from 1, if the text itself is malformed.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place
    }
}

/// The start of a body: plain text if it is JSON, hexadecimal otherwise.
fn excerpt(body: &[u8]) -> String {
    if body.is_empty() {
        return "<empty>".to_owned();
    }
    let shown = body.get(..SHOWN_BODY).unwrap_or(body);
    let mut text = if body.first() == Some(&b'{') {
        String::from_utf8_lossy(shown).into_owned()
    } else {
        shown.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    if shown.len() < body.len() {
        text.push_str(" ...");
    }
    text
}
