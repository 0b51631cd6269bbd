//! All that is to be said about one document.

use billhook_apimachinery::FieldError;
use serde_json::Value;

use super::configuration::{ConfigurationVersion, WebhookConfiguration};
use super::decode::ConfigurationError;
use super::lints::Lint;
use super::validation::ValidationOptions;

/// The check of a webhook configuration: why a server refuses it, what it warns of,
/// and what it accepts although it is likely to be wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfigurationCheck {
    /// Why a server refuses it.
    pub errors: Vec<FieldError>,
    /// Warnings, for example for an API version that is no longer served.
    pub warnings: Vec<String>,
    /// Advice.
    pub lints: Vec<Lint>,
}

impl WebhookConfiguration {
    /// Reads a document and says all there is to say about it. Unknown fields are given too; they
    /// are warnings, or errors of a request with strict field validation. The error is that the
    /// document cannot be read at all.
    ///
    /// ```
    /// use billhook::webhook::{ValidationOptions, WebhookConfiguration};
    /// let document = serde_json::json!({
    ///     "apiVersion": "admissionregistration.k8s.io/v1",
    ///     "kind": "ValidatingWebhookConfiguration",
    ///     "metadata": {"name": "policy"},
    ///     "webhooks": [{"name": "pods.policy.example.com", "timeoutSeconds": 20, "rule": []}],
    /// });
    /// let options = ValidationOptions::default();
    /// let (check, unknown) = WebhookConfiguration::check_document(&document, &options)?;
    /// assert_eq!(unknown, ["unknown field \"webhooks[0].rule\""]);
    /// assert_eq!(check.errors[0].to_string(), "webhooks[0].sideEffects: Required value: must \
    ///     specify one of None, NoneOnDryRun");
    /// assert_eq!(check.lints[1].code().code(), "long-timeout");
    /// # Ok::<(), billhook::webhook::ConfigurationError>(())
    /// ```
    pub fn check_document(
        document: &Value,
        options: &ValidationOptions<'_>,
    ) -> Result<(ConfigurationCheck, Vec<String>), ConfigurationError> {
        let (configuration, unknown) = Self::from_value_reporting(document)?;
        Ok((configuration.check(options), unknown))
    }

    /// All there is to say about a configuration that was read.
    pub fn check(&self, options: &ValidationOptions<'_>) -> ConfigurationCheck {
        let mut warnings = Vec::new();
        if self.version == ConfigurationVersion::V1beta1 {
            warnings.push(
                "admissionregistration.k8s.io/v1beta1 is not served since Kubernetes 1.22; the \
                 rules of that version were applied"
                    .to_owned(),
            );
        }
        let errors = self.validate_with(options);
        ConfigurationCheck { errors, warnings, lints: self.lints() }
    }
}
