//! Callers: they carry a review to a webhook and bring the answer back.

use std::sync::Arc;
use std::time::Duration;

use billhook::ClientConfig;
use billhook::webhook::AdmissionReview;
use billhook_apimachinery::Status;

use super::conversion::ConversionReview;
use billhook_policy::BoxFuture;

use crate::stage::Stage;

/// One call of one webhook.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebhookCall<'a> {
    /// The stage; each has its own credentials and connections.
    pub stage: Stage,
    /// The webhook's name.
    pub hook: &'a str,
    /// Where it is.
    pub client_config: &'a ClientConfig,
    /// The question.
    pub review: AdmissionReview,
    /// The time there is (DI-50). The caller must keep to it.
    pub timeout: Option<Duration>,
}

/// One call of the webhook that converts the objects of a definition. It has 30 seconds, whatever
/// the time of the request that needs it (CX-34).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConversionCall<'a> {
    /// Where the webhook is.
    pub client_config: &'a ClientConfig,
    /// The question.
    pub review: ConversionReview,
}

/// An answer with an HTTP status of 200 to 206.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type` header, if there was one.
    pub content_type: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl WebhookAnswer {
    /// An answer with the status 200 and any body.
    pub fn new(content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let content_type = Some(content_type.into());
        WebhookAnswer { status: 200, content_type, body: body.into() }
    }

    /// A review as an answer.
    pub fn of_review(review: &AdmissionReview) -> Self {
        Self::new("application/json", review.to_json())
    }
}

billhook_apimachinery::message_error! {
    /// Configuration or credentials that a webhook cannot be reached with.
    pub struct ClientError;
}

/// The reason why an answer is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallerError {
    /// The webhook cannot be addressed: its configuration or credentials are unusable.
    #[error(transparent)]
    Client(ClientError),
    /// The exchange failed.
    #[error(transparent)]
    Exchange(CallFailure),
}

/// A failed exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFailure {
    message: String,
    code: Option<i32>,
}

impl CallFailure {
    /// A failure that is not an API status.
    pub fn new(message: impl Into<String>) -> Self {
        CallFailure { message: message.into(), code: None }
    }

    /// The webhook answered with an API status of failure.
    pub fn of_status(status: &Status) -> Self {
        CallFailure { message: status.message.clone(), code: Some(status.code) }
    }

    /// A failure that counts as an API status with a code.
    pub fn with_code(message: impl Into<String>, code: i32) -> Self {
        CallFailure { message: message.into(), code: Some(code) }
    }

    /// The code of the API status, if it is one (AR-56).
    pub fn code(&self) -> Option<i32> {
        self.code
    }
}

impl From<CallFailure> for CallerError {
    fn from(failure: CallFailure) -> Self {
        CallerError::Exchange(failure)
    }
}

/// Reaches no webhook, for chains without any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unreachable;

impl WebhookCaller for Unreachable {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let error = CallerError::Client("no webhook can be reached".into());
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Carries reviews to webhooks. The HTTPS client of `billhook-webhook-client` is one; tests and
/// embedders with webhooks in the same process bring their own.
///
/// Calls of the validating stage run at the same time. The caller keeps to
/// [`WebhookCall::timeout`]; a future that is dropped gives up its call. New methods will have
/// defaults.
pub trait WebhookCaller: Send + Sync {
    /// Makes one call.
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>>;

    /// Makes one call of a conversion webhook. By default none can be reached.
    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        drop(call);
        let error = CallerError::Client("no conversion webhook can be reached".into());
        Box::pin(std::future::ready(Err(error)))
    }

    /// Checks, without a call, whether a conversion webhook can be called at all: whether its URL
    /// and its certificates make sense (CX-33).
    ///
    /// # Errors
    ///
    /// If no call can succeed.
    fn check_conversion(&self, client_config: &ClientConfig) -> Result<(), CallerError> {
        let _ = client_config;
        Ok(())
    }
}

/// One caller may serve several chains, which then share its connections.
impl<C: WebhookCaller + ?Sized> WebhookCaller for Arc<C> {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        (**self).call(call)
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        (**self).convert(call)
    }

    fn check_conversion(&self, client_config: &ClientConfig) -> Result<(), CallerError> {
        (**self).check_conversion(client_config)
    }
}
