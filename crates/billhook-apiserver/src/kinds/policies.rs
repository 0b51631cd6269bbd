//! Admission policies and their bindings as kinds of the server (PO-01 to PO-16), and the type check
//! that their status tells of (PO-90).

use std::sync::Arc;

use billhook::KubernetesVersion;
use billhook::webhook::ApiResource;
use billhook_admission::{Findings, ObjectRequest, Strategy, Subresource};
use billhook_apimachinery::record::to_value;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use billhook_cel::schema::SchemaType;
use billhook_policy::{PolicyDocument, PolicyKind, PolicyTypes};
use serde_json::{Value, json};

use crate::admission_configuration::VALIDATING_POLICIES;
use crate::resources::Catalog;
use crate::shared::Shared;
use crate::storage::Storage as _;
use crate::write_path::admit_own;

/// The manager of the fields that the type check writes.
const TYPE_CHECKER: &str = "validatingadmissionpolicy-status";

/// The rules of policies and bindings.
#[derive(Debug)]
pub(super) struct PolicyStrategy {
    pub(super) kubernetes: KubernetesVersion,
}

impl Strategy for PolicyStrategy {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let read = PolicyDocument::from_value_reporting(object);
        let (document, unknown) = read.map_err(|error| error.to_string())?;
        let mut written = document.to_value();
        if let Value::Object(members) = object {
            for section in ["spec", "status"] {
                let section_of = written.get_mut(section).map(Value::take);
                section_of.map(|value| members.insert(section.to_owned(), value));
            }
        }
        Ok(unknown)
    }

    fn empty(&self) -> Option<Value> {
        None
    }

    fn prepare(&self, object: &mut Value, _: Option<&Value>, _: Option<Subresource>) {
        // A server shows the status of a validating policy even if it is empty.
        let is_validating = PolicyDocument::kind_of(object) == Some(PolicyKind::Validating);
        if let Value::Object(members) = object
            && is_validating
        {
            members.entry("status").or_insert_with(|| json!({}));
        }
    }

    fn takes_metadata(&self, _: Subresource) -> bool {
        false
    }

    fn has_schema(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value, old: Option<&Value>, _: Option<Subresource>) -> Findings {
        let Ok(document) = PolicyDocument::from_value(object) else { return Findings::default() };
        let old = old.and_then(|old| PolicyDocument::from_value(old).ok());
        Findings::new(document.validate_for(self.kubernetes, old.as_ref()), document.warnings())
    }

    fn marks_deletions(&self) -> bool {
        false
    }

    fn mark(&self, _: &mut Value, _: &str) {}

    fn merge_keys(&self) -> &[(&str, &str)] {
        &[("spec.matchConditions", "name"), ("spec.variables", "name")]
    }

    fn is_kept(&self, _: &Value) -> bool {
        false
    }
}

impl PolicyTypes for Catalog {
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind> {
        let found = self.find(&resource.group, &resource.resource)?;
        let version = found.definition.version(&resource.version)?;
        version.is_served().then(|| ApiResource::of_version(&version).kind)
    }

    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType> {
        let resource = self.of_kind(&kind.group, &kind.kind)?;
        resource.definition.version(&kind.version)?.expression_type()
    }
}

/// Checks the expressions of a validating policy against the types that are served, unless its
/// generation was checked already, and says in its status what was found.
pub(crate) async fn check_types(server: &Arc<Shared>, name: &str) {
    let _turn = server.settling.lock().await;
    let catalog = server.catalog();
    let Some(resource) = catalog.native(VALIDATING_POLICIES) else { return };
    let Some(stored) = server.storage.get(&resource.collection, name) else { return };
    let stored = resource.stored(&stored);
    let Ok(object) = resource.admission.read("v1", &stored).await else { return };
    let Ok(PolicyDocument::Validating(policy)) = PolicyDocument::from_value(&object) else {
        return;
    };
    let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
    let generation = generation.unwrap_or_default();
    if generation == policy.status.observed_generation {
        return;
    }
    let found = policy.type_check_for(catalog.kubernetes, &catalog);
    let found = to_value(&found).into_inner();
    let status = json!({"observedGeneration": generation, "typeChecking": found});
    let configuration = json!({"apiVersion": object.get("apiVersion"), "kind": object.get("kind"),
        "metadata": {"name": name}, "status": status});
    let body = billhook::to_json(&configuration).into_bytes();
    let request = ObjectRequest::apply("v1", &body, &[], TYPE_CHECKER)
        .stored(stored)
        .name(name)
        .subresource(Subresource::Status)
        .force(true);
    admit_own(server, &resource, request).await;
}
