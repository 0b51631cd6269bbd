//! The processing of custom resources in kube-apiserver, between the request body and etcd.
//!
//! A [`CustomResourceDefinition`] is read and compiled once. Its versions then **prune** unknown
//! fields, remove nulls, **default** missing fields and normalize metadata, with the results and the
//! error texts of Kubernetes 1.36, and on request every [`Change`] with its reason.
//!
//! ```
//! use billhook::{CustomResourceDefinition, DecodeOptions};
//!
//! let crd = CustomResourceDefinition::from_value(&serde_json::json!({
//!     "apiVersion": "apiextensions.k8s.io/v1",
//!     "kind": "CustomResourceDefinition",
//!     "metadata": {"name": "backups.example.com"},
//!     "spec": {
//!         "group": "example.com",
//!         "scope": "Namespaced",
//!         "names": {"plural": "backups", "kind": "Backup"},
//!         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
//!             "openAPIV3Schema": {"type": "object", "properties": {
//!                 "spec": {"type": "object", "properties": {
//!                     "keep": {"type": "integer", "default": 7},
//!                 }},
//!             }},
//!         }}],
//!     },
//! }))?;
//!
//! let body = br#"{"apiVersion": "example.com/v1", "kind": "Backup", "spec": {"kep": 3}}"#;
//! let options = DecodeOptions::default().report(true);
//! let decoded = crd.version("v1").unwrap().decode(body, &options)?;
//!
//! assert_eq!(decoded.object()["spec"], serde_json::json!({"keep": 7}));
//! assert_eq!(decoded.warnings(), [r#"unknown field "spec.kep""#]);
//! let changes: Vec<String> = decoded.changes().iter().map(|change| change.to_string()).collect();
//! assert_eq!(changes, [
//!     "pruned spec.kep: 3 (not specified in the schema, PR-12, \
//!      spec.versions[0].schema.openAPIV3Schema.properties[spec])",
//!     "defaulted spec.keep: 7 (missing, so the default is set, DF-20, \
//!      spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[keep])",
//! ]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - [`CrdVersion::decode`]: a request body; [`CrdVersion::decode_storage`]: bytes from etcd;
//!   [`CrdVersion::encode_storage`]: bytes to etcd.
//! - [`CrdVersion::decode_lines`], [`CrdVersion::decode_list`]: many objects, from a reader to a writer.
//! - [`CrdVersion::prune`], [`CrdVersion::remove_nulls`], [`CrdVersion::apply_defaults`]: the separate steps, in
//!   place on a `serde_json::Value`, with a [`Report`]: `()`, or a vector for the changes.
//! - [`CrdVersion::validate_create`], [`CrdVersion::validate_update`], [`CrdVersion::validate_status_update`]:
//!   the server's validation of a decoded object; [`CrdVersion::prepare_create`] and the other
//!   `prepare_*` apply what the server does before validation.
//! - [`Definition`]: the server's validation of a definition itself, on create and on update.
//! - [`FieldManagement`]: server-side apply, and the ownership of fields.
//! - [`webhook`]: webhook configurations, and the webhooks that a request goes to.
//! - `billhook-admission`: the whole write path, mutating and validating webhooks included.
//! - [`Dialect`]: the behavior of a server, or the text of the KEPs; [`KubernetesVersion`]: which
//!   server, from 1.32 to 1.36.
//!
//! # Crate features
//!
//! - `k8s-openapi`: conversions from and to the types of k8s-openapi: [`CustomResourceDefinition`],
//!   [`Definition`], [`webhook::WebhookConfiguration`], [`label_selector::LabelSelector`],
//!   [`UserInfo`], [`Status`], and the labels of namespaces. It does not select a Kubernetes
//!   version; your binary must enable one of k8s-openapi's `v1_*` features.
//! - `kube`: also conversions from and to the types of kube-core, which kube re-exports:
//!   [`Status`], [`webhook::ApiResource`] and the names of kinds and resources.
//! - `rayon`: `decode_lines_parallel` and `decode_list_parallel`, which use several threads.
//!
//! # Not here
//!
//! Conversion webhooks and storage itself.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod coerce_object;
mod crd;
mod decode;
mod decode_options;
mod difference;
mod edition;
mod error;
mod field_management;
#[cfg(feature = "k8s-openapi")]
mod interop;
mod json_patch;
mod manifest;
mod neat;
mod one_pass;
pub mod scale;
mod scale_management;
mod stream;
mod validate;
pub mod webhook;
mod yaml;

pub use billhook_apimachinery::label_selector;
pub use billhook_apimachinery::metadata::Time;
pub use billhook_apimachinery::record::RecordError;
pub use billhook_apimachinery::value::DeepValue;
pub use billhook_apimachinery::{
    Change, ChangeKind, Dialect, ErrorType, FieldError, FieldPath, GroupVersionKind,
    GroupVersionResource, KubernetesVersion, KubernetesVersionError, Placed, Reason, Segment,
    Segments, Span, Spans, Status, StatusCause, StatusDetails, TypeMeta, UserInfo, ValueSpan,
    Verdict,
};
pub use billhook_decode::{Members, ObjectView};
pub use billhook_default_validation::DefaultPruningError;
pub use billhook_defaulting::{LimitError, MAX_DEFAULTED_BYTES};
pub use billhook_definition::types as definition;
pub use billhook_definition::{
    ClientConfig, Definition, DefinitionError, DefinitionValidation, RuleCost, ServiceReference,
};
pub use billhook_schema::ConversionError;
pub use billhook_schema::walk::Report;
pub use coerce_object::type_meta;
pub use crd::{
    CrdError, CrdOptions, CrdVersion, CustomResourceDefinition, Names, ObjectType, Scope,
    VersionError,
};
pub use decode::{Decoded, DecodedText, field_warnings, first_wrong_type, read_body};
pub use decode_options::{BodyFormat, DecodeOptions, FieldValidation, MAX_LINE};
pub use difference::{Cause, Difference, DifferenceError, differences_without_schema};
pub use error::{DecodeError, DecodeErrorKind};
pub use field_management::{ApplyError, ConvertFn, FieldManagement, keep_times_of_unchanged};
pub use json_patch::{JsonPatch, PatchError};
pub use manifest::{
    Manifest, ManifestError, read_manifests, read_manifests_with_spans, to_json, to_json_pretty,
};
pub use scale_management::ScaleManagement;
pub use stream::{Counts, ListError, StreamError, TooLongError};
pub use validate::{RuleVerdict, ValidateOptions, Validation, remove_server_fields};
pub use yaml::to_yaml;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
