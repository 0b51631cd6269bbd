//! Configurations of one webhook that is asked about everything, unless more is said.

use billhook::webhook::WebhookConfiguration;
use serde_json::{Value, json};

/// A `Mutating` or `Validating` configuration `name` with the webhook `hook`; `more` are further
/// fields of the webhook.
pub(crate) fn configuration(
    kind: &str,
    name: &str,
    hook: &str,
    more: &Value,
) -> WebhookConfiguration {
    let mut webhook = json!({
        "name": hook,
        "clientConfig": {"url": "https://unused"},
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    WebhookConfiguration::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name},
        "webhooks": [webhook],
    }))
    .unwrap()
}
