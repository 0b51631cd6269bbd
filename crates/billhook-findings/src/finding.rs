//! Findings.

use std::sync::Arc;

use billhook::{FieldPath, Segment, Span};

use crate::source::{Place, Position, Source};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Accepted by a server, but likely to be wrong.
    Warning,
    /// Refused by a server, or unusable.
    Error,
}

impl Severity {
    /// Returns the word for it: `error`, `warning` or `note`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The object that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectName {
    /// `apiVersion`; empty if it is not known, as the others.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// A marked part of another text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Label {
    /// The text.
    pub source: Arc<Source>,
    /// The part.
    pub span: Span,
    /// The field there.
    pub path: FieldPath,
    /// A few words for the part.
    pub text: String,
}

impl Label {
    /// Creates a label for a field of a document; `None` if the document does not have the field.
    pub fn new(place: &Place, path: FieldPath, text: impl Into<String>) -> Option<Self> {
        let found = place.find(&path).filter(|found| found.is_exact)?;
        let source = place.source.clone();
        let span = found.mark(source.text());
        Some(Label { source, span, path, text: text.into() })
    }
}

/// A change of the text that would mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// The bytes that are replaced.
    pub span: Span,
    /// The text that replaces them.
    pub replacement: String,
    /// The field that the text is of afterwards, from the top of the document.
    pub path: FieldPath,
    /// Whether the edit does what was meant without doubt.
    pub is_safe: bool,
}

/// Something to be said about a place of a document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The number of a rule, such as `PR-12`, or the reason of a field error, such as
    /// `FieldValueRequired`.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// The server's text; where a server says nothing, our own.
    pub text: String,
    /// Where it is.
    pub place: Option<Place>,
    /// The field in the object.
    pub path: FieldPath,
    /// The part of the text.
    pub span: Option<Span>,
    /// The object.
    pub object: ObjectName,
    /// A few words for the part of the text.
    pub label: Option<String>,
    /// The part of another document that causes it: of the definition, a webhook configuration or a
    /// policy.
    pub schema: Option<Label>,
    /// Advice.
    pub help: Option<String>,
    /// Changes that would mend it.
    pub edits: Vec<Edit>,
}

impl Finding {
    /// Creates a finding without a place.
    pub fn new(severity: Severity, rule: impl Into<String>, text: impl Into<String>) -> Self {
        Finding {
            rule: rule.into(),
            severity,
            text: text.into(),
            place: None,
            path: FieldPath::default(),
            span: None,
            object: ObjectName::default(),
            label: None,
            schema: None,
            help: None,
            edits: Vec::new(),
        }
    }

    /// Returns the finding at a field of an object.
    #[must_use]
    pub fn at(mut self, place: &Place, path: FieldPath) -> Self {
        self.span = place.find(&path).map(|found| found.mark(place.source.text()));
        self.place = Some(place.clone());
        self.path = path;
        self
    }

    /// Returns the finding at a field of a definition. What all versions have in common, a server names
    /// without a version, such as `spec.validation`: it is where the first version has it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use billhook::Definition;
    /// use billhook_findings::{Finding, Place, Severity, Source};
    ///
    /// let text = "
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: foos.example.com}
    /// spec:
    ///   group: example.com
    ///   scope: Namespaced
    ///   names: {plural: foos, singular: foo, kind: Foo, listKind: FooList}
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec: {}
    /// ";
    /// let document = billhook::read_manifests(text.as_bytes())?.remove(0).into_value();
    /// let validation = Definition::from_value(&document)?.validate_create();
    /// let error = &validation.errors()[0];
    /// assert_eq!(
    ///     error.field().to_string(),
    ///     "spec.validation.openAPIV3Schema.properties[spec].type",
    /// );
    ///
    /// let place = Place::document(Arc::new(Source::new("foos.yaml", text)), 0);
    /// let finding = Finding::new(Severity::Error, "SS-01", error.to_string())
    ///     .at_definition(&place, error.field().clone());
    /// assert_eq!(finding.start().map(|start| start.line), Some(17));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at_definition(self, place: &Place, path: FieldPath) -> Self {
        let common = ["validation", "subresources", "additionalPrinterColumns", "selectableFields"];
        let mut segments = path.segments().skip(1);
        let written = match segments.next() {
            Some(Segment::Name(name)) if common.contains(&name) => {
                let name = if name == "validation" { "schema" } else { name };
                let first = FieldPath::default().name("spec").name("versions").index(0).name(name);
                Some(first.join(&segments.collect()))
            }
            _ => None,
        };
        let mut finding = self.at(place, path);
        if let Some(written) = written {
            finding.span = place.find(&written).map(|found| found.mark(place.source.text()));
        }
        finding
    }

    /// Returns the finding at the key of a field of an object.
    #[must_use]
    pub fn at_key(mut self, place: &Place, path: FieldPath) -> Self {
        let key = place.find(&path).and_then(|found| found.span.key);
        self = self.at(place, path);
        self.span = key.or(self.span);
        self
    }

    /// Returns the finding at a part of a text.
    #[must_use]
    pub fn at_span(mut self, place: &Place, span: Span) -> Self {
        self.place = Some(place.clone());
        self.span = Some(span);
        self
    }

    /// Returns the finding with the name of its object.
    #[must_use]
    pub fn object(mut self, object: ObjectName) -> Self {
        self.object = object;
        self
    }

    /// Returns the finding with the part of another document that causes it.
    #[must_use]
    pub fn because(mut self, cause: Option<Label>) -> Self {
        self.schema = cause;
        self
    }

    /// Returns the finding with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns where the marked part begins; `None` if absent.
    pub fn start(&self) -> Option<Position> {
        Some(self.place.as_ref()?.source.position(self.span?.start))
    }

    /// Returns where the marked part ends; `None` if absent.
    pub fn end(&self) -> Option<Position> {
        Some(self.place.as_ref()?.source.position(self.span?.end))
    }

    /// Returns the name of the file; empty if absent.
    pub fn file(&self) -> &str {
        self.place.as_ref().map_or("", |place| place.source.name())
    }

    /// Returns a text by which the finding is known again when lines have moved: 16 hexadecimal
    /// digits, made of its file, object, field, rule and text.
    pub fn fingerprint(&self) -> String {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let object = &self.object;
        let path = self.path.to_string();
        let parts =
            [self.file(), &object.api_version, &object.kind, &object.namespace, &object.name];
        let parts = parts.into_iter().chain([path.as_str(), &self.rule, &self.text]);
        let bytes = parts.flat_map(|part| part.bytes().chain([0]));
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        format!("{hash:016x}")
    }
}
