//! What a server answers when it refuses a request.

use serde::Serialize;

use super::attributes::AdmissionAttributes;

/// The parts of a server's error answer that say what went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, e.g. `Forbidden`.
    pub reason: String,
    /// The text for people.
    pub message: String,
}

impl Status {
    /// A status with any parts.
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Status { code, reason: reason.into(), message: message.into() }
    }

    /// 500: `Internal error occurred: <error>` (WM-12, WM-52).
    pub fn internal_error(error: &str) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {error}"))
    }

    /// 404 for a namespace (WM-16).
    pub fn namespace_not_found(name: &str) -> Self {
        Self::new(404, "NotFound", format!("namespaces \"{name}\" not found"))
    }

    /// 403 for a request: `<resource> "<name>" is forbidden: <error>` (WM-80).
    pub fn forbidden(attributes: &AdmissionAttributes, error: &str) -> Self {
        let resource = attributes.resource.qualified();
        let message = match attributes.name.as_str() {
            "" => format!("{resource} is forbidden: {error}"),
            name => format!("{resource} \"{name}\" is forbidden: {error}"),
        };
        Self::new(403, "Forbidden", message)
    }
}
