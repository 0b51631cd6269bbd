//! Who converts the objects of a definition: its webhook, or a converter in its place.

use std::sync::Arc;

use billhook::ClientConfig;
use billhook::definition::ConversionWebhook;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::model::Converter;
use crate::review::{
    ConversionCall, ConversionFailure, ConversionRequest, ConversionReview, ReviewVersion,
    WebhookCaller, converted_objects,
};

/// Who converts objects.
pub(super) enum Source<'s> {
    Converter(&'s dyn Converter),
    Webhook { webhook: &'s ConversionWebhook, caller: &'s dyn WebhookCaller },
}

impl Source<'_> {
    /// Fails if nothing can be converted, before it is asked what there is to convert (CX-23).
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Source::Converter(_) => Ok(()),
            Source::Webhook { webhook, .. } => review_version(webhook).map(drop),
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
            Source::Webhook { webhook, caller } => {
                call(webhook, *caller, objects, api_version).await
            }
        }
    }
}

fn review_version(webhook: &ConversionWebhook) -> Result<ReviewVersion, String> {
    let chosen = ReviewVersion::choose(&webhook.conversion_review_versions);
    chosen.ok_or_else(|| "no supported conversion review versions".to_owned())
}

async fn call(
    webhook: &ConversionWebhook,
    caller: &dyn WebhookCaller,
    objects: &[&Value],
    api_version: &str,
) -> Result<Vec<Result<DeepValue, String>>, ConversionFailure> {
    let version = review_version(webhook).map_err(ConversionFailure::Call)?;
    let copy = |object: &&Value| Arc::new(DeepValue::from(deep_clone(object)));
    let request = ConversionRequest {
        uid: uuid::Uuid::new_v4().to_string(),
        desired_api_version: api_version.to_owned(),
        objects: objects.iter().map(copy).collect(),
    };
    let uid = request.uid.clone();
    let unknown = ClientConfig::default();
    let call = ConversionCall {
        client_config: webhook.client_config.as_ref().unwrap_or(&unknown),
        review: ConversionReview::of_request(version, request),
    };
    let answer = caller.convert(call).await;
    let answer = answer.map_err(|error| ConversionFailure::Call(error.to_string()))?;
    converted_objects(&answer, version, &uid)
}
