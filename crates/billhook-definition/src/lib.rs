#![doc = include_str!("../README.md")]
//!
//! # Crate features
//!
//! - `k8s-openapi`: conversions from the CustomResourceDefinition of k8s-openapi to [`Definition`].
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod approval;
pub mod ca_bundle;
mod client_config;
mod client_config_check;
mod container;
mod conversion;
mod definition;
mod edition;
#[cfg(feature = "k8s-openapi")]
mod k8s_openapi;
mod lists;
mod model;
mod node;
mod options;
mod relaxed;
mod rules;
mod selectable;
mod shown;
mod spec;
pub mod types;
mod validation;
mod warnings;

use billhook_apimachinery::metadata::{subdomain_name, validate_create_with};
use billhook_apimachinery::record::{
    InText, Record, RecordError, TypedRecord, check_types, too_deep,
};
use billhook_apimachinery::value::{DeepValue, deep_clone, depth};
use billhook_apimachinery::{FieldError, KubernetesVersion};
use billhook_decode::{JsonError, MAX_DEPTH, read_json, read_json_with_spans};
use serde_json::Value;

use billhook_apimachinery::metadata::validate_applied;
pub use billhook_cel::RuleCost;
pub use client_config::{ClientConfig, ServiceReference};
pub use client_config_check::validate_client_config;
use definition::{accepted_names, check_preserve, check_spec, immutable};
use model::Model;
use options::Options;
use types::DefinitionDocument;
pub use validation::DefinitionValidation;

/// A CustomResourceDefinition as it is written, with fields of the right types but otherwise
/// unchecked: the state before a server validates a request.
#[derive(Clone, Debug)]
pub struct Definition {
    value: DeepValue,
    document: DefinitionDocument,
    unknown_fields: Vec<String>,
    kubernetes: KubernetesVersion,
}

/// A document that is not a CustomResourceDefinition, or has a field of the wrong type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The document is something else.
    #[error("not a CustomResourceDefinition of apiextensions.k8s.io/v1")]
    Kind,
    /// A value has the wrong type; the server's text.
    #[error(transparent)]
    Decode(#[from] RecordError),
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
}

/// Returns whether a document claims to be a definition.
pub fn is_definition(value: &Value) -> bool {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    text("kind") == "CustomResourceDefinition"
        && text("apiVersion").starts_with("apiextensions.k8s.io/")
}

/// The error about the first value of the wrong type in a text.
fn first_in_text(text: &[u8], kubernetes: KubernetesVersion) -> Option<DefinitionError> {
    let (document, spans) = read_json_with_spans(text).ok()?;
    let record = DefinitionDocument::record();
    let in_text = spans.top().map(|placed| InText { text, placed });
    let types = check_types(document.value(), record, kubernetes, in_text);
    types.err().map(DefinitionError::Decode)
}

impl Definition {
    /// Returns the fields that definitions have.
    pub fn record() -> &'static Record {
        DefinitionDocument::record()
    }

    /// Creates a definition from a document that is sent to a server of the newest version.
    ///
    /// # Errors
    ///
    /// If the document is not a definition, or a field has the wrong type.
    pub fn from_value(value: &Value) -> Result<Self, DefinitionError> {
        Self::new(deep_clone(value), KubernetesVersion::default())
    }

    /// Like [`Definition::from_value`], for a server of any version and without a copy of the
    /// document.
    ///
    /// # Errors
    ///
    /// As for [`Definition::from_value`].
    pub fn new(
        value: impl Into<DeepValue>,
        kubernetes: KubernetesVersion,
    ) -> Result<Self, DefinitionError> {
        let value = value.into();
        let (document, unknown_fields) = Self::read_document(&value, kubernetes)?;
        Ok(Definition { value, document, unknown_fields, kubernetes })
    }

    /// Returns the fields of a definition, and those that are not known, as
    /// [`Definition::unknown_fields`] has them.
    ///
    /// # Errors
    ///
    /// As for [`Definition::from_value`].
    pub fn read_document(
        value: &Value,
        kubernetes: KubernetesVersion,
    ) -> Result<(DefinitionDocument, Vec<String>), DefinitionError> {
        let is_current =
            value.get("apiVersion").and_then(Value::as_str) == Some("apiextensions.k8s.io/v1");
        if !is_current || !is_definition(value) {
            return Err(DefinitionError::Kind);
        }
        if depth(value) > MAX_DEPTH {
            return Err(too_deep().into());
        }
        Ok(DefinitionDocument::read_for(value, kubernetes)?)
    }

    /// Creates a definition from JSON text. Of several values of the wrong type the error is about the
    /// first one in the text; elsewhere about the first by the order of keys, into which YAML is
    /// brought before it is decoded.
    ///
    /// # Errors
    ///
    /// As for [`Definition::from_value`]; also if the text is not JSON.
    pub fn from_json(text: &[u8], kubernetes: KubernetesVersion) -> Result<Self, DefinitionError> {
        let document = read_json(text)?.into_value();
        Self::new(document, kubernetes).map_err(|error| match error {
            DefinitionError::Decode(_) => first_in_text(text, kubernetes).unwrap_or(error),
            error => error,
        })
    }

    /// The fields as they were read.
    pub fn document(&self) -> &DefinitionDocument {
        &self.document
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        &self.document.metadata.name
    }

    /// Returns the fields that are not known, as field validation reports them: `unknown field
    /// "spec.x"` (RP-24, SS-12).
    pub fn unknown_fields(&self) -> &[String] {
        &self.unknown_fields
    }

    fn model(&self) -> Model<'_> {
        Model::new(&self.value, &self.document)
    }

    fn begin(&self, errors: Vec<FieldError>) -> DefinitionValidation {
        DefinitionValidation {
            errors,
            name: self.name().to_owned(),
            ..DefinitionValidation::default()
        }
    }

    /// The outcome in the wording of the server.
    fn worded(&self, mut validation: DefinitionValidation) -> DefinitionValidation {
        let wording = self.kubernetes.wording();
        let errors = validation.errors.into_iter();
        validation.errors = errors.map(|error| error.worded(wording)).collect();
        validation
    }

    /// Validates the creation of the definition (CV-10). Its status is ignored (CV-02).
    pub fn validate_create(&self) -> DefinitionValidation {
        let model = self.model();
        let required = format!("{}.{}", model.names.plural, model.spec.group);
        // CV-11.
        let wording = self.kubernetes.wording();
        let errors = validate_create_with(&model.metadata, false, wording, |name, is_prefix| {
            let mut messages = subdomain_name(name, is_prefix);
            if name != required {
                messages.push("must be spec.names.plural+\".\"+spec.group".to_owned());
            }
            messages
        });
        let mut validation = self.begin(errors);
        let options = Options::create(self.kubernetes);
        check_spec(&model, &options, &mut validation);
        let stored: Vec<&str> = model.storage_version().into_iter().collect();
        spec::stored_versions(&stored, &model, &options, &mut validation.errors);
        approval::check(&model, None, &mut validation.errors);
        check_preserve(&model, &mut validation.errors);
        let formats = warnings::unknown_formats(&model, self.kubernetes);
        validation.warnings = warnings::warnings(&formats, &[]);
        self.worded(validation)
    }

    /// Validates the replacement of another definition (CV-80). Fields that only servers write,
    /// status included, are those of the old definition (CV-02).
    pub fn validate_update(&self, old: &Definition) -> DefinitionValidation {
        let (model, old) = (self.model(), old.model());
        let wording = self.kubernetes.wording();
        let mut validation = self.begin(validate_applied(&model.metadata, &old.metadata, wording));
        let options = relaxed::update(&old, self.kubernetes);
        check_spec(&model, &options, &mut validation);
        let errors = &mut validation.errors;
        immutable(&model, &old, errors);
        accepted_names(&old, errors);
        let mut stored = old.stored_versions_or_first();
        stored.extend(model.storage_version().filter(|name| !stored.contains(name)));
        spec::stored_versions(&stored, &model, &options, errors);
        approval::check(&model, Some(&old), errors);
        if !old.spec.preserve_unknown_fields {
            check_preserve(&model, errors);
        }
        let formats = |model| warnings::unknown_formats(model, self.kubernetes);
        validation.warnings = warnings::warnings(&formats(&model), &formats(&old));
        self.worded(validation)
    }

    /// Validates an update of the status only (CV-95).
    pub fn validate_status_update(&self, old: &Definition) -> DefinitionValidation {
        let (model, old) = (self.model(), old.model());
        let wording = self.kubernetes.wording();
        let mut validation = self.begin(validate_applied(&model.metadata, &old.metadata, wording));
        accepted_names(&model, &mut validation.errors);
        self.worded(validation)
    }
}
