//! The options of decoding a request body.

/// The treatment of unknown and duplicate fields in a request (RP-20). Servers have exactly these
/// three, so that a `match` may name each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldValidation {
    /// Dropped silently.
    Ignore,
    /// Dropped with a warning.
    #[default]
    Warn,
    /// The request fails.
    Strict,
}

/// The encoding of a request body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BodyFormat {
    /// A body that begins with `{` or `[` is JSON, any other YAML.
    #[default]
    Detect,
    /// JSON (`Content-Type: application/json`).
    Json,
    /// YAML (`Content-Type: application/yaml`); only the first document counts.
    Yaml,
}

/// Options for decoding a body.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// The treatment of unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether to list all changes in [`Decoded::changes`](crate::Decoded::changes).
    pub report: bool,
    /// The encoding of the body.
    pub format: BodyFormat,
}

impl DecodeOptions {
    /// Returns the options with another field validation.
    #[must_use]
    pub fn field_validation(mut self, field_validation: FieldValidation) -> Self {
        self.field_validation = field_validation;
        self
    }

    /// Returns the options with another body format.
    #[must_use]
    pub fn format(mut self, format: BodyFormat) -> Self {
        self.format = format;
        self
    }

    /// Returns the options with or without a report.
    #[must_use]
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }
}
