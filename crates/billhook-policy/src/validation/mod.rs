//! Validation of policies and bindings with the server's errors, in the server's order (PO-10 to
//! PO-16).

mod bindings;
mod common;
mod mutating;
mod validating;

use billhook::webhook::{reserved_name_warning, validate_configuration_metadata};
use billhook_apimachinery::metadata::validate_applied;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::{FieldError, KubernetesVersion, Status};

use crate::document::{GROUP, PolicyDocument};

impl PolicyDocument {
    /// Returns the errors of a server when the document is created.
    pub fn validate(&self) -> Vec<FieldError> {
        self.validate_update(None)
    }

    /// Returns the errors of a server when the document replaces a stored one, if there is one:
    /// expressions that were there already may use all libraries (PO-13).
    pub fn validate_update(&self, stored: Option<&PolicyDocument>) -> Vec<FieldError> {
        self.validate_for(KubernetesVersion::default(), stored)
    }

    /// [`PolicyDocument::validate_update`] as a server of a version does it (KV-30).
    pub fn validate_for(
        &self,
        kubernetes: KubernetesVersion,
        stored: Option<&PolicyDocument>,
    ) -> Vec<FieldError> {
        let wording = kubernetes.wording();
        let metadata = self.metadata().to_document();
        let mut errors = validate_configuration_metadata(&metadata, kubernetes);
        if let Some(stored) = stored {
            errors.extend(validate_applied(&metadata, &stored.metadata().to_document(), wording));
        }
        errors.extend(match self {
            PolicyDocument::Validating(policy) => {
                let stored = stored.and_then(|stored| match stored {
                    PolicyDocument::Validating(stored) => Some(&stored.spec),
                    _ => None,
                });
                validating::validate(self.name(), &policy.spec, stored, kubernetes)
            }
            PolicyDocument::Mutating(policy) => {
                let stored = stored.and_then(|stored| match stored {
                    PolicyDocument::Mutating(stored) => Some(&stored.spec),
                    _ => None,
                });
                mutating::validate(&policy.spec, stored, kubernetes)
            }
            PolicyDocument::ValidatingBinding(binding) => bindings::validating(&binding.spec),
            PolicyDocument::MutatingBinding(binding) => bindings::mutating(&binding.spec),
        });
        errors.into_iter().map(|error| error.worded(wording)).collect()
    }

    /// Returns what a server warns of when it stores the document (PO-16).
    pub fn warnings(&self) -> Vec<String> {
        self.warnings_for(KubernetesVersion::default())
    }

    /// [`PolicyDocument::warnings`] of a server of a version (KV-95).
    pub fn warnings_for(&self, kubernetes: KubernetesVersion) -> Vec<String> {
        reserved_name_warning(self.name(), kubernetes).into_iter().collect()
    }

    /// Returns the server's answer to a document with these errors: 422, with all of them in the
    /// message and each as a cause (WCF-25).
    pub fn refusal(&self, errors: &[FieldError]) -> Status {
        Status::invalid(GROUP, self.kind().name(), self.name(), errors)
    }
}
