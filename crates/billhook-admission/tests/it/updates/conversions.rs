//! The changes that a foreign conversion may make to an object (RP-81).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook_admission::{
    Admission, AdmissionOutcome, Chain, Converter, ObjectRequest, Unreachable,
};
use serde_json::{Value, json};

use super::{bytes, changed, old};
use crate::in_process::{
    InProcess, allow, body, configuration, create, definition_with, message, patch_of_m,
};

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

/// Sends a request for version `v1` past webhooks that want `v1beta1`. Returns what happened, in
/// order: conversions with the size of the object, and calls of webhooks.
fn order_of(hooks: &InProcess, request: &ObjectRequest) -> Vec<String> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (conversions, calls) = (Arc::clone(&log), Arc::clone(&log));
    let converter = move |object: &Value, to: &str| {
        let to_version = to.rsplit('/').next().unwrap();
        conversions.lock().unwrap().push(format!("{} to {to_version}", object["spec"]["size"]));
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        Ok(object)
    };
    let hooks = hooks.clone();
    let caller = InProcess::new(move |hook, request| {
        calls.lock().unwrap().push(hook.to_owned());
        hooks.answer(hook, request)
    });
    let configurations = [("Mutating", "m"), ("Validating", "v")].map(|(kind, name)| {
        let mut configuration = configuration(kind, name);
        configuration.webhooks[0].rules[0].api_versions = vec!["v1beta1".to_owned()];
        configuration
    });
    let chain = Chain::new(caller).webhooks(&configurations);
    let admission = Admission::new(definition_with("Webhook"), chain);
    admission.converter(Arc::new(converter)).admit_blocking(request).result.unwrap();
    log.lock().unwrap().clone()
}

/// CX-11: the old object is converted before the new one.
#[test]
fn the_old_object_is_converted_first() {
    let request = ObjectRequest::update("v1", &bytes(&changed(&json!({}))), &bytes(&old()));
    let found = order_of(&InProcess::new(allow), &request);
    let both = ["2 to v1beta1", "5 to v1beta1"];
    assert_eq!(found, [&both[..], &["m"], &both, &["v"]].concat());
    let patch = patch_of_m(json!([{"op": "add", "path": "/spec/size", "value": 7}]));
    let found = order_of(&patch, &request);
    let after = ["2 to v1beta1", "7 to v1beta1"];
    assert_eq!(found, [&both[..], &["m", "7 to v1"], &after, &["v"]].concat());
}

/// CX-11: the object that a deletion is about is read a second time before admission.
#[test]
fn a_deletion_reads_twice_before_admission() {
    let mut stored = old();
    stored["apiVersion"] = "example.com/v1beta1".into();
    let found = order_of(&InProcess::new(allow), &ObjectRequest::delete("v1", &bytes(&stored)));
    let read = "2 to v1";
    assert_eq!(found, [read, read, "2 to v1beta1", "m", "2 to v1beta1", "v", read]);
}
