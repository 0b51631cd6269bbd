//! Conversions from and to the types of `k8s-openapi`.

use k8s_openapi::api::admissionregistration::v1 as registration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;
use serde::Serialize;
use serde_json::Value;

use crate::webhook::{ConfigurationError, WebhookConfiguration};
use crate::{CrdError, CustomResourceDefinition};

/// The document that a typed object is.
fn document(object: &impl Serialize) -> Value {
    // Only a map with keys that are not strings could fail, and there is none.
    serde_json::to_value(object).unwrap_or_default()
}

impl CustomResourceDefinition {
    /// Compiles a definition of `kube` or `k8s-openapi`: one that `kube::CustomResource` derives,
    /// or that an API server returned.
    ///
    /// ```
    /// use billhook::CustomResourceDefinition;
    /// # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1;
    /// # struct Backup;
    /// # impl Backup {
    /// #     fn crd() -> v1::CustomResourceDefinition {
    /// #         serde_json::from_value(serde_json::json!({
    /// #             "metadata": {"name": "backups.example.com"},
    /// #             "spec": {"group": "example.com", "scope": "Namespaced",
    /// #                 "names": {"plural": "backups", "kind": "Backup"},
    /// #                 "versions": [{"name": "v1", "served": true, "storage": true,
    /// #                     "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    /// #         })).unwrap()
    /// #     }
    /// # }
    ///
    /// let definition = CustomResourceDefinition::from_kube(&Backup::crd())?;
    /// assert_eq!(definition.name(), "backups.example.com");
    /// # Ok::<(), billhook::CrdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When no server could serve the definition; [`Definition::from_kube`] finds everything that a
    /// server refuses.
    ///
    /// [`Definition::from_kube`]: crate::Definition::from_kube
    pub fn from_kube(crd: &apiextensions::CustomResourceDefinition) -> Result<Self, CrdError> {
        Self::from_value(&document(crd))
    }
}

/// Reads a configuration and sets its defaults.
///
/// ```
/// use billhook::webhook::WebhookConfiguration;
/// use k8s_openapi::api::admissionregistration::v1::{
///     MutatingWebhook, MutatingWebhookConfiguration,
/// };
///
/// let webhook = MutatingWebhook { name: "a.example.com".to_owned(), ..Default::default() };
/// let webhooks = Some(vec![webhook]);
/// let typed = MutatingWebhookConfiguration { webhooks, ..Default::default() };
/// let configuration = WebhookConfiguration::try_from(&typed)?;
/// assert_eq!(configuration.webhooks[0].timeout_seconds, Some(10));
/// # Ok::<(), billhook::webhook::ConfigurationError>(())
/// ```
impl TryFrom<&registration::MutatingWebhookConfiguration> for WebhookConfiguration {
    type Error = ConfigurationError;

    fn try_from(
        configuration: &registration::MutatingWebhookConfiguration,
    ) -> Result<Self, ConfigurationError> {
        Self::from_value(&document(configuration))
    }
}

/// Reads a configuration and sets its defaults.
impl TryFrom<&registration::ValidatingWebhookConfiguration> for WebhookConfiguration {
    type Error = ConfigurationError;

    fn try_from(
        configuration: &registration::ValidatingWebhookConfiguration,
    ) -> Result<Self, ConfigurationError> {
        Self::from_value(&document(configuration))
    }
}
