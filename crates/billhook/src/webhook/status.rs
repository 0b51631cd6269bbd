//! The answers of a server when matching makes it refuse a request, or when it refuses a
//! configuration.

use billhook_apimachinery::{FieldError, GroupVersionResource, Status};

use super::attributes::AdmissionAttributes;
use super::configuration::{GROUP, WebhookConfiguration};

/// 404 for a namespace (WM-16).
pub(super) fn namespace_not_found(name: &str) -> Status {
    Status::not_found(&GroupVersionResource::namespaces(), name)
}

/// 403 for a request: `<resource> "<name>" is forbidden: <error>` (WM-80).
pub(super) fn forbidden(attributes: &AdmissionAttributes, error: &str) -> Status {
    Status::forbidden(&attributes.resource, &attributes.name, error)
}

impl WebhookConfiguration {
    /// The server's answer to a configuration with these errors: 422, with all of them in the
    /// message and each as a cause (WCF-25).
    pub fn refusal(&self, errors: &[FieldError]) -> Status {
        Status::invalid(GROUP, self.kind.name(), self.name(), errors)
    }
}
