//! Webhooks that answer as a suite says, or that are called because it says so.

use std::collections::BTreeMap;
use std::future::ready;
use std::io;
use std::sync::Arc;

use billhook::Status;
use billhook::webhook::{AdmissionResponse, AdmissionReview, ReviewVersion};
use billhook_admission::{
    BoxFuture, CallFailure, CallerError, ConversionCall, Unreachable, WebhookAnswer, WebhookCall,
    WebhookCaller,
};

use crate::conversions::Conversions;
use crate::object_case::{Answer, patch_text};
use crate::suite::Suite;

/// Makes what calls webhooks, for a suite with its addresses ([`Suite::services`]).
pub type MakeCaller = fn(&Suite) -> io::Result<Arc<dyn WebhookCaller>>;

/// The answers by the names of webhooks.
pub(crate) struct Answers {
    answers: BTreeMap<String, Answer>,
    conversions: Conversions,
    /// Calls the webhooks that answer themselves.
    caller: Arc<dyn WebhookCaller>,
}

impl Answers {
    /// The answers of a suite. The caller is made if one of its webhooks is to be called.
    pub(crate) fn new(
        suite: &Suite,
        conversions: Conversions,
        caller: Option<MakeCaller>,
    ) -> io::Result<Self> {
        let is_wanted = suite.answers.values().any(|answer| answer.call)
            || suite.conversions.values().any(|conversion| conversion.call);
        let caller = caller.filter(|_| is_wanted).map(|make| make(suite)).transpose()?;
        let caller = caller.unwrap_or_else(|| Arc::new(Unreachable));
        Ok(Answers { answers: suite.answers.clone(), conversions, caller })
    }
}

impl WebhookCaller for Answers {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let answer = match self.answers.get(call.hook) {
            Some(answer) if answer.call => return self.caller.call(call),
            Some(answer) => Ok(WebhookAnswer::of_review(&answer.to_review(&call.review))),
            None => Err(CallFailure::new("the suite has no answer of this webhook").into()),
        };
        Box::pin(ready(answer))
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let request = call.review.request.as_ref();
        let known = request.and_then(|request| Some((request, self.conversions.of(request)?)));
        let answer = match known {
            Some((_, conversion)) if conversion.call => return self.caller.convert(call),
            Some((request, conversion)) => {
                let review = call.review.answer(conversion.answer(request));
                Ok(WebhookAnswer::new("application/json", review.to_json()))
            }
            None => Err(CallFailure::new("the suite has no conversion of this kind").into()),
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
            response.patch = patch_text(&self.patch);
            response.patch_type = Some("JSONPatch".to_owned());
        }
        AdmissionReview::of_response(question.version().unwrap_or(ReviewVersion::V1), response)
    }
}
