//! Checks in a unit test that an API server accepts the definition that `kube` derives from types.
//!
//! Not every type has a structural schema, and the compiler does not know: a server is the first to
//! refuse the definition.

#![expect(clippy::print_stdout, reason = "the output is the example")]

use std::error::Error;

use billhook::Definition;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Backup", namespaced)]
struct BackupSpec {
    schedule: String,
}

/// The same with a field of any JSON value, whose schema says too little.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Restore", namespaced)]
struct RestoreSpec {
    #[schemars(schema_with = "anything")]
    options: serde_json::Value,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// Returns what a server would answer to `kubectl create` of a definition; nothing if it accepts
/// the definition. In a unit test: `assert_eq!(errors(&Backup::crd())?, Vec::<String>::new())`.
fn errors(crd: &CustomResourceDefinition) -> Result<Vec<String>, Box<dyn Error>> {
    let validation = Definition::from_kube(crd)?.validate_create();
    Ok(validation.errors().iter().map(ToString::to_string).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    for crd in [Backup::crd(), Restore::crd()] {
        println!("{}", crd.metadata.name.as_deref().unwrap_or_default());
        for error in errors(&crd)? {
            println!("- {error}");
        }
    }
    Ok(())
}
