//! Updates and deletions of stored objects: revisions, patches, subresources, and stores that
//! refuse a write (RP-30 to RP-34, RP-42, RP-63, RP-70 to RP-77, RP-91, RP-92, AR-31,
//! AR-32, RE-71 to RE-114).

mod conversions;
mod deletions;
mod hostile;
mod names;
mod owners;
mod patches;
mod revisions;
mod store;
mod subresources;
mod tracking;

use crate::in_process::{InProcess, admission, allow};
use billhook::CustomResourceDefinition;
use billhook::Status;
use billhook_admission::{MemoryCluster, ObjectRequest};
use serde_json::{Value, json};

/// The object as it is stored, at revision 7.
fn old() -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {
            "name": "x",
            "namespace": "default",
            "uid": "u-1",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "resourceVersion": "7",
        },
        "spec": {"size": 2},
        "status": {"ready": true, "size": 1, "selector": "a=b"},
    })
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// The old object with other metadata and another size.
fn changed(metadata: &Value) -> Value {
    let mut object = old();
    let members = object["metadata"].as_object_mut().unwrap();
    for (name, value) in metadata.as_object().unwrap() {
        match value {
            Value::Null => members.remove(name),
            value => members.insert(name.clone(), value.clone()),
        };
    }
    object["spec"]["size"] = 5.into();
    object
}

fn refused(request: &ObjectRequest) -> Status {
    admission(&InProcess::new(allow))
        .admit_blocking(request, &MemoryCluster::new())
        .result
        .unwrap_err()
}

const MODIFIED: &str = "Operation cannot be fulfilled on foos.example.com \"x\": the object has \
                        been modified; please apply your changes to the latest version and try \
                        again";
const NO_REVISION: &str = "foos.example.com \"x\" is invalid: metadata.resourceVersion: Invalid \
                           value: 0: must be specified for an update";

/// A definition that keeps everything in spec and status.
fn preserving() -> CustomResourceDefinition {
    CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size",
                    "statusReplicasPath": ".status.size"}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {
                        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    }}}}]},
    }))
    .unwrap()
}
