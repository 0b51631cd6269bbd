//! Whether anything can be created in a namespace, and whether it can be deleted (RE-141).

use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_admission::{Plugin, PluginRequest, Stage};
use billhook_apimachinery::{GroupVersionResource, Status, StatusCause};
use billhook_decode::read_json;

use crate::catalog::NAMESPACES;
use crate::state::Shared;
use crate::storage::{Object, Storage as _};

/// Refuses new objects in namespaces that do not exist or are being deleted, before policies and
/// webhooks are asked; of namespaces themselves, the deletion of those that no server is without.
pub(super) struct NamespaceLifecycle {
    pub(super) server: Arc<Shared>,
    /// Whether the requests are for namespaces themselves.
    pub(super) is_of_namespaces: bool,
}

impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &str {
        "NamespaceLifecycle"
    }

    fn has_stage(&self, stage: Stage) -> bool {
        stage == Stage::Mutating
    }

    fn handles(&self, operation: Operation) -> bool {
        let checked = if self.is_of_namespaces { Operation::Delete } else { Operation::Create };
        operation == checked
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let attributes = request.attributes();
        match self.is_of_namespaces {
            true => check_deletion(attributes),
            false => check_creation(&self.server, attributes),
        }
    }
}

fn check_creation(server: &Shared, attributes: &AdmissionAttributes) -> Result<(), Status> {
    let namespace = &attributes.namespace;
    let Some(found) = find_namespace(server, namespace) else {
        let namespaces = GroupVersionResource::new("", "v1", "namespaces");
        return Err(Status::not_found(&namespaces, namespace));
    };
    if !is_being_deleted(&found) {
        return Ok(());
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let mut status = Status::forbidden(&attributes.resource, &attributes.name, &why);
    let mut cause = StatusCause::default();
    "NamespaceTerminating".clone_into(&mut cause.reason);
    cause.message = format!("namespace {namespace} is being terminated");
    "metadata.namespace".clone_into(&mut cause.field);
    status.details.get_or_insert_default().causes.push(cause);
    Err(status)
}

fn check_deletion(attributes: &AdmissionAttributes) -> Result<(), Status> {
    match attributes.name.as_str() {
        name @ ("default" | "kube-public" | "kube-system") => {
            let why = "this namespace may not be deleted";
            Err(Status::forbidden(&attributes.resource, name, why))
        }
        _ => Ok(()),
    }
}

/// Whether a namespace is being deleted.
pub(crate) fn is_terminating(server: &Shared, namespace: &str) -> bool {
    find_namespace(server, namespace).is_some_and(|found| is_being_deleted(&found))
}

pub(super) fn find_namespace(server: &Shared, namespace: &str) -> Option<Object> {
    let namespaces = server.catalog().native(NAMESPACES)?;
    server.storage.get(&namespaces.collection, namespace)
}

fn is_being_deleted(namespace: &Object) -> bool {
    // Hardly any namespace is; the text alone tells.
    let is_told =
        str::from_utf8(&namespace.text).is_ok_and(|text| text.contains("deletionTimestamp"));
    if !is_told {
        return false;
    }
    let object = read_json(&namespace.text);
    object.is_ok_and(|object| object.value().pointer("/metadata/deletionTimestamp").is_some())
}
