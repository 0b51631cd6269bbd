//! ObjectMeta: decoding and normalizing (OM-01 to OM-12), validation (OM-30 to OM-60).
//!
//! A server doesn't prune `metadata` against a schema: it decodes it to a typed record and writes
//! it back. Unknown fields are gone afterwards, empty ones too, and times are in UTC seconds.
//!
//! ```
//! use billhook_apimachinery::metadata::{Invalid, decode_metadata};
//! use serde_json::json;
//!
//! let written = json!({"name": "x", "labels": {}, "creationTimestamp": "2020-01-01T02:00:00+02:00"});
//! let decoded = decode_metadata(&written, Invalid::Refuse)?;
//! assert_eq!(*decoded, json!({"name": "x", "creationTimestamp": "2020-01-01T00:00:00Z"}));
//! # Ok::<(), billhook_apimachinery::record::RecordError>(())
//! ```

mod applied;
mod changes;
mod decode;
mod object_meta;
mod validate;

pub use crate::time::{MicroTime, Time, TimeError, is_normal_time};
pub use applied::{WRITTEN_BY_SERVERS, validate_applied};
pub use changes::metadata_changes;
pub use decode::{
    Invalid, NormalMetadata, decode_metadata, normalize_metadata, unknown_metadata_fields,
    write_unset_time,
};
pub use object_meta::{
    FOREGROUND_FINALIZER, ManagedFieldsEntry, ORPHAN_FINALIZER, ObjectMeta, OwnerReference,
};
pub use validate::{
    finalizer_warnings, subdomain_name, validate_annotations, validate_create,
    validate_create_with, validate_embedded_metadata, validate_generic, validate_labels,
    validate_manager, validate_update,
};
