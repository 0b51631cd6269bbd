//! Structural schemas of Kubernetes custom resources.
//!
//! This crate reads the schema of a CustomResourceDefinition ([`JsonSchemaProps`]), converts it to
//! a [`StructuralSchema`], checks the structural rules with the server's own errors
//! ([`FieldError`]), and compiles it ([`CompiledSchema`]) to the form that pruning, defaulting,
//! metadata coercion and validation walk.
//!
//! ```
//! use billhook_schema::{FieldPath, JsonSchemaProps, StructuralSchema};
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

pub mod base64;
mod change;
mod compiled;
mod error;
mod errors;
mod hash;
pub mod json_path;
mod path;
pub mod print;
pub mod props;
mod read;
mod structural;
mod validate;
pub mod value;

pub use change::{Change, ChangeKind, Reason, SchemaPaths, excerpt};
pub use compiled::{
    CompileOptions, CompiledSchema, DefaultPlace, DefaultStep, Dialect, Edge, ExpectedProperty,
    NodeId, NodeRef, PreviousProperty, PropertyRef, RESOURCE_FIELDS, ResourceField, Types,
    Unlisted,
};
pub use error::{ErrorType, FieldError, aggregate};
pub use errors::FieldErrors;
pub use hash::hash_name;
pub use path::{FieldPath, Location, Segment, Segments};
pub use props::JsonSchemaProps;
pub use read::{MAX_SCHEMA_DEPTH, SchemaReadError};
pub use structural::{ConversionError, StructuralSchema};
