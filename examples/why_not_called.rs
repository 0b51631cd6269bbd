//! Finds out why an admission webhook is not called for a request.

#![expect(clippy::print_stdout, reason = "the output is the example")]

use std::collections::BTreeMap;
use std::error::Error;

use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, EquivalentResources, MatchContext, NamespaceLabels,
    WebhookConfiguration, WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use serde_json::json;

const CONFIGURATION: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: backups}
webhooks:
- name: quota.backups.example.com
  clientConfig: {service: {namespace: backups, name: hook}}
  namespaceSelector: {matchLabels: {quota: enforced}}
  rules:
  - {operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [backups]}
  sideEffects: None
  admissionReviewVersions: [v1]
- name: status.backups.example.com
  clientConfig: {service: {namespace: backups, name: hook}}
  rules:
  - {operations: [UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [backups/status]}
  sideEffects: None
  admissionReviewVersions: [v1]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let configuration = WebhookConfiguration::from_yaml(CONFIGURATION)?;
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration]);

    // What the cluster knows besides the request: labels of namespaces, and which resources are
    // the same object in several versions.
    let labels = NamespaceLabels::from([("team".to_owned(), "shop".to_owned())]);
    let namespaces = BTreeMap::from([("shop".to_owned(), labels)]);
    let equivalents = EquivalentResources::new();
    let context = MatchContext::new(&namespaces, &equivalents);

    let object =
        json!({"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "a"}});
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Backup"),
        GroupVersionResource::new("example.com", "v1", "backups"),
        object,
    )
    .namespace("shop");

    for (position, webhook) in set.hooks().iter().enumerate() {
        println!("{}:", webhook.name());
        if let Some(trace) = set.explain(position, &request, &context) {
            println!("{trace}");
        }
    }
    Ok(())
}
