//! Whether anything can be created in a namespace, and whether it can be deleted (RE-141).

use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_admission::{Plugin, PluginRequest, Stage};
use billhook_apimachinery::{GroupVersionResource, Status, StatusCause};

use crate::namespaces::{find, is_being_deleted};
use crate::shared::Shared;

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

    fn sees_owners(&self) -> bool {
        false
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
    let name = &attributes.namespace;
    let Some(found) = find(server, name) else {
        return Err(Status::not_found(&GroupVersionResource::namespaces(), name));
    };
    if !is_being_deleted(&found) {
        return Ok(());
    }
    let why =
        format!("unable to create new content in namespace {name} because it is being terminated");
    let mut status = Status::forbidden(&attributes.resource, &attributes.name, &why);
    let mut cause = StatusCause::default();
    "NamespaceTerminating".clone_into(&mut cause.reason);
    cause.message = format!("namespace {name} is being terminated");
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
