//! The type check that the status of validating policies reports (PO-90).

use std::sync::Arc;

use billhook::webhook::ApiResource;
use billhook_admission::{ObjectRequest, Subresource};
use billhook_apimachinery::record::to_value;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use billhook_cel::schema::SchemaType;
use billhook_policy::{PolicyDocument, PolicyTypes};
use serde_json::{Value, json};

use crate::admission_configuration::VALIDATING_POLICIES;
use crate::resources::Catalog;
use crate::shared::Shared;
use crate::write_path::admit_own;

/// The manager of the fields that the type check writes.
const TYPE_CHECKER: &str = "validatingadmissionpolicy-status";

impl PolicyTypes for Catalog {
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind> {
        let found = self.find_in(&resource.group, &resource.resource, &resource.version)?;
        let version = found.definition.version(&resource.version)?;
        version.is_served().then(|| ApiResource::of_version(&version).kind)
    }

    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType> {
        let resource = self.serving(&kind.group, &kind.version, &kind.kind)?;
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
