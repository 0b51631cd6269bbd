//! MutatingWebhookConfigurations and ValidatingWebhookConfigurations.

use billhook::webhook::{self, ValidationOptions};
use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::{Record, RecordError, to_value};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;

/// The rules of webhook configurations.
#[derive(Debug)]
pub(crate) struct WebhookConfiguration;

impl Behavior for WebhookConfiguration {
    /// Webhooks are stored with their defaults (WCF-11).
    fn read(
        &self,
        object: &mut Value,
        _: &'static Record,
        _: KubernetesVersion,
    ) -> Result<Vec<String>, RecordError> {
        let read = webhook::WebhookConfiguration::from_value_reporting(object);
        let (configuration, unknown) = read.map_err(|error| RecordError::new(error.to_string()))?;
        let webhooks = configuration.webhooks.iter().map(|webhook| to_value(webhook).into_inner());
        if let Some(written) = object.get_mut("webhooks") {
            *written = webhooks.collect();
        }
        Ok(unknown)
    }

    fn has_plain_metadata(&self) -> bool {
        false
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let read = |object| {
            let configuration = webhook::WebhookConfiguration::from_value(object).ok()?;
            Some(configuration.kubernetes(context.kubernetes))
        };
        let stored = old.and_then(read);
        let options = ValidationOptions::default();
        let options = match &stored {
            Some(stored) => options.stored(stored),
            None => options,
        };
        if let Some(configuration) = read(object) {
            found.errors.extend(configuration.check(&options).errors);
            let warning = webhook::reserved_name_warning(configuration.name(), context.kubernetes);
            found.warnings.extend(warning);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            cells::count(object, "/webhooks").into(),
            cells::created(object, now),
        ]
    }
}
