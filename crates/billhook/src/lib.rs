//! What kube-apiserver does to a custom resource between the request body and etcd.
//!
//! A [`CustomResourceDefinition`] is read and compiled once. Its versions then **prune** unknown
//! fields, remove nulls, **default** missing fields and bring metadata to its normal form, with
//! the results and the error texts of Kubernetes 1.36, and on request every single [`Change`] with
//! its reason.
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
//! - [`Version::decode`]: a request body; [`Version::decode_storage`]: bytes from etcd;
//!   [`Version::encode_storage`]: bytes to etcd.
//! - [`Version::decode_lines`], [`Version::decode_list`]: many objects, from a reader to a writer.
//! - [`Version::prune`], [`Version::remove_nulls`], [`Version::default`]: the single steps, in
//!   place on a `serde_json::Value`, each with a `…_reporting` twin.
//! - [`Version::validate_create`], [`Version::validate_update`], [`Version::validate_status_update`]:
//!   what the server says about a decoded object; [`Version::prepare_create`] and its siblings do
//!   what it does to the object before.
//! - [`CrdManifest`]: what the server says about a definition itself, on create and on update.
//! - [`webhook`]: webhook configurations, and which webhooks a request goes to.
//! - [`admission`]: the whole write path, mutating and validating webhooks included.
//! - [`Dialect`]: what a server does, or what the KEPs say.
//!
//! # In a controller
//!
//! With the feature `kube`, what a program that is written with kube has in hand can be used as it
//! is:
//!
//! ```
//! # #[cfg(not(feature = "kube"))]
//! # fn main() {}
//! # #[cfg(feature = "kube")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1;
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # #[serde(rename_all = "camelCase")]
//! # struct Backup { api_version: String, kind: String, metadata: serde_json::Value, spec: Spec }
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct Spec { keep: Option<i64> }
//! # impl Backup {
//! #     fn crd() -> v1::CustomResourceDefinition {
//! #         serde_json::from_value(serde_json::json!({
//! #             "metadata": {"name": "backups.example.com"},
//! #             "spec": {"group": "example.com", "scope": "Namespaced",
//! #                 "names": {"plural": "backups", "kind": "Backup"},
//! #                 "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
//! #                     "openAPIV3Schema": {"type": "object", "properties": {"spec": {
//! #                         "type": "object",
//! #                         "properties": {"keep": {"type": "integer", "default": 7}}}}}}}]},
//! #         })).unwrap()
//! #     }
//! # }
//! # let backup = Backup { api_version: "example.com/v1".to_owned(), kind: "Backup".to_owned(),
//! #     metadata: serde_json::json!({"name": "a"}), spec: Spec { keep: None } };
//! # let webhooks =
//! #     k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration::default();
//! # let mut shop = k8s_openapi::api::core::v1::Namespace::default();
//! # shop.metadata.name = Some("shop".to_owned());
//! # let namespaces = vec![shop];
//! use billhook::CustomResourceDefinition;
//! use billhook::admission::{Admission, Chain, ObjectRequest, Unreachable};
//! use billhook::webhook::{WebhookConfiguration, namespace_labels};
//!
//! let definition = CustomResourceDefinition::try_from(&Backup::crd())?;
//! let chain = Chain::new(Unreachable)
//!     .webhooks(&[WebhookConfiguration::try_from(&webhooks)?])
//!     .namespaces(namespace_labels(namespaces));
//! let admission = Admission::new(definition, chain);
//!
//! let request = ObjectRequest::create("v1", &serde_json::to_vec(&backup)?);
//! let accepted = admission.admit_blocking(&request).result.map_err(kube_core::Status::from)?;
//! let returned: Backup = serde_json::from_value(accepted.returned.unwrap().into_inner())?;
//! assert_eq!(returned.spec.keep, Some(7));
//! # Ok(())
//! # }
//! ```
//!
//! # Crate features
//!
//! - `https`: webhooks over HTTPS (`admission::client`), on tokio.
//! - `metrics`: the metrics of admission (`admission::metrics`), for prometheus-client.
//! - `tracing`: spans and log events of admission.
//! - `k8s-openapi`: conversions from and to the types of k8s-openapi: [`CustomResourceDefinition`],
//!   [`CrdManifest`], [`webhook::WebhookConfiguration`], [`webhook::selector::LabelSelector`],
//!   [`webhook::UserInfo`], [`admission::Status`], and the labels of namespaces. It chooses no
//!   version of Kubernetes; a program that builds k8s-openapi has to, with a feature of that crate.
//! - `kube`: also conversions from and to the types of kube-core, which kube re-exports:
//!   [`admission::AdmissionReview`] with its parts, [`admission::Status`],
//!   [`webhook::ApiResource`] and the names of kinds and resources.
//! - `rayon`: `decode_lines_parallel` and `decode_list_parallel`, which work with several threads.
//!
//! # Not here
//!
//! Conversion webhooks, storage itself, and the merge of server-side apply.

pub mod admission;
mod ca_bundle;
mod clean;
mod crd;
mod decode;
mod error;
#[cfg(feature = "k8s-openapi")]
mod interop;
mod manifest;
mod metadata;
mod stream;
mod validate;
pub mod webhook;
mod yaml;

pub use billhook_cel as cel;
pub use billhook_cel::rules::{RuleFindings, Rules};
pub use billhook_defaulting::{LimitError, MAX_DEFAULTED_VALUES};
pub use billhook_schema::{
    Change, ChangeKind, CompiledSchema, ConversionError, Dialect, ErrorType, FieldError, FieldPath,
    JsonSchemaProps, Reason, SchemaReadError, Segment, Segments, StructuralSchema,
};
pub use billhook_validation::Validator;
pub use crd::{
    CrdError, CrdManifest, CrdManifestError, CrdOptions, CrdValidation, CustomResourceDefinition,
    Names, Scope, Version,
};
pub use decode::{BodyFormat, DecodeOptions, Decoded, DecodedText, FieldValidation};
pub use error::{DecodeError, DecodeErrorKind};
pub use manifest::{Manifest, ManifestError, read_manifests, to_json, to_json_pretty};
pub use stream::{Counts, ListError, MAX_LINE, StreamError, TooLongError};
pub use validate::{ValidateOptions, Validation, Verdict};
pub use yaml::to_yaml;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
