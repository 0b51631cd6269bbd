//! A definition that nothing is wrong with, and shorthands for checking others.

#![allow(clippy::allow_attributes, dead_code, reason = "each test uses a part")]

use billhook::{CrdOptions, CrdVersion, CustomResourceDefinition, Dialect};
use billhook::{Definition, DefinitionValidation};
use serde_json::{Value, json};

/// The base of the specification's examples.
pub(crate) fn base() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}},
            }}],
        },
    })
}

/// The base with another schema.
pub(crate) fn with_schema(schema: Value) -> Value {
    let mut definition = base();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema;
    definition
}

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

/// The version of a definition with the given schema.
pub(crate) fn version_with(schema: &Value, dialect: Dialect, preserve: bool) -> CrdVersion {
    let definition = billhook_testing::definition_with(schema, preserve);
    let options = CrdOptions::default().dialect(dialect);
    let crd = CustomResourceDefinition::with_options(&definition, &options).unwrap();
    crd.version("v1").unwrap()
}
