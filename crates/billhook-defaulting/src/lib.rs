//! Null removal and defaulting of custom resources (KEP-575, DF-10 to DF-33).
//!
//! ```
//! use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
//! use serde_json::json;
//!
//! let written = json!({"type": "object", "properties": {
//!     "replicas": {"type": "integer", "default": 1},
//!     "note": {"type": "string"},
//! }});
//! let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
//! let schema = CompiledSchema::new(Some(&schema), CompileOptions::default());
//!
//! let mut object = json!({"note": null});
//! billhook_defaulting::remove_nulls(&schema, &mut object);
//! billhook_defaulting::apply_defaults(&schema, &mut object)?;
//! assert_eq!(object, json!({"replicas": 1}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod defaults;
mod nulls;

pub use defaults::{
    Cause, LimitError, MAX_DEFAULTED_VALUES, apply_defaults, apply_defaults_node,
    apply_defaults_node_reporting, apply_defaults_reporting, default_change, sort_default_changes,
};
pub use nulls::{null_change, remove_nulls, remove_nulls_node, remove_nulls_reporting};
