//! Decodes an object as an API server would before a controller sees it, and explains each change.
//!
//! Tests of controllers often build objects by hand. A server would prune and default them first;
//! this does the same without a cluster.

#![expect(clippy::print_stdout, reason = "the output is the example")]

use std::error::Error;

use billhook::{CustomResourceDefinition, DecodeOptions};
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The resource as the controller declares it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Backup", namespaced)]
struct BackupSpec {
    schedule: String,
    #[serde(default = "seven")]
    keep: i64,
}

fn seven() -> i64 {
    7
}

const MANIFEST: &str = "
apiVersion: example.com/v1
kind: Backup
metadata: {name: nightly, namespace: shop}
spec:
  schedule: 30 2 * * *
  kep: 3
";

fn main() -> Result<(), Box<dyn Error>> {
    // The definition that `kube` derives, compiled as a server compiles it.
    let definition = CustomResourceDefinition::from_kube(&Backup::crd())?;
    let v1 = definition.served("v1")?;

    // A report costs time, so it has to be asked for.
    let options = DecodeOptions::default().report(true);
    let decoded = v1.decode(MANIFEST.as_bytes(), &options)?;
    for warning in decoded.warnings() {
        println!("warning: {warning}");
    }
    for change in decoded.changes() {
        println!("{change}");
    }

    // The object as the controller reads it.
    let backup: Backup = serde_json::from_value(decoded.into_object().into_inner())?;
    println!("keeps {} backups at `{}`", backup.spec.keep, backup.spec.schedule);
    Ok(())
}
