//! Admission: what mutating and validating webhooks make of a request.

mod annotations;
mod answer;
mod call;
mod caller;
mod chain;
#[cfg(feature = "https")]
pub mod client;
mod diff;
mod failure;
mod join;
mod model;
mod mutate;
mod observe;
mod patch;
mod plugin;
mod record;
mod review;
mod status;
mod validate;
mod versioned;
mod warnings;

pub use annotations::{AuditAnnotation, AuditAnnotations, AuditLevel};
pub use answer::Stage;
pub use caller::{BoxFuture, CallFailure, CallerError, WebhookAnswer, WebhookCall, WebhookCaller};
pub use chain::{Chain, ChainOutcome, RequestOptions};
pub use diff::Difference;
pub use model::{Converter, CustomResources, ObjectModel, UnknownObjects};
pub use observe::{CallEnd, CallOutcome, CallStart, Observer, StepEnd};
pub use patch::{JsonPatch, PatchError};
pub use plugin::{Plugin, PluginRequest};
pub use record::{Action, HookResult, Step};
pub use review::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, REVIEW_GROUP, ReviewError, ReviewVersion,
    SharedObject,
};
pub use status::{Status, StatusCause, StatusDetails};
pub use warnings::Warnings;
