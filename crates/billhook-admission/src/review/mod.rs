//! Reviews: their documents, the callers that carry them, and the check of answers.

mod answer;
mod caller;
mod conversion;
mod conversion_answer;
mod document;

pub(crate) use answer::{Verified, read, verify};
/// A review for or from a webhook that is written with `kube`.
///
/// A handler that is tested in the process, without a server:
///
/// ```
/// use billhook_admission::{AdmissionReview, BoxFuture, CallFailure, CallerError, KubeConversionError, WebhookAnswer, WebhookCall, WebhookCaller};
/// use kube_core::DynamicObject;
/// use kube_core::admission as kube;
///
/// /// The handler of the webhook.
/// fn handle(review: kube::AdmissionReview<DynamicObject>) -> kube::AdmissionReview<DynamicObject> {
///     let request: kube::AdmissionRequest<DynamicObject> = review.try_into().unwrap();
///     kube::AdmissionResponse::from(&request).deny("not today").into_review()
/// }
///
/// struct InProcess;
///
/// impl WebhookCaller for InProcess {
///     fn call<'a>(
///         &'a self,
///         call: WebhookCall<'a>,
///     ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
///         let answer = || {
///             let review = AdmissionReview::try_from(handle(call.review.try_into()?))?;
///             Ok(WebhookAnswer::of_review(&review))
///         };
///         let failed = |error: KubeConversionError| CallFailure::new(error.to_string());
///         Box::pin(std::future::ready(answer().map_err(|error| failed(error).into())))
///     }
/// }
/// ```
#[cfg(feature = "kube")]
pub use billhook::webhook::KubeConversionError;
pub use billhook::webhook::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, ReviewError, ReviewVersion,
};
pub use caller::{
    CallFailure, CallerError, ClientError, ConversionCall, Unreachable, WebhookAnswer, WebhookCall,
    WebhookCaller,
};
pub use conversion::{ConversionRequest, ConversionResponse, ConversionReview};
pub(crate) use conversion_answer::{ConversionFailure, converted_objects};
