//! The way to webhooks: services of this process, and everything else.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::ClientConfig;
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError,
    ConversionCall, ConversionResponse, ConversionReview, Converter, Unreachable, WebhookAnswer,
    WebhookCall, WebhookCaller,
};
use serde_json::Value;

/// Namespace and name of a service.
type ServiceName = (String, String);

/// Answers reviews of admission.
type Handler = dyn Fn(&AdmissionRequest) -> AdmissionResponse + Send + Sync;

/// Reaches webhooks.
#[derive(Clone)]
pub(crate) struct Webhooks {
    handlers: BTreeMap<ServiceName, Arc<Handler>>,
    converters: BTreeMap<ServiceName, Arc<dyn Converter>>,
    others: Arc<dyn WebhookCaller>,
}

impl Default for Webhooks {
    fn default() -> Self {
        Webhooks {
            handlers: BTreeMap::new(),
            converters: BTreeMap::new(),
            others: Arc::new(Unreachable),
        }
    }
}

impl Webhooks {
    /// Reaches everything that is not in this process by a caller.
    pub(crate) fn set_caller(&mut self, caller: impl WebhookCaller + 'static) {
        self.others = Arc::new(caller);
    }

    /// Has requests reviewed in this process where a configuration names a service.
    pub(crate) fn add_handler(
        &mut self,
        namespace: &str,
        name: &str,
        handler: impl Fn(&AdmissionRequest) -> AdmissionResponse + Send + Sync + 'static,
    ) {
        self.handlers.insert((namespace.to_owned(), name.to_owned()), Arc::new(handler));
    }

    /// Has objects converted in this process where a definition names a service.
    pub(crate) fn add_converter(
        &mut self,
        namespace: &str,
        name: &str,
        converter: impl Converter + 'static,
    ) {
        self.converters.insert((namespace.to_owned(), name.to_owned()), Arc::new(converter));
    }
}

/// The service of this process that a webhook is, if it is one.
fn service<'s, T: ?Sized>(
    services: &'s BTreeMap<ServiceName, Arc<T>>,
    config: &ClientConfig,
) -> Option<&'s T> {
    let service = config.service.as_ref()?;
    let key = (service.namespace.clone(), service.name.clone());
    services.get(&key).map(|service| &**service)
}

impl WebhookCaller for Webhooks {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        match service(&self.handlers, call.client_config) {
            Some(handler) => Box::pin(async move { review(handler, &call.review) }),
            None => self.others.call(call),
        }
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        match service(&self.converters, call.client_config) {
            Some(converter) => Box::pin(answer(converter, call.review)),
            None => self.others.convert(call),
        }
    }

    fn check_conversion(&self, client_config: &ClientConfig) -> Result<(), CallerError> {
        match service(&self.converters, client_config) {
            Some(_) => Ok(()),
            None => self.others.check_conversion(client_config),
        }
    }
}

/// The answer of a handler to a review.
fn review(handler: &Handler, review: &AdmissionReview) -> Result<WebhookAnswer, CallerError> {
    let (Some(request), Some(version)) = (&review.request, review.version()) else {
        return Err(CallFailure::new("the review has no request").into());
    };
    let review = AdmissionReview::of_response(version, handler(request));
    Ok(WebhookAnswer::of_review(&review))
}

/// The answer of a converter to a review.
async fn answer(
    converter: &dyn Converter,
    review: ConversionReview,
) -> Result<WebhookAnswer, CallerError> {
    let Some(request) = &review.request else {
        return Err(CallFailure::new("the review has no request").into());
    };
    let objects: Vec<&Value> = request.objects.iter().map(|object| &**object).collect();
    let response = match converter.convert(&objects, &request.desired_api_version).await {
        Ok(converted) => ConversionResponse::success(request, converted),
        Err(error) => ConversionResponse::failure(request, &error.to_string()),
    };
    Ok(WebhookAnswer::new("application/json", review.answer(response).to_json()))
}
