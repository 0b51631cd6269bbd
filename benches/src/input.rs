//! Inputs: objects of known definitions, clean or with something to do.

use std::sync::Arc;

use billhook::{CrdVersion, CustomResourceDefinition, DecodeOptions, FieldValidation};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use billhook_validation::Validator;
use serde_json::Value;

/// How much decoding has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing.
    Clean,
    /// Remove fields: for ten in objects that the schema knows, there is one more. Metadata has
    /// such fields only in the input that is for metadata.
    Unknown,
    /// Add fields: of ten that have a default, one is missing.
    Missing,
    /// Remove one field and add one.
    Few,
}

impl Variant {
    /// All variants.
    pub const ALL: [Variant; 4] =
        [Variant::Clean, Variant::Unknown, Variant::Missing, Variant::Few];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Clean => "clean",
            Variant::Unknown => "unk10",
            Variant::Missing => "miss10",
            Variant::Few => "few",
        }
    }
}

/// A version of a definition together with the definition's text, from which it can be had again.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The definition as JSON text.
    pub definition: Arc<str>,
    /// The version.
    pub version: CrdVersion,
    pub(crate) schema: CompiledSchema,
}

impl Kind {
    /// Compiles a version of a definition.
    pub fn new(definition: &str, version: &str) -> Self {
        let mut kinds = Kind::versions_of(definition).into_iter();
        kinds.find(|kind| kind.version.name() == version).unwrap()
    }

    /// Compiles a definition.
    pub(crate) fn versions_of(definition: &str) -> Vec<Self> {
        let crd = CustomResourceDefinition::from_json(definition.as_bytes()).unwrap();
        let definition = Arc::from(definition);
        crd.versions().map(|version| Kind::of(Arc::clone(&definition), version)).collect()
    }

    fn of(definition: Arc<str>, version: CrdVersion) -> Self {
        let written = read_schema(&written_schema(&definition, version.name()));
        let structural = StructuralSchema::new(written).ok();
        let mut options = CompileOptions::default();
        options.prune = !version.definition().preserves_unknown_fields();
        let schema = CompiledSchema::new(structural.as_ref(), options);
        Kind { definition, version, schema }
    }

    /// The schema as it is written.
    pub fn written_schema(&self) -> Value {
        written_schema(&self.definition, self.version.name())
    }

    /// The validator of the schema.
    pub fn validator(&self) -> Validator {
        Validator::of(&self.schema, &read_schema(&self.written_schema()))
    }
}

fn read_schema(written: &Value) -> JsonSchemaProps {
    JsonSchemaProps::from_value(written).unwrap()
}

fn written_schema(definition: &str, version: &str) -> Value {
    let mut definition: Value = serde_json::from_str(definition).unwrap();
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let version = versions.iter_mut().find(|found| found["name"] == version).unwrap();
    version["schema"]["openAPIV3Schema"].take()
}

/// One object.
#[derive(Clone, Debug)]
pub struct Document {
    /// The kind of the object.
    pub kind: Kind,
    /// The object as JSON text.
    pub text: Vec<u8>,
    /// The object, parsed.
    pub value: Value,
}

impl Document {
    /// Parses a text.
    pub fn new(kind: Kind, text: Vec<u8>) -> Self {
        let value = serde_json::from_slice(&text).unwrap();
        Document { kind, text, value }
    }

    /// Returns the decoded object.
    pub fn decoded(&self) -> Value {
        let decoded = self.kind.version.decode(&self.text, &DecodeOptions::default());
        let decoded = decoded.unwrap_or_else(|error| {
            panic!("{} does not decode: {}", self.title(), error.status_message())
        });
        decoded.into_object().into_inner()
    }

    fn title(&self) -> String {
        let crd = self.kind.version.definition().name();
        format!("an object of {crd}, {} bytes,", self.text.len())
    }
}

/// One or more objects that are measured together.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name, without the variant.
    pub name: String,
    /// The variant of the task.
    pub variant: Variant,
    /// The objects.
    pub documents: Vec<Document>,
}

impl Input {
    /// Its name with the variant.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.variant.name())
    }

    /// The length of its text.
    pub fn len(&self) -> usize {
        self.documents.iter().map(|document| document.text.len()).sum()
    }

    /// Whether it has no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Panics unless decoding has to do what the variant says, and all ways to decode agree.
    pub fn check(&self) {
        let mut changed = 0;
        for document in &self.documents {
            let decoded = document.decoded();
            let is_changed = decoded != document.value;
            changed += usize::from(is_changed);
            let title = document.title();
            assert!(
                !(is_changed && self.variant == Variant::Clean),
                "{}: {title} is not clean: it decodes to\n{decoded}\ninstead of\n{}",
                self.title(),
                document.value,
            );
            let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
            let text = document.kind.version.decode_text(&document.text, &options).unwrap();
            let parsed: Value = serde_json::from_slice(text.text()).unwrap();
            assert!(
                parsed == decoded,
                "{}: {title} decodes to different objects as text and as a value:\n{parsed}\n\
                 {decoded}",
                self.title(),
            );
            assert!(
                text.is_borrowed() || self.variant != Variant::Clean,
                "{}: {title} is clean, but its text is copied",
                self.title(),
            );
        }
        let is_right = match self.variant {
            Variant::Clean => changed == 0,
            _ => changed == self.documents.len() || (self.documents.len() > 1 && changed > 10),
        };
        assert!(is_right, "{}: decoding changes only {changed} objects", self.title());
    }
}
