//! One call of one webhook, up to its checked answer (DI-20 to DI-24, DI-50).

use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Match};
use billhook_apimachinery::Status;

use super::builder::Chain;
use super::status::dry_run_unsupported;
use billhook_policy::RequestObjects;

use crate::cancellation::Cancellation;
use crate::review::{
    AdmissionRequest, AdmissionReview, CallerError, ReviewVersion, Verified, WebhookCall, read,
    verify,
};
use crate::stage::Stage;

/// How a call failed (the error classes of DI-13).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HookError {
    /// The webhook could not be asked, or its answer is unusable: the failure policy decides.
    Calling { reason: String, code: i32 },
    /// It refused the request.
    Rejected(Status),
    /// Something else went wrong; the failure policy is not asked.
    Engine(Status),
    /// It may have side effects, and the request is a dry run; the failure policy is not asked.
    DryRun(Status),
    /// The client went away while it was asked; the failure policy decides, but it is not the
    /// webhook's failure (OB-20).
    Cancelled,
    /// Its task panicked; the failure policy decides (DI-68).
    Panicked(String),
}

impl HookError {
    fn calling(reason: String, code: i32) -> Self {
        HookError::Calling { reason, code }
    }

    pub(super) fn internal(error: &str) -> Self {
        HookError::Engine(Status::internal_error(error))
    }

    /// A calling error with the metric code of a failed exchange.
    pub(super) fn unusable(reason: String) -> Self {
        Self::calling(reason, 503)
    }
}

/// One call of a webhook.
pub(super) struct Call<'c> {
    pub(super) stage: Stage,
    pub(super) hook: &'c CompiledWebhook,
    pub(super) matched: &'c Match,
    /// The client's request.
    pub(super) request: &'c AdmissionAttributes,
    /// The objects in the matched kind.
    pub(super) objects: RequestObjects,
    /// The time that is left for the request.
    pub(super) remaining: Option<Duration>,
    pub(super) cancellation: &'c Cancellation,
}

impl Call<'_> {
    /// Steps 1 to 6 of DI-20.
    pub(super) async fn exchange(self, chain: &Chain, uid: String) -> Result<Verified, HookError> {
        self.check_dry_run()?;
        let webhook = self.hook.webhook();
        let accepted = webhook.admission_review_versions.as_deref().unwrap_or_default();
        let Some(version) = ReviewVersion::choose(accepted) else {
            let reason = "could not create admission objects: webhook does not accept known \
                          AdmissionReview versions (v1, v1beta1)";
            return Err(HookError::calling(reason.to_owned(), 400));
        };
        let own = webhook
            .timeout_seconds
            .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)));
        let timeout = [own, self.remaining].into_iter().flatten().min();
        let call = WebhookCall {
            stage: self.stage,
            hook: self.hook.name(),
            client_config: &webhook.client_config,
            review: AdmissionReview::of_request(version, self.review_request(&uid)),
            timeout,
        };
        let failed = |error| HookError::calling_failed(&error);
        let answer = async { chain.caller.call(call).await };
        let answer = self.cancellation.unless_cancelled(answer).await;
        let answer = answer.ok_or(HookError::Cancelled)?.map_err(failed)?;
        let review = read(&answer, version, chain.reads_yaml)
            .map_err(|failure| HookError::calling_failed(&CallerError::Exchange(failure)))?;
        verify(review, &uid, version, self.stage).map_err(|text| {
            HookError::unusable(format!("received invalid webhook response: {text}"))
        })
    }

    /// DI-22.
    fn check_dry_run(&self) -> Result<(), HookError> {
        if !self.request.dry_run {
            return Ok(());
        }
        match self.hook.webhook().side_effects.as_deref() {
            None => Err(HookError::calling("Webhook SideEffects is nil".to_owned(), 400)),
            Some("None" | "NoneOnDryRun") => Ok(()),
            Some(_) => Err(HookError::DryRun(dry_run_unsupported(self.hook.name()))),
        }
    }

    /// AR-10 to AR-20.
    fn review_request(&self, uid: &str) -> AdmissionRequest {
        let request = self.request;
        let mut review = AdmissionRequest::default();
        review.uid = uid.to_owned();
        review.kind = self.matched.kind.clone();
        review.resource = self.matched.resource.clone();
        review.sub_resource = self.matched.subresource.clone();
        review.request_kind = Some(request.kind.clone());
        review.request_resource = Some(request.resource.clone());
        review.request_sub_resource = request.subresource.clone();
        review.name = request.name.clone();
        review.namespace = request.namespace.clone();
        review.operation = request.operation;
        review.user_info = request.user.clone();
        review.object = self.objects.object.clone();
        review.old_object = self.objects.old_object.clone();
        review.dry_run = request.dry_run;
        review.options = request.options.clone();
        review
    }
}

impl HookError {
    fn calling_failed(error: &CallerError) -> Self {
        match error {
            CallerError::Client(error) => {
                Self::calling(format!("could not get REST client: {error}"), 500)
            }
            CallerError::Exchange(failure) => {
                let code = failure.code().unwrap_or(503);
                Self::calling(format!("failed to call webhook: {failure}"), code)
            }
        }
    }
}
