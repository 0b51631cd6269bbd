//! Spans and log events through `tracing` (OB-50, OB-55, CX-52). Without the feature nothing happens
//! here. Objects are never logged (OB-56).

use std::future::Future;

use billhook::webhook::{AdmissionAttributes, CompiledWebhook};

use super::observer::{CallEnd, CallStart};
use crate::review::ConversionRequest;
use crate::stage::Stage;
use crate::trace::{HookResult, RequestLog};

/// A call that takes longer is worth a line.
#[cfg(feature = "tracing")]
const SLOW: std::time::Duration = std::time::Duration::from_millis(500);

/// The span of one call.
pub(crate) struct CallSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl CallSpan {
    pub(crate) fn new(
        stage: Stage,
        hook: &CompiledWebhook,
        request: &AdmissionAttributes,
        uid: &str,
    ) -> Self {
        macro_rules! span {
            ($name:literal) => {
                tracing::info_span!(
                    $name,
                    configuration = hook.configuration(),
                    webhook = hook.name(),
                    resource = %request.resource,
                    subresource = request.subresource.as_str(),
                    operation = request.operation.name(),
                    UID = uid,
                )
            };
        }
        let span = match stage {
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
    pub(crate) fn new(_: Stage, _: &CompiledWebhook, _: &AdmissionAttributes, _: &str) -> Self {
        CallSpan {}
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        future.await
    }

    pub(crate) fn completed(&self) {}

    pub(crate) fn patched(&self) {}
}

/// Logs how a call ended, if that is worth a line.
#[cfg(feature = "tracing")]
pub(crate) fn call_ended(end: &CallEnd<'_>, result: &HookResult) {
    let CallStart { hook: webhook, configuration, stage, operation } = end.call;
    if end.took > SLOW {
        let millis = end.took.as_millis();
        tracing::info!(webhook, millis, "A webhook took long to answer");
    }
    let operation = operation.name();
    macro_rules! warn {
        ($error:expr, $text:literal) => {
            tracing::warn!(webhook, configuration, operation, error = $error.as_str(), $text)
        };
    }
    match result {
        HookResult::FailedOpen(error) | HookResult::FailedClosed(error) if end.is_cancelled => {
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
pub(crate) fn call_ended(_: &CallEnd<'_>, _: &HookResult) {}

/// The span of one call of a conversion webhook.
pub(crate) struct ConversionSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
    /// A call that takes longer is worth a line.
    #[cfg(feature = "tracing")]
    slow: std::time::Duration,
}

#[cfg(feature = "tracing")]
impl ConversionSpan {
    pub(crate) fn new(definition: &str, request: &ConversionRequest) -> Self {
        use std::time::Duration;
        let count = request.objects.len();
        let span = tracing::info_span!(
            "Call conversion webhook",
            "custom-resource-definition" = definition,
            "desired-api-version" = request.desired_api_version.as_str(),
            "object-count" = count,
            UID = request.uid.as_str(),
        );
        let per_object = Duration::from_millis(8);
        let slow = per_object.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        ConversionSpan { span, slow: slow.saturating_add(Duration::from_millis(50)) }
    }

    /// Runs a future inside the span.
    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        use tracing::Instrument as _;
        let began = std::time::Instant::now();
        let output = future.instrument(self.span.clone()).await;
        let took = began.elapsed();
        if took > self.slow {
            let millis = took.as_millis();
            self.span
                .in_scope(|| tracing::info!(millis, "A conversion webhook took long to answer"));
        }
        output
    }
}

#[cfg(not(feature = "tracing"))]
impl ConversionSpan {
    pub(crate) fn new(_: &str, _: &ConversionRequest) -> Self {
        ConversionSpan {}
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        future.await
    }
}

/// Match conditions of a webhook make the request fail.
#[cfg(feature = "tracing")]
pub(crate) fn conditions_failed(call: &CallStart<'_>, error: &str) {
    let CallStart { hook: webhook, configuration, operation, .. } = *call;
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
pub(crate) fn conditions_failed(_: &CallStart<'_>, _: &str) {}

/// Logs the parts of a request's log that are not shown otherwise.
#[cfg(feature = "tracing")]
pub(crate) fn request_ended(log: &RequestLog) {
    for refused in log.annotations.refused() {
        tracing::warn!(error = refused.as_str(), "An audit annotation is refused");
    }
    for status in log.validating_errors.iter().skip(1) {
        tracing::warn!(error = status.message.as_str(), "Further error of a validating webhook");
    }
    if log.warnings.is_cut() {
        tracing::warn!("The warnings of the request exceed their limit and are cut");
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn request_ended(_: &RequestLog) {}
