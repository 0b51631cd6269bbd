//! Webhooks that answer as a suite says.

use std::collections::BTreeMap;
use std::future::ready;

use billhook::Status;
use billhook::webhook::{AdmissionResponse, AdmissionReview, ReviewVersion};
use billhook_admission::{CallFailure, CallerError, WebhookAnswer, WebhookCall, WebhookCaller};

use crate::object_case::Answer;

/// The answers by the names of webhooks.
#[derive(Debug)]
pub(crate) struct Answers(pub(crate) BTreeMap<String, Answer>);

impl WebhookCaller for Answers {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<WebhookAnswer, CallerError>> + Send + 'a>>
    {
        let answer = match self.0.get(call.hook) {
            Some(answer) => Ok(WebhookAnswer::of_review(&answer.to_review(&call.review))),
            None => Err(CallFailure::new("the suite has no answer of this webhook").into()),
        };
        Box::pin(ready(answer))
    }
}

impl Answer {
    fn to_review(&self, question: &AdmissionReview) -> AdmissionReview {
        let mut response = AdmissionResponse::default();
        if let Some(request) = &question.request {
            response.uid.clone_from(&request.uid);
        }
        response.allowed = self.deny.is_none();
        response.warnings.clone_from(&self.warnings);
        if let Some(message) = &self.deny {
            response.status = Some(Status::failure(403, "Forbidden", message));
        }
        if !self.patch.is_empty() {
            let operations: Vec<String> =
                self.patch.iter().map(|operation| billhook::to_json(operation)).collect();
            response.patch = format!("[{}]", operations.join(",")).into_bytes();
            response.patch_type = Some("JSONPatch".to_owned());
        }
        AdmissionReview::of_response(question.version().unwrap_or(ReviewVersion::V1), response)
    }
}
