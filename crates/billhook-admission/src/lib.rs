#![doc = include_str!("../README.md")]
//!
//! - [`Admission`]: the whole write path of the resources of a definition. It takes a request and
//!   returns what is stored and returned, or the status that the client gets, with warnings, audit
//!   annotations and a trace.
//! - [`Chain`]: its middle part, for objects of any kind: plugins of the same process
//!   ([`Plugin`]), mutating webhooks with their second round, and validating webhooks.
//! - [`WebhookCaller`]: reaches webhooks. `billhook_webhook_client::HttpsCaller` calls real
//!   ones; tests bring their own.
//! - [`ObjectRequest`]: creations, updates as a whole and by patches, deletions, and updates of the
//!   subresources `status` and `scale`.
//! - [`Store`]: the place that an [`Admission`] writes to, if there is one.
//! - [`Cluster`]: the world around a request, which is given with it; [`MemoryCluster`] is one.
//! - [`Converter`]: converts objects between the versions of a definition in the place of its
//!   conversion webhook, which the [`WebhookCaller`] calls.
//! - [`AdmissionReview`], [`ConversionReview`], [`JsonPatch`], [`Status`](billhook::Status): the documents that server and
//!   webhook exchange, for both sides.
//! - [`Observer`]: watches requests; `metrics::AdmissionMetrics` (feature `metrics`) is one. With
//!   the feature `tracing` there are spans and log events.
//!
//! The chain is asynchronous but needs no runtime: its futures can be polled by any executor, and
//! only the HTTPS client needs tokio. Dropping a future cancels the request and its in-flight
//! calls; a [`Cancellation`] does the same and leaves the records that a server leaves when its
//! client goes away.
//!
//! # In a controller
//!
//! With the feature `kube`, the types of kube and k8s-openapi convert with `TryFrom`:
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
//! use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, Unreachable};
//! use billhook::webhook::{WebhookConfiguration, namespace_labels};
//!
//! let definition = CustomResourceDefinition::from_kube(&Backup::crd())?;
//! let chain = Chain::new(Unreachable)
//!     .webhooks(&[WebhookConfiguration::try_from(&webhooks)?]);
//! let admission = Admission::new(definition, chain);
//!
//! let request = ObjectRequest::create("v1", &serde_json::to_vec(&backup)?);
//! let cluster = MemoryCluster::from(namespace_labels(namespaces));
//! let outcome = admission.admit_blocking(&request, &cluster);
//! let accepted = outcome.result.map_err(kube_core::Status::from)?;
//! let returned: Backup = serde_json::from_value(accepted.into_returned().unwrap().into_inner())?;
//! assert_eq!(returned.spec.keep, Some(7));
//! # Ok(())
//! # }
//! ```
//!
//! # Crate features
//!
//! - `metrics`: the metrics of a server's admission, for prometheus-client.
//! - `tracing`: spans and log events of admission.
//! - `kube`: conversions from and to the types of kube-core and k8s-openapi.
//!
//! # Not here
//!
//! Webhooks from static manifests are not supported.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod audit;
mod cancellation;
mod chain;
mod edition;
mod futures;
mod object_model;
mod observe;
mod options;
mod patch;
mod review;
mod stage;
mod time;
mod trace;
mod write_path;

pub use audit::{AuditAnnotation, AuditAnnotations, AuditLevel, Warnings};
pub use billhook_policy::{BoxFuture, Cluster, MemoryCluster, ObjectModel, ObjectModelError};
pub use cancellation::Cancellation;
pub use chain::{Chain, ChainOutcome, Plugin, PluginRequest};
pub use object_model::{Converter, ConverterError, CustomResources};
#[cfg(feature = "metrics")]
pub use observe::metrics;
pub use observe::{
    CallEnd, CallOutcome, CallStart, ConditionsEnd, ConversionEnd, ConversionOutcome, Observer,
    StepEnd,
};
pub use options::RequestOptions;
pub use patch::{JsonPatch, PatchError};
#[cfg(feature = "kube")]
pub use review::KubeConversionError;
pub use review::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, CallFailure, CallerError, ClientError,
    ConversionCall, ConversionRequest, ConversionResponse, ConversionReview, ReviewError,
    ReviewVersion, Unreachable, WebhookAnswer, WebhookCall, WebhookCaller,
};
pub use stage::Stage;
pub use time::now;
pub use trace::{
    Action, FieldDifference, HookResult, IdempotenceFinding, Mutator, RequestOutcome, Step,
    differences,
};
pub use write_path::{
    Accepted, Admission, AdmissionOutcome, Allocator, DeleteOptions, Findings, KindStrategy,
    ObjectRequest, Preconditions, ServerFields, Store, StoreError, StoreWrite, StoredObject,
    Strategy, StrategyContext, Subresource, UpdateForm, deprecation_warning,
};
