//! The answers of a server when matching makes it refuse a request, or when it refuses a
//! configuration.

use billhook_apimachinery::FieldError;

use super::attributes::AdmissionAttributes;
use super::configuration::{GROUP, WebhookConfiguration};
use billhook_apimachinery::Status;

/// 404 for a namespace (WM-16).
pub(super) fn namespace_not_found(name: &str) -> Status {
    Status::failure(404, "NotFound", format!("namespaces \"{name}\" not found"))
}

/// 403 for a request: `<resource> "<name>" is forbidden: <error>` (WM-80).
pub(super) fn forbidden(attributes: &AdmissionAttributes, error: &str) -> Status {
    let resource = attributes.resource.qualified();
    let message = match attributes.name.as_str() {
        "" => format!("{resource} is forbidden: {error}"),
        name => format!("{resource} \"{name}\" is forbidden: {error}"),
    };
    Status::failure(403, "Forbidden", message)
}

impl WebhookConfiguration {
    /// The server's answer to a configuration with these errors: 422, with all of them in the
    /// message and each as a cause (WCF-25).
    pub fn refusal(&self, errors: &[FieldError]) -> Status {
        Status::invalid(GROUP, self.kind.name(), self.name(), errors)
    }
}
