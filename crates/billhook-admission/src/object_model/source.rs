//! Who converts the objects of a definition: its webhook, or a converter in its place.

use billhook::ClientConfig;
use billhook::definition::ConversionWebhook;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::converter::Converter;
use crate::observe::ConversionSpan;
use crate::review::{
    ConversionCall, ConversionFailure, ConversionRequest, ConversionReview, ReviewVersion,
    WebhookCaller, converted_objects,
};

/// Who converts objects.
pub(super) enum Source<'s> {
    Converter(&'s dyn Converter),
    Webhook(WebhookSource<'s>),
}

/// The conversion webhook of a definition, and who calls it.
pub(super) struct WebhookSource<'s> {
    pub(super) definition: &'s str,
    pub(super) webhook: &'s ConversionWebhook,
    pub(super) caller: &'s dyn WebhookCaller,
}

impl Source<'_> {
    /// Fails if nothing can be converted, before it is asked what there is to convert (CX-23).
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Source::Converter(_) => Ok(()),
            Source::Webhook(source) => source.review_version().map(drop),
        }
    }

    /// Returns what became of each object, in their order: an object, or the text for an element
    /// that is none (CX-43).
    pub(super) async fn convert(
        &self,
        objects: &[&Value],
        api_version: &str,
    ) -> Result<Vec<Result<DeepValue, String>>, ConversionFailure> {
        match self {
            Source::Converter(converter) => {
                let converted = converter.convert(objects, api_version).await;
                let converted =
                    converted.map_err(|error| ConversionFailure::Response(error.to_string()))?;
                Ok(converted.into_iter().map(Ok).collect())
            }
            Source::Webhook(source) => source.call(objects, api_version).await,
        }
    }
}

impl WebhookSource<'_> {
    fn review_version(&self) -> Result<ReviewVersion, String> {
        let chosen = ReviewVersion::choose(&self.webhook.conversion_review_versions);
        chosen.ok_or_else(|| "no supported conversion review versions".to_owned())
    }

    async fn call(
        &self,
        objects: &[&Value],
        api_version: &str,
    ) -> Result<Vec<Result<DeepValue, String>>, ConversionFailure> {
        let version = self.review_version().map_err(ConversionFailure::Call)?;
        let copy = |object: &&Value| DeepValue::from(deep_clone(object));
        let request = ConversionRequest {
            uid: uuid::Uuid::new_v4().to_string(),
            desired_api_version: api_version.to_owned(),
            objects: objects.iter().map(copy).collect(),
        };
        let span = ConversionSpan::new(self.definition, &request);
        let uid = request.uid.clone();
        let unknown = ClientConfig::default();
        let call = ConversionCall {
            client_config: self.webhook.client_config.as_ref().unwrap_or(&unknown),
            review: ConversionReview::of_request(version, request),
        };
        let answer = span.run(self.caller.convert(call)).await;
        let answer = answer.map_err(|error| ConversionFailure::Call(error.to_string()))?;
        converted_objects(&answer, version, &uid)
    }
}
