//! An admission webhook server to try `billhook admit` with: it prints the configurations that
//! call it, then serves until it is stopped.
//!
//! ```console
//! $ cargo run -p billhook --example webhook_server -- 127.0.0.1:8443 > webhooks.yaml
//! ```

#![expect(clippy::print_stdout, reason = "the configurations are its output")]

mod behaviour;
mod server;

use std::error::Error;

use billhook::webhook::{ConfigurationError, WebhookConfiguration};
use serde_json::Value;
use server::Server;

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
  timeoutSeconds: 3
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
  timeoutSeconds: 3
  admissionReviewVersions: [v1]
",
];

fn configurations(server: &Server) -> Result<Vec<Value>, ConfigurationError> {
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8443".to_owned());
    let names = ["webhooks.example.svc", "localhost", "127.0.0.1"];
    let server =
        Server::start(&address, &names, |received| Box::pin(behaviour::answer(received))).await?;
    for configuration in configurations(&server)? {
        println!("---\n{}", billhook::to_yaml(&configuration));
    }
    std::future::pending::<()>().await;
    Ok(())
}
