//! The outcome of checking a definition.

use billhook_apimachinery::{FieldError, Status, Verdict};

/// The outcome of validating a definition that is created or updated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionValidation {
    pub(crate) errors: Vec<FieldError>,
    pub(crate) warnings: Vec<String>,
    pub(crate) name: String,
}

impl DefinitionValidation {
    /// Returns whether the definition is valid.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.errors)
    }

    /// Returns the errors, in the server's order; members of maps in the order of their keys.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// Returns the server's warnings: formats that it does not know, one for each occurrence
    /// (CV-90).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the status that the client gets, with code 422 and reason Invalid; none if nothing
    /// is wrong (VV-64).
    pub fn status(&self) -> Option<Status> {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        (!self.errors.is_empty()).then(|| Status::invalid(group, kind, &self.name, &self.errors))
    }

    /// Returns the message of [`DefinitionValidation::status`].
    pub fn status_message(&self) -> Option<String> {
        self.status().map(|status| status.message)
    }
}
