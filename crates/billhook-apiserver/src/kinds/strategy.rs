//! The rules of the server's own kinds that their schemas cannot tell.

use std::collections::BTreeSet;

use billhook::KubernetesVersion;
use billhook::webhook::{ValidationOptions, WebhookConfiguration};
use billhook_admission::{Findings, Strategy, Subresource};
use billhook_apimachinery::base64;
use billhook_apimachinery::record::{Record, check_types, fill_nulls, to_value};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value, json};

use crate::configured::NAME_LABEL;

/// The rules of a kind.
#[derive(Debug)]
pub(super) struct KindStrategy {
    kind: Kind,
    record: &'static Record,
    kubernetes: KubernetesVersion,
}

/// Kinds with rules of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Namespace,
    ConfigMap,
    Secret,
    ServiceAccount,
    WebhookConfiguration,
    /// One whose schema says it all.
    Plain,
}

impl KindStrategy {
    pub(super) fn new(kind: &str, record: &'static Record, kubernetes: KubernetesVersion) -> Self {
        let kind = match kind {
            "Namespace" => Kind::Namespace,
            "ConfigMap" => Kind::ConfigMap,
            "Secret" => Kind::Secret,
            "ServiceAccount" => Kind::ServiceAccount,
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
                Kind::WebhookConfiguration
            }
            _ => Kind::Plain,
        };
        KindStrategy { kind, record, kubernetes }
    }
}

impl Strategy for KindStrategy {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        if self.kind == Kind::WebhookConfiguration {
            return complete_webhooks(object);
        }
        let unknown = check_types(object, self.record, self.kubernetes, None);
        let unknown = unknown.map_err(|error| error.to_string())?;
        fill_nulls(object, self.record);
        match self.kind {
            Kind::Secret => merge_string_data(object),
            Kind::Namespace => complete_namespace(object),
            _ => {}
        }
        Ok(unknown)
    }

    fn empty(&self) -> Option<Value> {
        None
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, _: Option<Subresource>) {
        if self.kind == Kind::Namespace && old.is_none() {
            set(object, "status", "phase", "Active");
        }
    }

    fn takes_metadata(&self, _: Subresource) -> bool {
        false
    }

    fn has_schema(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value, old: Option<&Value>, _: Option<Subresource>) -> Findings {
        let mut errors = Vec::new();
        match self.kind {
            Kind::ConfigMap | Kind::Secret => validate_data(object, &mut errors),
            Kind::WebhookConfiguration => {
                let read = |object| {
                    let configuration = WebhookConfiguration::from_value(object).ok()?;
                    Some(configuration.kubernetes(self.kubernetes))
                };
                let stored = old.and_then(read);
                let mut options = ValidationOptions::default();
                options.stored = stored.as_ref();
                if let Some(configuration) = read(object) {
                    return Findings::new(configuration.check(&options).errors, Vec::new());
                }
            }
            Kind::Namespace | Kind::ServiceAccount | Kind::Plain => {}
        }
        if let Some(old) = old {
            if self.kind == Kind::Secret {
                validate_type(object, old, &mut errors);
            }
            validate_immutable(object, old, &mut errors);
        }
        Findings::new(errors, Vec::new())
    }

    fn marks_deletions(&self) -> bool {
        self.kind == Kind::Namespace
    }

    fn mark(&self, object: &mut Value, now: &str) {
        set(object, "metadata", "deletionTimestamp", now);
        set(object, "status", "phase", "Terminating");
    }

    fn merge_keys(&self) -> &[(&str, &str)] {
        match self.kind {
            Kind::Namespace => &[("status.conditions", "type")],
            Kind::ServiceAccount => &[("secrets", "name")],
            Kind::WebhookConfiguration => {
                &[("webhooks", "name"), ("webhooks.matchConditions", "name")]
            }
            Kind::ConfigMap | Kind::Secret | Kind::Plain => &[],
        }
    }

    fn is_kept(&self, object: &Value) -> bool {
        let finalizers = object.pointer("/spec/finalizers").and_then(Value::as_array);
        self.kind == Kind::Namespace && finalizers.is_some_and(|all| !all.is_empty())
    }
}

fn set(object: &mut Value, section: &str, name: &str, value: &str) {
    let Value::Object(members) = object else { return };
    let section = members.entry(section).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(section) = section {
        section.insert(name.to_owned(), value.into());
    }
}

/// A namespace stays until the server has emptied it, and can be selected by its name.
fn complete_namespace(object: &mut Value) {
    let name =
        object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_ending = object.pointer("/metadata/deletionTimestamp").is_some();
    let Value::Object(members) = object else { return };
    if !is_ending {
        let spec = members.entry("spec").or_insert_with(|| json!({}));
        if let Value::Object(spec) = spec {
            spec.entry("finalizers").or_insert_with(|| json!(["kubernetes"]));
        }
    }
    if name.is_empty() {
        return;
    }
    if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        if let Value::Object(labels) = labels {
            labels.insert(NAME_LABEL.to_owned(), name.into());
        }
    }
}

/// Webhooks are stored with their defaults (WCF-11).
fn complete_webhooks(object: &mut Value) -> Result<Vec<String>, String> {
    let read = WebhookConfiguration::from_value_reporting(object);
    let (configuration, unknown) = read.map_err(|error| error.to_string())?;
    let completed = configuration.webhooks.iter().map(|webhook| to_value(webhook).into_inner());
    if let Some(webhooks) = object.get_mut("webhooks") {
        *webhooks = completed.collect();
    }
    Ok(unknown)
}

/// Moves the texts of a secret to its data, where they are encoded.
fn merge_string_data(object: &mut Value) {
    let Value::Object(members) = object else { return };
    let Some(Value::Object(texts)) = members.remove("stringData") else { return };
    if texts.is_empty() {
        return;
    }
    let data = members.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    if let Value::Object(data) = data {
        for (name, text) in texts {
            let text = text.as_str().unwrap_or_default();
            data.insert(name, base64::encode(text.as_bytes()).into());
        }
    }
}

/// Checks the keys of data.
fn validate_data(object: &Value, errors: &mut Vec<FieldError>) {
    let mut seen = BTreeSet::new();
    for section in ["data", "binaryData"] {
        let members = object.get(section).and_then(Value::as_object);
        for key in members.into_iter().flat_map(Map::keys) {
            let path = FieldPath::default().name(section).key(key);
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if key.is_empty() || !key.chars().all(is_allowed) {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' \
                              or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used \
                              for validation is '[-._a-zA-Z0-9]+')";
                errors.push(FieldError::invalid(path.clone(), key.as_str(), detail));
            }
            if !seen.insert(key) {
                let detail = "duplicate of key present in data";
                errors.push(FieldError::invalid(path, key.as_str(), detail));
            }
        }
    }
}

fn validate_type(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let (new, old) = (object.get("type"), old.get("type"));
    if new != old {
        let path = FieldPath::default().name("type");
        let new = new.cloned().unwrap_or_else(|| "".into());
        errors.push(FieldError::invalid(path, new, "field is immutable"));
    }
}

/// Data that is declared immutable stays, and stays so.
fn validate_immutable(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let is_immutable = |object: &Value| object.get("immutable") == Some(&Value::Bool(true));
    if !is_immutable(old) {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    let mut forbid = |name: &str| {
        errors.push(FieldError::forbidden(FieldPath::default().name(name), detail));
    };
    if !is_immutable(object) {
        forbid("immutable");
    }
    for name in ["data", "binaryData"] {
        if object.get(name) != old.get(name) {
            forbid(name);
        }
    }
}
