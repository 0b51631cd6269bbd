//! The changes that a foreign conversion may make to an object (RP-81).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use billhook_admission::{Admission, AdmissionOutcome, Chain, Converter, Unreachable};
use serde_json::{Value, json};

use crate::in_process::{body, create, definition_with, message};

fn converted(converter: impl Converter + 'static) -> AdmissionOutcome {
    let mut object = body("v1beta1", json!({"old": "7"}));
    object["metadata"]["labels"] = json!({"a": "b", "c": "d"});
    object["metadata"]["annotations"] = json!({"e": "f"});
    let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
    admission.converter(Arc::new(converter)).admit_blocking(&create("v1beta1", &object))
}

/// Changes only the version, and what `change` changes on the way to storage.
fn with(change: impl Fn(&mut Value) + Send + Sync + 'static) -> AdmissionOutcome {
    converted(move |object: &Value, to: &str| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        if to == "example.com/v1" {
            change(&mut object);
        }
        Ok(object)
    })
}

/// CX-43, CX-45.
#[test]
fn a_converted_object_must_be_the_same() {
    type Change = fn(&mut Value);
    let refusals: [(Change, &str); 17] = [
        (|o| o["metadata"]["name"] = "y".into(), "object: must have the same name: x != y"),
        (
            |o| o["metadata"]["namespace"] = "y".into(),
            "object: must have the same namespace: default != y",
        ),
        (|o| o["metadata"]["uid"] = "y".into(), "object: must have the same UID: "),
        (
            |o| o["kind"] = "Bar".into(),
            "object at index 0: invalid kind (expected Foo, received Bar)",
        ),
        (
            |o| o["apiVersion"] = "example.com/v2".into(),
            "object at index 0: invalid groupVersion (expected example.com/v1, received \
             example.com/v2)",
        ),
        // The name is looked for before the metadata.
        (|o| o["metadata"] = Value::Null, "object: must have the same name: x != "),
        (
            |o| {
                o.as_object_mut().unwrap().remove("metadata");
            },
            "object: must have the same name: x != ",
        ),
        (
            |o| o["metadata"]["labels"]["k"] = 1.into(),
            "metadata: metadata.labels[k] must be a string, but is int64 in converted object",
        ),
        (
            |o| o["metadata"]["annotations"]["k"] = json!([]),
            "metadata: metadata.annotations[k] must be a string, but is []interface {} in \
             converted object",
        ),
        (
            |o| o["metadata"]["labels"] = json!(1.5),
            "metadata: invalid metadata.labels of type float64 in converted object",
        ),
        (
            |o| o["metadata"]["annotations"] = json!(true),
            "metadata: invalid metadata.annotations of type bool in converted object",
        ),
        (
            |o| o["metadata"]["labels"] = json!(["a"]),
            "metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            |o| o["metadata"]["labels"]["a"] = "-".into(),
            "metadata: metadata.labels: Invalid value: \"-\": a valid label must be an empty string",
        ),
        (
            |o| o["metadata"]["labels"] = json!({"-": "", "_": ""}),
            "metadata: [metadata.labels: Invalid value: \"-\": name part must consist of",
        ),
        (
            |o| o["metadata"]["annotations"]["-"] = "".into(),
            "metadata: metadata.annotation: Invalid value: \"-\": name part must consist of",
        ),
        (
            |o| o["metadata"]["annotations"]["k"] = "v".repeat(256 * 1024).into(),
            "metadata: metadata.annotation: Too long: may not be more than 262144 bytes",
        ),
        (
            |o| o["metadata"] = json!({"name": "x"}),
            "object: must have the same namespace: default != ",
        ),
    ];
    for (change, expected) in refusals {
        let outcome = with(change);
        let start = "conversion webhook for example.com/v1beta1, Kind=Foo returned invalid ";
        let found = message(&outcome).strip_prefix(start);
        assert!(found.is_some_and(|found| found.starts_with(expected)), "{}", message(&outcome));
    }
    let failing = converted(|_: &Value, _: &str| Err("out of order".into()));
    assert_eq!(
        message(&failing),
        "conversion webhook for example.com/v1beta1, Kind=Foo failed: out of order"
    );
}

#[test]
fn of_converted_metadata_only_labels_and_annotations_count() {
    let outcome = with(|object| {
        object["metadata"]["labels"] = json!({"new": "label"});
        object["metadata"].as_object_mut().unwrap().remove("annotations");
        object["metadata"]["generation"] = 9.into();
        object["metadata"]["finalizers"] = json!(["a.b/c"]);
    });
    let stored: Value = serde_json::from_slice(&outcome.result.unwrap().stored.unwrap()).unwrap();
    assert_eq!(stored["metadata"]["labels"], json!({"new": "label"}));
    assert_eq!(stored["metadata"]["generation"], 1);
    for name in ["annotations", "finalizers"] {
        assert_eq!(stored["metadata"].get(name), None, "{name}");
    }
}

/// Nobody is asked to convert what is in the version already.
#[test]
fn what_is_in_the_version_is_not_converted() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let converter = move |_: &Value, _: &str| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err("not asked".into())
    };
    let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
    let admission = admission.converter(Arc::new(converter));
    assert!(admission.admit_blocking(&create("v1", &body("v1", json!({})))).result.is_ok());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
