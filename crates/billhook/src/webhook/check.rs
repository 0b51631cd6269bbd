//! All that is to be said about one document.

use billhook_schema::FieldError;
use serde_json::Value;

use super::configuration::{ConfigurationVersion, WebhookConfiguration};
use super::decode::ConfigurationError;
use super::lints::Lint;
use super::validation::ValidationOptions;

/// What is to be said about a webhook configuration: why a server refuses it, what it warns of,
/// and what it accepts although it is likely to be wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfigurationCheck {
    /// The configuration, with defaults.
    pub configuration: WebhookConfiguration,
    /// Why a server refuses it.
    pub errors: Vec<FieldError>,
    /// What a server warns of: unknown fields; and that an old version is served no longer.
    pub warnings: Vec<String>,
    /// Advice.
    pub lints: Vec<Lint>,
    /// How many expressions of match conditions were only checked not to be empty.
    pub unchecked_expressions: usize,
}

impl ConfigurationCheck {
    /// Checks a document; the error is that it cannot even be read.
    ///
    /// ```
    /// use billhook::webhook::{ConfigurationCheck, ValidationOptions};
    /// let document = serde_json::json!({
    ///     "apiVersion": "admissionregistration.k8s.io/v1",
    ///     "kind": "ValidatingWebhookConfiguration",
    ///     "metadata": {"name": "policy"},
    ///     "webhooks": [{"name": "pods.policy.example.com", "timeoutSeconds": 20, "rule": []}],
    /// });
    /// let check = ConfigurationCheck::new(&document, &ValidationOptions::default())?;
    /// assert_eq!(check.warnings, ["unknown field \"webhooks[0].rule\""]);
    /// assert_eq!(check.errors[0].to_string(), "webhooks[0].sideEffects: Required value: must \
    ///     specify one of None, NoneOnDryRun");
    /// assert_eq!(check.lints[1].code().code(), "long-timeout");
    /// # Ok::<(), billhook::webhook::ConfigurationError>(())
    /// ```
    pub fn new(
        document: &Value,
        options: &ValidationOptions<'_>,
    ) -> Result<Self, ConfigurationError> {
        let (configuration, unknown) = WebhookConfiguration::from_value_reporting(document)?;
        let mut warnings = unknown;
        if configuration.version == ConfigurationVersion::V1beta1 {
            warnings.push(
                "admissionregistration.k8s.io/v1beta1 is not served since Kubernetes 1.22; the \
                 rules of that version were applied"
                    .to_owned(),
            );
        }
        let conditions = configuration.webhooks.iter().flat_map(|it| &it.match_conditions);
        let expressions = conditions.filter(|it| !it.expression.trim().is_empty()).count();
        Ok(ConfigurationCheck {
            errors: configuration.validate_with(options),
            lints: configuration.lints(),
            unchecked_expressions: if options.expressions.is_some() { 0 } else { expressions },
            configuration,
            warnings,
        })
    }
}
