#![doc = include_str!("../README.md")]
//!
//! This crate reads the schema of a CustomResourceDefinition ([`JsonSchemaProps`]), converts it to
//! a [`StructuralSchema`], checks the structural rules with the server's own errors
//! ([`FieldError`](billhook_apimachinery::FieldError)), and compiles it ([`CompiledSchema`]) to the form that pruning, defaulting,
//! metadata coercion and validation walk.
//!
//! It knows nothing of the definition around the schema, reads no files and prints nothing.

mod compiled;
pub mod json_path;
pub mod props;
mod schema_paths;
mod structural;
mod validate;
mod view;
pub mod walk;

pub use compiled::{
    CompileOptions, CompiledSchema, Edge, Effects, ExpectedProperty, MemberTable, Members, NodeId,
    NodeRef, PreviousProperty, PropertyRef, RESOURCE_FIELDS, ResourceField, SchemaStep, Types,
    Unlisted,
};
pub use props::{JsonSchemaProps, MAX_SCHEMA_DEPTH};
pub use schema_paths::SchemaPaths;
pub use structural::{ConversionError, StructuralSchema};
pub use view::{SchemaView, WrittenVersion};
