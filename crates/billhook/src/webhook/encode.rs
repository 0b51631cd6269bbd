//! Writing configurations as documents, with the fields that a server writes.

use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::{Map, Value};

use super::configuration::{GROUP, MatchCondition, Rule, Webhook, WebhookConfiguration};
use billhook_apimachinery::base64;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_definition::{ClientConfig, ServiceReference};

impl WebhookConfiguration {
    /// The configuration as a document of its version, defaults included.
    pub fn to_value(&self) -> DeepValue {
        let mut members = Members::default();
        members.set("apiVersion", format!("{GROUP}/{}", self.version.name()));
        members.set("kind", self.kind.name());
        members.set("metadata", deep_clone(&self.metadata));
        members.set_list("webhooks", self.webhooks.iter().map(webhook).collect());
        DeepValue::from(members.into_value())
    }
}

/// An object in the making; what is absent or empty is left out unless it must be there.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn set_some<T: Into<Value>>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    fn set_list(&mut self, name: &str, items: Vec<Value>) {
        if !items.is_empty() {
            self.set(name, items);
        }
    }

    fn set_texts(&mut self, name: &str, texts: &[String]) {
        self.set_list(name, texts.iter().map(|text| Value::from(text.as_str())).collect());
    }

    fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

fn webhook(webhook: &Webhook) -> Value {
    let mut members = Members::default();
    members.set("name", webhook.name.as_str());
    members.set("clientConfig", client_config(&webhook.client_config));
    members.set_list("rules", webhook.rules.iter().map(rule).collect());
    members.set_some("failurePolicy", webhook.failure_policy.as_deref());
    members.set_some("matchPolicy", webhook.match_policy.as_deref());
    let selector =
        |selector: &Option<LabelSelector>| selector.as_ref().map(LabelSelector::to_value);
    members.set_some("namespaceSelector", selector(&webhook.namespace_selector));
    members.set_some("objectSelector", selector(&webhook.object_selector));
    members.set("sideEffects", webhook.side_effects.as_deref());
    members.set_some("timeoutSeconds", webhook.timeout_seconds);
    members.set("admissionReviewVersions", webhook.admission_review_versions.clone());
    members.set_some("reinvocationPolicy", webhook.reinvocation_policy.as_deref());
    members.set_list("matchConditions", webhook.match_conditions.iter().map(condition).collect());
    members.into_value()
}

fn client_config(config: &ClientConfig) -> Value {
    let mut members = Members::default();
    members.set_some("url", config.url.as_deref());
    members.set_some("service", config.service.as_ref().map(service));
    if !config.ca_bundle.is_empty() {
        members.set("caBundle", base64::encode(&config.ca_bundle));
    }
    members.into_value()
}

fn service(service: &ServiceReference) -> Value {
    let mut members = Members::default();
    members.set("namespace", service.namespace.as_str());
    members.set("name", service.name.as_str());
    members.set_some("path", service.path.as_deref());
    members.set_some("port", service.port);
    members.into_value()
}

fn rule(rule: &Rule) -> Value {
    let mut members = Members::default();
    members.set_texts("operations", &rule.operations);
    members.set_texts("apiGroups", &rule.api_groups);
    members.set_texts("apiVersions", &rule.api_versions);
    members.set_texts("resources", &rule.resources);
    members.set_some("scope", rule.scope.as_deref());
    members.into_value()
}

fn condition(condition: &MatchCondition) -> Value {
    let mut members = Members::default();
    members.set("name", condition.name.as_str());
    members.set("expression", condition.expression.as_str());
    members.into_value()
}
