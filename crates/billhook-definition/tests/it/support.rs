//! Shorthands for checking definitions.

use billhook_definition::{Definition, DefinitionValidation};
use serde_json::Value;

pub(crate) fn manifest(definition: &Value) -> Definition {
    Definition::from_value(definition).unwrap()
}

pub(crate) fn create(definition: &Value) -> DefinitionValidation {
    manifest(definition).validate_create()
}

pub(crate) fn update(definition: &Value, old: &Value) -> DefinitionValidation {
    manifest(definition).validate_update(&manifest(old))
}

pub(crate) fn errors(verdict: &DefinitionValidation) -> Vec<String> {
    verdict.errors().iter().map(ToString::to_string).collect()
}

/// Why a document is not even read.
pub(crate) fn refusal(definition: &Value) -> String {
    match Definition::from_value(definition) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}
