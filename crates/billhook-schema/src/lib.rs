//! Structural schemas of Kubernetes custom resources.
//!
//! This crate reads the schema of a CustomResourceDefinition ([`JsonSchemaProps`]), converts it to
//! a [`StructuralSchema`], checks the structural rules with the server's own errors
//! ([`FieldError`](billhook_apimachinery::FieldError)), and compiles it ([`CompiledSchema`]) to the form that pruning, defaulting,
//! metadata coercion and validation walk.
//!
//! ```
//! use billhook_apimachinery::FieldPath;
//! use billhook_schema::{JsonSchemaProps, StructuralSchema};
//! use serde_json::json;
//!
//! let written = json!({"type": "object", "properties": {"a": {"type": "array"}}});
//! let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
//! let errors = schema.validate(&FieldPath::default().name("S"));
//! assert_eq!(errors[0].to_string(), "S.properties[a].items: Required value: must be specified");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It knows nothing of the definition around the schema, reads no files and prints nothing.

mod compiled;
pub mod json_path;
pub mod props;
mod read;
mod schema_paths;
mod structural;
mod validate;

pub use compiled::{
    CompileOptions, CompiledSchema, DefaultPlace, DefaultStep, Edge, ExpectedProperty, NodeId,
    NodeRef, PreviousProperty, PropertyRef, RESOURCE_FIELDS, ResourceField, Types, Unlisted,
};
pub use props::JsonSchemaProps;
pub use read::{MAX_SCHEMA_DEPTH, SchemaReadError};
pub use schema_paths::SchemaPaths;
pub use structural::{ConversionError, StructuralSchema};
