//! The CustomResourceDefinition: everything a server needs to serve its resources, compiled.

mod crd_version;
mod object_type;
mod read;
mod scale_paths;

use std::sync::{Arc, OnceLock};

use billhook_apimachinery::record::RecordError;
use billhook_apimachinery::{Dialect, FieldError, GroupVersionResource, KubernetesVersion, Status};
use billhook_apply::MergeSchema;
use billhook_cel::rules::Rules;
use billhook_decode::{Decoder, is_json};
use billhook_default_validation::DefaultPruningError;
use billhook_definition::types::{Column, ConversionWebhook};
use billhook_definition::{Definition, DefinitionError};
use billhook_schema::{CompiledSchema, ConversionError, JsonSchemaProps, StructuralSchema};
use billhook_validation::Validator;
use serde_json::Value;

use self::object_type::Typed;
use crate::edition::StatusResets;

pub use billhook_definition::types::Names;
pub use crd_version::CrdVersion;
pub use object_type::ObjectType;
pub(crate) use object_type::{CONVERTED, changes_of_type};
pub use scale_paths::ScalePaths;
pub(crate) use scale_paths::go_text;

/// Whether the resources of a definition live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// They live in namespaces.
    Namespaced,
    /// They belong to the cluster.
    Cluster,
}

/// A CustomResourceDefinition (`apiextensions.k8s.io/v1`), read and compiled once. Cheap to clone
/// and free to share between threads.
///
/// ```
/// use billhook::CustomResourceDefinition;
/// let crd = CustomResourceDefinition::from_yaml("
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: crontabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: crontabs, kind: CronTab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema:
///       openAPIV3Schema:
///         type: object
///         properties:
///           spec:
///             type: object
///             properties:
///               replicas: {type: integer, default: 1}
/// ")?;
/// let v1 = crd.version("v1").unwrap();
/// let mut object = serde_json::json!({
///     "apiVersion": "example.com/v1", "kind": "CronTab", "spec": {"cron": "* * * * *"},
/// });
/// v1.prune(&mut object, &mut ());
/// v1.apply_defaults(&mut object, &mut ())?;
/// assert_eq!(object["spec"], serde_json::json!({"replicas": 1}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CustomResourceDefinition(Arc<CompiledDefinition>);

#[derive(Debug)]
struct CompiledDefinition {
    name: String,
    group: String,
    names: Names,
    scope: Scope,
    preserve_unknown_fields: bool,
    is_converted_by_webhook: bool,
    conversion_webhook: Option<ConversionWebhook>,
    is_established: bool,
    is_terminating: bool,
    /// Whether only POST is refused while it is being deleted, as another method (KV-85).
    terminating_refuses_post: bool,
    dialect: Dialect,
    kubernetes: KubernetesVersion,
    object_type: Typed,
    versions: Vec<Arc<VersionData>>,
    /// For bodies of a version that the definition doesn't have (RP-13).
    empty: CompiledSchema,
}

#[derive(Debug)]
struct VersionData {
    name: String,
    served: bool,
    storage: bool,
    deprecation_warning: Option<String>,
    has_status_subresource: bool,
    /// Whether an update of the status forgives what was wrong before and has not changed (KV-80).
    ratchets_status: bool,
    status_resets: StatusResets,
    scale: Option<ScalePaths>,
    /// JSON paths.
    selectable_fields: Vec<String>,
    additional_printer_columns: Vec<Column>,
    has_schema: bool,
    written: Arc<JsonSchemaProps>,
    structural: Option<StructuralSchema>,
    compiled: CompiledSchema,
    /// Made when fields are managed for the first time.
    merge_schema: OnceLock<MergeSchema>,
    /// Made when text is decoded for the first time.
    decoder: OnceLock<Decoder>,
    /// Made when an object is validated for the first time.
    validator: OnceLock<Validator>,
    rules: OnceLock<Option<Rules>>,
}

/// Options for compiling a definition.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CrdOptions {
    /// The rules to follow; those of a server by default.
    pub dialect: Dialect,
    /// The version of the server; the newest by default.
    pub kubernetes: KubernetesVersion,
    /// Whether the definition describes a built-in kind, whose label selectors are structures.
    pub is_built_in: bool,
    /// The fixed type of the objects, if they are of one.
    pub object_type: Option<Arc<dyn ObjectType>>,
}

impl CrdOptions {
    /// Returns the options for the definition of a built-in kind, or for another one.
    #[must_use]
    pub fn built_in(mut self, is_built_in: bool) -> Self {
        self.is_built_in = is_built_in;
        self
    }

    /// Returns the options for a kind whose objects are of a fixed type.
    #[must_use]
    pub fn object_type(mut self, object_type: Arc<dyn ObjectType>) -> Self {
        self.object_type = Some(object_type);
        self
    }

    /// Returns the options with another dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Returns the options for a server of another version.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }
}

/// A definition that cannot be read or served.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrdError {
    /// The text is neither YAML nor JSON.
    #[error(transparent)]
    Manifest(#[from] crate::ManifestError),
    /// The text holds no definition, or more than one.
    #[error("expected one CustomResourceDefinition, found {0}")]
    Count(usize),
    /// The object is something else.
    #[error("not a CustomResourceDefinition of apiextensions.k8s.io/v1: {0}")]
    Kind(String),
    /// A value has the wrong type; the server's text.
    #[error(transparent)]
    Decode(#[from] RecordError),
    /// A field that nothing can be served without is missing or wrong; the server's text.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A schema has keywords that no structural schema can hold (SS-30).
    #[error("{path}: {error}")]
    Conversion {
        /// The path of the schema.
        path: String,
        /// The server's text.
        error: ConversionError,
    },
    /// A default makes the version unservable (DF-30).
    #[error("{path}: {error}")]
    Defaults {
        /// The path of the schema.
        path: String,
        /// The server's text.
        error: DefaultPruningError,
    },
}

/// A version that a definition does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{definition}` {}", match .version {
    Some(version) => format!("does not serve version `{version}`"),
    None => "has no version for storage".to_owned(),
})]
pub struct VersionError {
    definition: String,
    version: Option<String>,
}

/// The error about the first value of the wrong type in JSON text.
fn first_in_text(text: &[u8]) -> Option<CrdError> {
    match Definition::from_json(text, KubernetesVersion::default()) {
        Err(DefinitionError::Decode(error)) => Some(CrdError::Decode(error)),
        _ => None,
    }
}

impl CustomResourceDefinition {
    /// Reads and compiles a definition.
    ///
    /// # Errors
    ///
    /// If the value is not a definition, or its schemas cannot be served.
    pub fn from_value(value: &Value) -> Result<Self, CrdError> {
        Self::with_options(value, &CrdOptions::default())
    }

    /// Like [`CustomResourceDefinition::from_value`], with options.
    ///
    /// # Errors
    ///
    /// As for [`CustomResourceDefinition::from_value`].
    pub fn with_options(value: &Value, options: &CrdOptions) -> Result<Self, CrdError> {
        read::definition(value, options).map(|definition| Self(Arc::new(definition)))
    }

    /// Reads a definition from YAML text that holds nothing else.
    ///
    /// # Errors
    ///
    /// As for [`CustomResourceDefinition::from_value`]; also if the text is malformed or holds any
    /// other number of documents.
    pub fn from_yaml(text: &str) -> Result<Self, CrdError> {
        Self::from_text(text.as_bytes())
    }

    /// Reads a definition from JSON text.
    ///
    /// # Errors
    ///
    /// As for [`CustomResourceDefinition::from_yaml`].
    pub fn from_json(text: &[u8]) -> Result<Self, CrdError> {
        Self::from_text(text)
    }

    fn from_text(text: &[u8]) -> Result<Self, CrdError> {
        match crate::read_manifests(text)?.as_slice() {
            [manifest] => Self::from_value(manifest.value()).map_err(|error| match error {
                CrdError::Decode(_) if is_json(text) => first_in_text(text).unwrap_or(error),
                error => error,
            }),
            other => Err(CrdError::Count(other.len())),
        }
    }

    /// Returns whether a document claims to be a definition.
    pub fn is_definition(value: &Value) -> bool {
        billhook_definition::is_definition(value)
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the API group.
    pub fn group(&self) -> &str {
        &self.0.group
    }

    /// Returns the `kind` of its objects.
    pub fn kind(&self) -> &str {
        &self.0.names.kind
    }

    /// Returns all its names.
    pub fn names(&self) -> &Names {
        &self.0.names
    }

    /// Returns whether its objects live in namespaces.
    pub fn scope(&self) -> Scope {
        self.0.scope
    }

    /// Returns whether unknown fields are kept everywhere (`spec.preserveUnknownFields`, KD-08).
    pub fn preserves_unknown_fields(&self) -> bool {
        self.0.preserve_unknown_fields
    }

    /// Returns whether its objects are converted by a webhook (`spec.conversion.strategy`, RP-81).
    /// Decoding and encoding here convert as the strategy None does.
    pub fn is_converted_by_webhook(&self) -> bool {
        self.0.is_converted_by_webhook
    }

    /// Returns the webhook that converts its objects, if one does and the definition says where it
    /// is.
    pub fn conversion_webhook(&self) -> Option<&ConversionWebhook> {
        self.0.conversion_webhook.as_ref()
    }

    /// Returns whether a server serves its resources: not if its status has it neither established
    /// nor its names accepted (RP-92).
    pub fn is_established(&self) -> bool {
        self.0.is_established
    }

    /// Returns whether its status has it being deleted, so that no objects can be created (RP-91).
    pub fn is_terminating(&self) -> bool {
        self.0.is_terminating
    }

    /// Returns the answer to the creation of an object while the definition is being deleted, by POST
    /// or by another verb (RP-91, KV-85); none if it may be created.
    pub fn creation_refusal(&self, version: &str, name: &str, is_post: bool) -> Option<Status> {
        let definition = &*self.0;
        if !definition.is_terminating || (definition.terminating_refuses_post && !is_post) {
            return None;
        }
        let why = "create not allowed while custom resource definition is terminating";
        let resource = GroupVersionResource::new(self.group(), version, &self.names().plural);
        if !definition.terminating_refuses_post {
            return Some(Status::forbidden(&resource, name, why));
        }
        let mut status = Status::failure(405, "MethodNotAllowed", why.to_owned());
        status.details = Status::not_found(&resource, "").details;
        Some(status)
    }

    /// Returns the dialect it was compiled for.
    pub fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// Returns the version of the server it was compiled for.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.0.kubernetes
    }

    /// Returns the fixed type of its objects, if they are of one.
    pub(crate) fn object_type(&self) -> Option<&dyn ObjectType> {
        self.0.object_type.as_deref()
    }

    /// Returns its versions, in the order they are written.
    pub fn versions(&self) -> impl Iterator<Item = CrdVersion> {
        self.0.versions.iter().enumerate().map(|version| CrdVersion::new(self, version))
    }

    /// Returns a version by name.
    pub fn version(&self, name: &str) -> Option<CrdVersion> {
        self.versions().find(|version| version.name() == name)
    }

    /// Returns a version that is served.
    ///
    /// # Errors
    ///
    /// When there is no such version, and when it is not served.
    pub fn served(&self, name: &str) -> Result<CrdVersion, VersionError> {
        let served = self.version(name).filter(CrdVersion::is_served);
        served.ok_or_else(|| VersionError {
            definition: self.name().to_owned(),
            version: Some(name.to_owned()),
        })
    }

    /// Returns the version that objects are stored in.
    ///
    /// # Errors
    ///
    /// When no version is marked as the one for storage.
    pub fn storage(&self) -> Result<CrdVersion, VersionError> {
        let stored = self.versions().find(CrdVersion::is_storage);
        stored.ok_or_else(|| VersionError { definition: self.name().to_owned(), version: None })
    }

    /// Returns the schema for bodies of a version; an empty one for a version that does not exist
    /// (RP-13).
    pub(crate) fn schema(&self, version: &str) -> &CompiledSchema {
        let known = self.0.versions.iter().find(|data| data.name == version);
        known.map_or(&self.0.empty, |data| &data.compiled)
    }
}
