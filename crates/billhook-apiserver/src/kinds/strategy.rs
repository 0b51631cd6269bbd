//! The rules of the server's own kinds that their schemas cannot tell.

use billhook::KubernetesVersion;
use billhook::webhook::{ValidationOptions, WebhookConfiguration};
use billhook_admission::{Findings, Strategy, Subresource};
use billhook_apimachinery::base64;
use billhook_apimachinery::metadata::subdomain_name;
use billhook_apimachinery::names::{dns1123_label, mask_trailing_hyphen};
use billhook_apimachinery::record::{Record, check_types, fill_nulls, to_value};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value, json};

use super::data;
use crate::namespaces::NAME_LABEL;

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
    Event,
    Lease,
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
            "Event" => Kind::Event,
            "Lease" => Kind::Lease,
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
        match self.kind {
            Kind::Namespace if old.is_none() => set(object, "status", "phase", "Active"),
            // Servers without coordinated leader election have no use for them (BK-29).
            Kind::Lease => remove_coordination(object),
            _ => {}
        }
    }

    fn updates_unconditionally(&self) -> bool {
        use Kind::{ConfigMap, Event, Namespace, Secret, ServiceAccount};
        matches!(self.kind, ConfigMap | Event | Namespace | Secret | ServiceAccount)
    }

    fn creates_on_update(&self) -> bool {
        matches!(self.kind, Kind::Event | Kind::Lease)
    }

    fn group_in_errors(&self) -> Option<&str> {
        // Events of both groups are validated as those of the core group.
        (self.kind == Kind::Event).then_some("")
    }

    fn name_rule(&self) -> fn(&str, bool) -> Vec<String> {
        match self.kind {
            Kind::Namespace => label_name,
            _ => subdomain_name,
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
            Kind::ConfigMap => data::validate_config_map(object, &mut errors),
            Kind::Secret => data::validate_secret(object, &mut errors),
            Kind::Event => validate_event(object, &mut errors),
            Kind::Lease => validate_lease(object, &mut errors),
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
                data::validate_type(object, old, &mut errors);
            }
            data::validate_immutable(object, old, &mut errors);
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
            _ => &[],
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

/// Checks the name of a namespace, a DNS label. The end of a prefix is not checked if it is a hyphen.
fn label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { dns1123_label(&mask_trailing_hyphen(name)) } else { dns1123_label(name) }
}

/// An event is in the namespace of what it is about; one about an object of the cluster is in
/// `default` (BK-484).
fn validate_event(event: &Value, errors: &mut Vec<FieldError>) {
    let text = |pointer| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let about = ["/involvedObject/namespace", "/regarding/namespace"].map(text).concat();
    let namespace = text("/metadata/namespace");
    if about != namespace && !(about.is_empty() && namespace == "default") {
        let path = FieldPath::default().name("involvedObject").name("namespace");
        errors.push(FieldError::invalid(path, about, "does not match event.namespace"));
    }
}

fn remove_coordination(lease: &mut Value) {
    if let Some(Value::Object(spec)) = lease.get_mut("spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

/// Checks the numbers of a lease (BK-484).
fn validate_lease(lease: &Value, errors: &mut Vec<FieldError>) {
    for (name, least, detail) in [
        ("leaseDurationSeconds", 1, "must be greater than 0"),
        ("leaseTransitions", 0, "must be greater than or equal to 0"),
    ] {
        let number = lease.get("spec").and_then(|spec| spec.get(name)).and_then(Value::as_i64);
        if let Some(number) = number.filter(|number| *number < least) {
            let path = FieldPath::default().name("spec").name(name);
            errors.push(FieldError::invalid(path, number, detail));
        }
    }
}
