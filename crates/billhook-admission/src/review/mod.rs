//! Reviews: their documents, the callers that carry them, and the check of answers.

mod admission_review;
mod answer;
mod caller;
#[cfg(feature = "kube")]
mod kube;

pub use admission_review::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, ReviewError, ReviewVersion, SharedObject,
};
pub(crate) use answer::{Verified, read, verify};
pub use caller::{
    CallFailure, CallerError, Unreachable, WebhookAnswer, WebhookCall, WebhookCaller,
};
#[cfg(feature = "kube")]
pub use kube::KubeConversionError;
