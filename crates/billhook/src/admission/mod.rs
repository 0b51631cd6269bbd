//! Admission: what mutating and validating webhooks make of a request.

mod annotations;
mod answer;
mod caller;
mod patch;
mod review;
mod status;
mod warnings;

pub use annotations::{AuditAnnotation, AuditAnnotations, AuditLevel};
pub use answer::Stage;
pub use caller::{
    BoxFuture, CallFailure, CallerError, WebhookAnswer, WebhookCall, WebhookCaller,
};
pub use patch::{JsonPatch, PatchError};
pub use review::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, GroupVersionKind, GroupVersionResource,
    Operation, REVIEW_GROUP, ReviewError, ReviewVersion, SharedObject, UserInfo,
};
pub use status::{Status, StatusCause, StatusDetails};
pub use warnings::Warnings;
