//! The outcome of checking a definition.

use billhook_apimachinery::print::quote;
use billhook_apimachinery::{FieldError, Verdict, aggregate};

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

    /// Returns the message of the status that the client gets, with code 422 and reason Invalid;
    /// none if nothing is wrong (VV-64).
    pub fn status_message(&self) -> Option<String> {
        let (name, is_invalid) = (quote(&self.name), !self.errors.is_empty());
        let subject = "CustomResourceDefinition.apiextensions.k8s.io";
        is_invalid.then(|| format!("{subject} {name} is invalid: {}", aggregate(&self.errors)))
    }
}
