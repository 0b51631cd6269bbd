//! The configurations that make an API server, or `billhook admit`, call the example's webhooks.

use billhook::webhook::{ConfigurationError, WebhookConfiguration};
use serde_json::Value;

use crate::server::Server;

/// The configurations of the two webhooks, by URL.
const CONFIGURATIONS: [&str; 2] = [
    "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: example-mutating}
webhooks:
- name: mutate.webhooks.example.com
  clientConfig: {url: 'https://localhost:PORT/mutate'}
  rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']}]
  reinvocationPolicy: IfNeeded
  sideEffects: None
  timeoutSeconds: 10
  admissionReviewVersions: [v1]
",
    "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: example-validating}
webhooks:
- name: deny.webhooks.example.com
  clientConfig: {url: 'https://localhost:PORT/deny'}
  rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']}]
  sideEffects: None
  timeoutSeconds: 10
  admissionReviewVersions: [v1]
",
];

/// The configurations of the webhooks of a server.
pub(crate) fn of(server: &Server) -> Result<Vec<Value>, ConfigurationError> {
    let port = server.address().port().to_string();
    let configuration = |text: &&str| {
        let mut configuration = WebhookConfiguration::from_yaml(&text.replace("PORT", &port))?;
        for webhook in &mut configuration.webhooks {
            let ca_bundle = server.authority().ca_bundle.clone();
            webhook.client_config.ca_bundle = ca_bundle.into_bytes();
        }
        Ok(configuration.to_value().into_inner())
    };
    CONFIGURATIONS.iter().map(configuration).collect()
}
