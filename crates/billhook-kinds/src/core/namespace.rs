//! Namespaces (BK-254).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{items, path, section, text};
use crate::{cells, rules};

/// The label that a namespace has of itself.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The rules of namespaces.
#[derive(Debug)]
pub(crate) struct Namespace;

impl Behavior for Namespace {
    fn set_defaults(&self, namespace: &mut Value, _: KubernetesVersion) {
        set_label(namespace);
        if text(namespace, "/status/phase").is_empty() {
            set(namespace, "status", "phase", "Active");
        }
    }

    /// A namespace stays until the server has emptied it.
    fn prepare(&self, namespace: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        // A generated name is known only now.
        set_label(namespace);
        let Value::Object(members) = &mut *namespace else { return };
        match old {
            None => {
                members.insert("status".to_owned(), json!({ "phase": "Active" }));
                add_finalizer(namespace);
            }
            Some(old) if context.subresource != "finalize" => {
                if let Some(spec) = old.get("spec") {
                    members.insert("spec".to_owned(), spec.clone());
                }
            }
            Some(_) => {}
        }
    }

    /// Only the finalizers of the spec are those of a write that finalizes.
    fn resets(&self, subresource: &str) -> Option<&'static [&'static str]> {
        match subresource {
            "status" => Some(&["spec"]),
            "finalize" => Some(&["status"]),
            _ => None,
        }
    }

    fn validate(
        &self,
        namespace: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let path = path(&["spec", "finalizers"]);
        for (index, finalizer) in items(namespace, "/spec/finalizers").iter().enumerate() {
            let path = match (old, context.subresource) {
                (None, _) => path.clone(),
                (_, "finalize") => path.clone().index(index),
                _ => break,
            };
            rules::finalizer(&mut found.errors, &path, text(finalizer, ""), context.kubernetes);
        }
        if context.subresource == "status" {
            validate_phase(namespace, &mut found.errors);
        }
    }

    fn marks_deletions(&self) -> bool {
        true
    }

    fn mark(&self, namespace: &mut Value, now: &str, finalizers: Vec<Value>) {
        set(namespace, "metadata", "deletionTimestamp", now);
        if let Some(metadata) = section(namespace, "metadata").filter(|_| !finalizers.is_empty()) {
            metadata.insert("finalizers".to_owned(), finalizers.into());
        }
        set(namespace, "status", "phase", "Terminating");
    }

    fn is_kept(&self, namespace: &Value) -> bool {
        !items(namespace, "/spec/finalizers").is_empty()
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::at(object, "/status/phase"), cells::created(object, now)]
    }
}

/// Sets the label that a namespace can be selected by.
fn set_label(namespace: &mut Value) {
    let name = text(namespace, "/metadata/name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(metadata) = section(namespace, "metadata") {
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        if let Value::Object(labels) = labels {
            labels.insert(NAME_LABEL.to_owned(), name.into());
        }
    }
}

/// Adds the server's finalizer.
fn add_finalizer(namespace: &mut Value) {
    let Some(spec) = section(namespace, "spec") else { return };
    let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
    if let Value::Array(finalizers) = finalizers
        && !finalizers.iter().any(|finalizer| finalizer == "kubernetes")
    {
        finalizers.push("kubernetes".into());
    }
}

/// The phase must be that of the namespace's life.
fn validate_phase(namespace: &Value, errors: &mut Vec<FieldError>) {
    let phase = text(namespace, "/status/phase");
    let deletion = text(namespace, "/metadata/deletionTimestamp");
    let (expected, detail) = if deletion.is_empty() {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    } else {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    };
    if phase != expected {
        errors.push(FieldError::invalid(path(&["status", "Phase"]), phase, detail));
    }
}

fn set(object: &mut Value, part: &str, name: &str, value: &str) {
    if let Some(part) = section(object, part) {
        part.insert(name.to_owned(), value.into());
    }
}
