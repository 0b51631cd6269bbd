//! Namespaces (BK-254).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use serde_json::{Value, json};

use crate::behavior::{Behavior, WriteContext};
use crate::cells;
use crate::values::{items, section, text};

/// The label that a namespace has of itself.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The rules of namespaces.
#[derive(Debug)]
pub(crate) struct Namespace;

impl Behavior for Namespace {
    /// A namespace can be selected by its name.
    fn set_defaults(&self, namespace: &mut Value, _: KubernetesVersion) {
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

    /// A namespace stays until the server has emptied it.
    fn prepare(&self, namespace: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        if old.is_none() {
            set(namespace, "status", "phase", "Active");
            if let Some(spec) = section(namespace, "spec") {
                let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
                if let Value::Array(finalizers) = finalizers
                    && !finalizers.iter().any(|finalizer| finalizer == "kubernetes")
                {
                    finalizers.push("kubernetes".into());
                }
            }
        } else if let Some(old) = old
            && context.subresource != "finalize"
            && let Value::Object(members) = namespace
            && let Some(spec) = old.get("spec")
        {
            members.insert("spec".to_owned(), spec.clone());
        }
    }

    fn marks_deletions(&self) -> bool {
        true
    }

    fn mark(&self, namespace: &mut Value, now: &str) {
        set(namespace, "metadata", "deletionTimestamp", now);
        set(namespace, "status", "phase", "Terminating");
    }

    fn is_kept(&self, namespace: &Value) -> bool {
        !items(namespace, "/spec/finalizers").is_empty()
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::at(object, "/status/phase"), cells::created(object, now)]
    }
}

fn set(object: &mut Value, part: &str, name: &str, value: &str) {
    if let Some(part) = section(object, part) {
        part.insert(name.to_owned(), value.into());
    }
}
