//! Field errors as the server makes and prints them (SS-03).

use std::fmt;

use indexmap::IndexSet;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::field_path::FieldPath;
use crate::go_value::go_value;
use crate::print::{error_value, quote};
use crate::record::{FieldValue as _, go_syntax};
use crate::value::DeepValue;
use crate::wording::{ValueSyntax, Wording};

/// The kinds of field errors and their machine-readable reasons (SS-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorType {
    /// A value is missing.
    Required,
    /// A value is not acceptable.
    Invalid,
    /// A value has the wrong type; prints like [`ErrorType::Invalid`].
    TypeInvalid,
    /// A value is not in a fixed list.
    NotSupported,
    /// A value must not be there.
    Forbidden,
    /// A value is there twice.
    Duplicate,
    /// A value names something that is not there.
    NotFound,
    /// A value is too long.
    TooLong,
    /// There are too many items.
    TooMany,
    /// The check itself failed.
    Internal,
}

impl ErrorType {
    /// All kinds.
    pub const ALL: &[ErrorType] = &[
        ErrorType::Required,
        ErrorType::Invalid,
        ErrorType::TypeInvalid,
        ErrorType::NotSupported,
        ErrorType::Forbidden,
        ErrorType::Duplicate,
        ErrorType::NotFound,
        ErrorType::TooLong,
        ErrorType::TooMany,
        ErrorType::Internal,
    ];

    /// Returns the reason code, e.g. `FieldValueRequired`.
    pub fn reason(self) -> &'static str {
        self.texts().0
    }

    /// The reason, and the text that errors begin with.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            ErrorType::Required => ("FieldValueRequired", "Required value"),
            ErrorType::Invalid => ("FieldValueInvalid", "Invalid value"),
            ErrorType::TypeInvalid => ("FieldValueTypeInvalid", "Invalid value"),
            ErrorType::NotSupported => ("FieldValueNotSupported", "Unsupported value"),
            ErrorType::Forbidden => ("FieldValueForbidden", "Forbidden"),
            ErrorType::Duplicate => ("FieldValueDuplicate", "Duplicate value"),
            ErrorType::NotFound => ("FieldValueNotFound", "Not found"),
            ErrorType::TooLong => ("FieldValueTooLong", "Too long"),
            ErrorType::TooMany => ("FieldValueTooMany", "Too many"),
            ErrorType::Internal => ("InternalError", "Internal error"),
        }
    }
}

impl Serialize for ErrorType {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.reason())
    }
}

/// An error at one place of a document; prints to the byte as the server prints it.
///
/// ```
/// use billhook_apimachinery::{FieldError, FieldPath};
/// let path = FieldPath::default().name("spec").name("n");
/// let error = FieldError::invalid(path, 5, "must be smaller");
/// assert_eq!(error.to_string(), "spec.n: Invalid value: 5: must be smaller");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
pub struct FieldError {
    #[serde(rename = "type")]
    error_type: ErrorType,
    field: FieldPath,
    detail: String,
    #[serde(rename = "badValue", skip_serializing_if = "Option::is_none")]
    bad_value: Option<DeepValue>,
    #[serde(skip)]
    shown: Option<Box<Shown>>,
}

/// The texts of a value where they differ from what is made of the value itself.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    text: Option<String>,
    /// The text in Go syntax (KV-10).
    go: Option<String>,
}

impl FieldError {
    fn new(error_type: ErrorType, field: FieldPath, value: Option<Value>, detail: &str) -> Self {
        FieldError {
            error_type,
            field,
            detail: detail.to_owned(),
            bad_value: value.map(DeepValue::from),
            shown: None,
        }
    }

    /// Creates an error for a missing value.
    pub fn required(field: FieldPath, detail: &str) -> Self {
        Self::new(ErrorType::Required, field, None, detail)
    }

    /// Creates an error for an unacceptable value.
    pub fn invalid(field: FieldPath, value: impl Into<Value>, detail: &str) -> Self {
        Self::new(ErrorType::Invalid, field, Some(value.into()), detail)
    }

    /// Creates an error for a value of the wrong type.
    pub fn type_invalid(field: FieldPath, value: impl Into<Value>, detail: &str) -> Self {
        Self::new(ErrorType::TypeInvalid, field, Some(value.into()), detail)
    }

    /// Creates an error for a value that must not be there.
    pub fn forbidden(field: FieldPath, detail: &str) -> Self {
        Self::new(ErrorType::Forbidden, field, None, detail)
    }

    /// Creates an error for a value outside a fixed list.
    pub fn not_supported<'v>(
        field: FieldPath,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = &'v str>,
    ) -> Self {
        let supported: Vec<String> = supported.into_iter().map(quote).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        Self::new(ErrorType::NotSupported, field, Some(value.into()), &detail)
    }

    /// Creates an error for a repeated value.
    pub fn duplicate(field: FieldPath, value: impl Into<Value>) -> Self {
        Self::new(ErrorType::Duplicate, field, Some(value.into()), "")
    }

    /// Creates an error for a value that names something that is not there.
    pub fn not_found(field: FieldPath, value: impl Into<Value>) -> Self {
        Self::new(ErrorType::NotFound, field, Some(value.into()), "")
    }

    /// Creates an error for a text of more than `max` bytes; the value itself is not shown.
    pub fn too_long(field: FieldPath, max: i64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {max} {unit}");
        Self::new(ErrorType::TooLong, field, None, &detail)
    }

    /// Creates an error for `actual` items or members where at most `max` are allowed.
    pub fn too_many(field: FieldPath, actual: usize, max: i64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {max} {unit}");
        Self::new(ErrorType::TooMany, field, Some(actual.into()), &detail)
    }

    /// Creates an error for a check that could not be done.
    pub fn internal(field: FieldPath, detail: &str) -> Self {
        Self::new(ErrorType::Internal, field, None, detail)
    }

    /// Returns the same error without its value, where the server omits it (VV-62).
    #[must_use]
    pub fn omit_value(mut self) -> Self {
        self.bad_value = None;
        self
    }

    /// Returns the same error with another text for its value, where the server prints the members
    /// in an order of their own (OM-31, CV-06).
    #[must_use]
    pub fn show_value_as(mut self, text: String) -> Self {
        self.shown.get_or_insert_default().text = Some(text);
        self
    }

    /// Returns the same error with another text for its value in Go syntax, where the value has a
    /// type of its own (KV-10).
    #[must_use]
    pub fn show_value_in_go_as(mut self, text: String) -> Self {
        self.shown.get_or_insert_default().go = Some(text);
        self
    }

    /// Returns the same error for a list of strings, which has a type of its own in Go syntax
    /// (KV-10).
    #[must_use]
    pub fn of_strings(self) -> Self {
        let value = self.bad_value().unwrap_or(&Value::Null);
        let text = go_syntax(value, <Vec<String>>::TYPE, "");
        self.show_value_in_go_as(text)
    }

    /// Returns the same error in the wording of a server (KV-10, KV-11).
    #[must_use]
    pub fn worded(mut self, wording: &Wording) -> Self {
        if wording.values == ValueSyntax::Go {
            let shown = self.shown.take().unwrap_or_default();
            let value = self.bad_value.as_deref();
            let text = shown.go.or(shown.text).or(value.map(go_value));
            self.shown = Some(Box::new(Shown { text, go: None }));
        }
        let is_limit = matches!(self.error_type, ErrorType::TooLong | ErrorType::TooMany);
        if is_limit && !wording.has_singular && !self.detail.ends_with('s') {
            self.detail.push('s');
        }
        self
    }

    /// Returns the same error for a value at a path of a larger document.
    #[must_use]
    pub fn below(mut self, base: &FieldPath) -> Self {
        self.field = base.join(&self.field);
        self
    }

    /// Returns the kind of the error.
    pub fn error_type(&self) -> ErrorType {
        self.error_type
    }

    /// Returns the path of the field.
    pub fn field(&self) -> &FieldPath {
        &self.field
    }

    /// Returns the message, without path and value.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the value found there; `None` for the kinds that print no value.
    pub fn bad_value(&self) -> Option<&Value> {
        self.bad_value.as_deref()
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.error_type.texts().1)?;
        let shown = self.shown.as_ref().and_then(|shown| shown.text.as_deref());
        match (&self.bad_value, shown) {
            (Some(_), Some(text)) => write!(f, ": {text}")?,
            (Some(value), None) => write!(f, ": {}", error_value(value))?,
            (None, _) => {}
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Returns several errors in one text, as a server's answer has them (VV-65): one alone, several as
/// `[e1, e2]`; equal texts stand there once.
///
/// ```
/// use billhook_apimachinery::{FieldError, FieldPath, aggregate};
/// let error = |name: &str| FieldError::required(FieldPath::default().name(name), "");
/// assert_eq!(aggregate(&[error("a")]), "a: Required value");
/// let errors = [error("a"), error("b"), error("a")];
/// assert_eq!(aggregate(&errors), "[a: Required value, b: Required value]");
/// ```
pub fn aggregate<E: fmt::Display>(errors: &[E]) -> String {
    let texts: IndexSet<String> = errors.iter().map(ToString::to_string).collect();
    let texts: Vec<String> = texts.into_iter().collect();
    match texts.as_slice() {
        [text] => text.clone(),
        texts => format!("[{}]", texts.join(", ")),
    }
}
