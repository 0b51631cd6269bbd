//! Spans and log events through `tracing` (OB-50, OB-55). Without the feature nothing happens
//! here. Objects are never logged (OB-56).

use std::future::Future;
use std::time::Duration;

use crate::chain::Call;
use crate::chain::Failure;
use crate::stage::Stage;
#[cfg(feature = "tracing")]
use crate::trace::HookResult;
use crate::trace::Record;
use billhook::webhook::{CompiledWebhook, Operation};

/// A call that takes longer is worth a line.
#[cfg(feature = "tracing")]
const SLOW: Duration = Duration::from_millis(500);

/// The span of one call.
pub(crate) struct CallSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl CallSpan {
    pub(crate) fn new(call: &Call<'_>, uid: &str) -> Self {
        macro_rules! span {
            ($name:literal) => {
                tracing::info_span!(
                    $name,
                    configuration = call.hook.configuration(),
                    webhook = call.hook.name(),
                    resource = %call.request.resource,
                    subresource = call.request.subresource.as_str(),
                    operation = call.request.operation.name(),
                    UID = uid,
                )
            };
        }
        let span = match call.stage {
            Stage::Mutating => span!("Call mutating webhook"),
            Stage::Validating => span!("Call validating webhook"),
        };
        CallSpan { span }
    }

    /// Runs a future inside the span.
    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        use tracing::Instrument as _;
        future.instrument(self.span.clone()).await
    }

    /// An answer was received and decoded.
    pub(crate) fn completed(&self) {
        self.span.in_scope(|| tracing::info!("Request completed"));
    }

    /// A patch was applied.
    pub(crate) fn patched(&self) {
        self.span.in_scope(|| tracing::info!("Patch applied"));
    }
}

#[cfg(not(feature = "tracing"))]
impl CallSpan {
    pub(crate) fn new(_: &Call<'_>, _: &str) -> Self {
        CallSpan {}
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        future.await
    }

    pub(crate) fn completed(&self) {}

    pub(crate) fn patched(&self) {}
}

/// How a call ended, if that is worth a line.
#[cfg(feature = "tracing")]
pub(crate) fn call_ended(
    hook: &CompiledWebhook,
    stage: Stage,
    operation: Operation,
    failure: &Failure,
    took: Duration,
) {
    if took > SLOW {
        let (webhook, millis) = (hook.name(), took.as_millis());
        tracing::info!(webhook, millis, "A webhook took long to answer");
    }
    let (webhook, configuration) = (hook.name(), hook.configuration());
    let operation = operation.name();
    macro_rules! warn {
        ($error:expr, $text:literal) => {
            tracing::warn!(webhook, configuration, operation, error = $error.as_str(), $text)
        };
    }
    match &failure.result {
        HookResult::FailedOpen(error) | HookResult::FailedClosed(error) if failure.is_cancelled => {
            warn!(error, "The client went away while the webhook was asked");
        }
        HookResult::FailedOpen(error) => {
            warn!(error, "The webhook could not be asked, which is ignored");
            let error = error.as_str();
            tracing::error!(webhook, configuration, operation, error, "Failed to ask a webhook");
        }
        HookResult::FailedClosed(error) => {
            warn!(error, "The webhook could not be asked, so the request fails");
        }
        HookResult::Rejected(error) if stage == Stage::Validating => {
            warn!(error, "The webhook refuses the request");
        }
        _ => {}
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn call_ended(_: &CompiledWebhook, _: Stage, _: Operation, _: &Failure, _: Duration) {}

/// Match conditions of a webhook make the request fail.
#[cfg(feature = "tracing")]
pub(crate) fn conditions_failed(hook: &CompiledWebhook, operation: Operation, error: &str) {
    let (webhook, configuration) = (hook.name(), hook.configuration());
    let operation = operation.name();
    tracing::warn!(
        webhook,
        configuration,
        operation,
        error,
        "Match conditions cannot be evaluated, so the request fails"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn conditions_failed(_: &CompiledWebhook, _: Operation, _: &str) {}

/// What the request left behind that nobody will see otherwise.
#[cfg(feature = "tracing")]
pub(crate) fn request_ended(record: &Record, further_errors: &[billhook_apimachinery::Status]) {
    for refused in record.annotations.refused() {
        tracing::warn!(error = refused.as_str(), "An audit annotation is refused");
    }
    for status in further_errors {
        tracing::warn!(error = status.message.as_str(), "Further error of a validating webhook");
    }
    if record.warnings.is_cut() {
        tracing::warn!("The warnings of the request exceed their limit and are cut");
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn request_ended(_: &Record, _: &[billhook_apimachinery::Status]) {}
