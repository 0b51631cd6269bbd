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

/// The maximum number of bytes of a line, an item of a list or another member of a list, unless
/// [`DecodeOptions::max_line`] says otherwise.
pub const MAX_LINE: usize = 256 << 20;

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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// The treatment of unknown and duplicate fields.
    pub(crate) field_validation: FieldValidation,
    /// Whether to list all changes in [`Decoded::changes`](crate::Decoded::changes).
    pub(crate) report: bool,
    /// The encoding of the body.
    pub(crate) format: BodyFormat,
    /// The maximum number of bytes of a line of a stream, of an item of a list or of another member
    /// of a list; [`MAX_LINE`] by default.
    pub(crate) max_line: usize,
    /// Whether an object of another version or group is decoded, too, as that which a patch makes:
    /// validation refuses it later (RP-40).
    pub(crate) any_version: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            field_validation: FieldValidation::default(),
            report: false,
            format: BodyFormat::default(),
            max_line: MAX_LINE,
            any_version: false,
        }
    }
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

    /// Returns the options with another maximum number of bytes of a line.
    #[must_use]
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Returns the options for objects of other versions, too, or for those of one only.
    #[must_use]
    pub fn any_version(mut self, any_version: bool) -> Self {
        self.any_version = any_version;
        self
    }

    /// Returns the options with or without a report.
    #[must_use]
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }
}
