//! The managers of fields: what a write makes of `metadata.managedFields`, and the merge of an
//! applied configuration (SA-30 to SA-93).

mod adapt;
mod apply;
mod as_written;
mod cap;
mod conflict;
mod last_applied;
mod managed_fields;
mod prune;
mod scale;
mod update;
mod versions;

use std::sync::LazyLock;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::print::is_printable;

use serde_json::{Value, json};

use crate::field_set::FieldSet;
use crate::fields::Fields;
use crate::path_element::PathElement;
use crate::schema::MergeSchema;
pub use apply::MergeError;
pub use conflict::{Conflict, Conflicts};
pub use managed_fields::{ManagedFields, ManagedFieldsError, ManagedFieldsOperation, ManagerEntry};
pub use scale::{ReplicasPath, ScaleManager};
pub use update::UpdateError;
pub use versions::{ConversionError, Versions};

/// The field management of one request: who makes it, for what, and when.
#[derive(Clone, Copy)]
pub struct FieldManager<'a> {
    versions: &'a dyn Versions,
    /// Group and version of the URL.
    api_version: &'a str,
    kind: &'a str,
    subresource: &'a str,
    manager: &'a str,
    now: Time,
}

impl std::fmt::Debug for FieldManager<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FieldManager")
            .field("manager", &self.manager)
            .field("api_version", &self.api_version)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}

impl<'a> FieldManager<'a> {
    /// Returns the field management of a manager for objects of a version, given as
    /// `group/version`, and a kind.
    pub fn new(
        versions: &'a dyn Versions,
        (api_version, kind): (&'a str, &'a str),
        manager: &'a str,
        now: Time,
    ) -> Self {
        FieldManager { versions, api_version, kind, subresource: "", manager, now }
    }

    /// Returns the same for a write to a subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &'a str) -> Self {
        self.subresource = subresource;
        self
    }

    fn schema(&self) -> Result<&'a MergeSchema, ConversionError> {
        let schema = self.versions.merge_schema(self.api_version);
        schema.ok_or_else(|| ConversionError::new(format!("no version {}", self.api_version)))
    }

    /// Namespace, name and type of an object, as errors name it.
    fn subject(&self, object: &Value) -> String {
        let text = |name: &str| {
            let value = object.get("metadata").and_then(|metadata| metadata.get(name));
            value.and_then(Value::as_str).unwrap_or_default()
        };
        let (namespace, name) = (text("namespace"), text("name"));
        format!("{namespace}/{name}; {}, Kind={}", self.api_version, self.kind)
    }

    /// An object of the type without content.
    fn nothing(&self) -> Value {
        json!({"apiVersion": self.api_version, "kind": self.kind})
    }

    /// The entry of the manager, without fields.
    fn entry(&self, operation: ManagedFieldsOperation) -> ManagerEntry {
        ManagerEntry {
            manager: self.manager.to_owned(),
            operation,
            api_version: self.api_version.to_owned(),
            subresource: self.subresource.to_owned(),
            time: Time::default(),
            fields: Fields::default(),
        }
    }
}

/// Returns the name of the manager of a request: the parameter `fieldManager`, or else the client
/// that `User-Agent` names (SA-32).
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    const MAX_BYTES: usize = 128;
    if !field_manager.is_empty() {
        return field_manager.to_owned();
    }
    let client = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for character in client.chars().filter(|character| is_printable(*character)) {
        if name.len() + character.len_utf8() > MAX_BYTES {
            break;
        }
        name.push(character);
    }
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// The fields that are not owned (SA-35).
static NEVER_OWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    const TOP: [&str; 3] = ["apiVersion", "kind", "metadata"];
    const METADATA: [&str; 9] = [
        "clusterName",
        "creationTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let mut fields = FieldSet::default();
    for name in TOP {
        fields.insert(&[PathElement::field(name)]);
    }
    for name in METADATA {
        fields.insert(&[PathElement::field("metadata"), PathElement::field(name)]);
    }
    fields
});
