//! The known TypeMeta and ObjectMeta fields of Kubernetes resources: decoding, normal form,
//! coercion of embedded resources (OM-01 to OM-26), validation (OM-30 to OM-60).
//!
//! A server doesn't prune `metadata` against a schema: it decodes it to a typed record and writes
//! it back. Unknown fields are gone afterwards, empty ones too, and times are in UTC seconds.
//!
//! ```
//! use billhook_objectmeta::{Invalid, decode_metadata};
//! use serde_json::json;
//!
//! let written = json!({"name": "x", "labels": {}, "creationTimestamp": "2020-01-01T02:00:00+02:00"});
//! let decoded = decode_metadata(&written, Invalid::Refuse)?;
//! assert_eq!(*decoded, json!({"name": "x", "creationTimestamp": "2020-01-01T00:00:00Z"}));
//! # Ok::<(), billhook_objectmeta::MetadataError>(())
//! ```

mod coerce;
mod decode;
mod diff;
mod embedded;
pub mod fields;
pub mod names;
mod time;
mod validate;

pub use coerce::{Coerced, coerce, coerce_node, coerce_reporting};
pub use decode::{
    Invalid, MetadataError, decode_metadata, normalise_metadata, prune_metadata,
    unknown_metadata_fields,
};
pub use diff::metadata_changes;
pub use embedded::{validate_embedded, validate_embedded_node};
pub use time::is_normal_time;
pub use validate::{
    finalizer_warnings, subdomain_name, validate_create, validate_create_with, validate_generic,
    validate_update,
};
