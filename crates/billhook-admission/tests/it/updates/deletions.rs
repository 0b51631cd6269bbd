//! Deletions: their options, finalizers and what happens to the object (RE-20, RE-21, RE-76, RE-111,
//! RE-114).

use billhook::Time;
use billhook_admission::{
    Admission, Chain, DeleteOptions, MemoryCluster, ObjectRequest, ServerFields, Unreachable,
};
use serde_json::{Value, json};

use super::{bytes, changed, refused};
use crate::in_process::{InProcess, admission, allow, definition};

const NOW: &str = "2026-02-03T04:05:06Z";

fn options(policy: Option<&str>, orphan: Option<bool>) -> DeleteOptions {
    let mut options = DeleteOptions::default();
    options.propagation_policy = policy.map(str::to_owned);
    options.orphan_dependents = orphan;
    options
}

/// Deletes an object; returns it if it stays.
fn deleted(object: &Value, options: DeleteOptions) -> Option<Value> {
    let admission =
        admission(&InProcess::new(allow)).server_fields(|| ServerFields::new("u", NOW, "x"));
    let request = ObjectRequest::delete("v1", &bytes(object)).delete_options(options);
    let accepted = admission.admit_blocking(&request, &MemoryCluster::new()).result.unwrap();
    accepted.stored.clone().map(|_| accepted.into_returned().unwrap().into_inner())
}

#[test]
fn policies_change_finalizers() {
    let with = |finalizers: Value| changed(&json!({"finalizers": finalizers}));
    for (finalizers, policy, orphan, expected) in [
        (json!([]), None, None, None),
        (json!([]), Some("Background"), None, None),
        (json!([]), Some("Foreground"), None, Some(json!(["foregroundDeletion"]))),
        (json!(["x", "y"]), None, None, Some(json!(["x", "y"]))),
        (
            json!(["x", "y"]),
            Some("Foreground"),
            None,
            Some(json!(["x", "y", "foregroundDeletion"])),
        ),
        (
            json!(["x", "foregroundDeletion", "y"]),
            Some("Orphan"),
            None,
            Some(json!(["x", "y", "orphan"])),
        ),
        (json!(["orphan", "x"]), None, Some(true), Some(json!(["orphan", "x"]))),
        (json!(["orphan"]), None, Some(false), None),
    ] {
        let found = deleted(&with(finalizers.clone()), options(policy, orphan));
        let found = found.map(|object| object["metadata"]["finalizers"].clone());
        assert_eq!(found, expected, "{finalizers} {policy:?} {orphan:?}");
    }
}

#[test]
fn an_object_is_marked_once() {
    let object = changed(&json!({"finalizers": ["x"], "generation": 3}));
    let marked = deleted(&object, DeleteOptions::default()).unwrap();
    let metadata = &marked["metadata"];
    assert_eq!(metadata["deletionTimestamp"], NOW);
    assert_eq!(metadata["deletionGracePeriodSeconds"], 0);
    assert_eq!(metadata["generation"], 4);
    let again = deleted(&marked, DeleteOptions::default()).unwrap();
    assert_eq!(again["metadata"]["deletionTimestamp"], NOW);
    assert_eq!(again["metadata"]["generation"], 4);
}

/// RE-76: the client gets what the update made, and nothing of it is stored.
#[test]
fn the_last_finalizer_ends_the_object() {
    let object = changed(&json!({"finalizers": ["x"]}));
    let marked = deleted(&object, DeleteOptions::default()).unwrap();
    let update = |patch: Value| {
        let request = ObjectRequest::merge_patch("v1", &bytes(&patch), &bytes(&marked));
        admission(&InProcess::new(allow))
            .admit_blocking(&request, &MemoryCluster::new())
            .result
            .unwrap()
    };
    let kept = update(json!({"spec": {"size": 4}}));
    assert!(kept.stored.is_some());
    let gone = update(json!({"metadata": {"finalizers": null}, "spec": {"size": 4}}));
    assert_eq!(gone.stored, None);
    let returned = gone.into_returned().unwrap();
    assert_eq!(returned["spec"]["size"], 4);
    assert_eq!(returned["metadata"]["generation"], 5);
}

#[test]
fn options_are_checked() {
    let delete =
        |options| ObjectRequest::delete("v1", &bytes(&changed(&json!({})))).delete_options(options);
    let start = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: ";
    for (options, expected) in [
        (
            options(Some("X"), None),
            "Unsupported value: \"X\": supported values: \"Foreground\", \"Background\", \
             \"Orphan\", \"nil\"",
        ),
        (
            options(Some("Orphan"), Some(true)),
            "Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set",
        ),
    ] {
        let status = refused(&delete(options));
        assert_eq!((status.code, status.message), (422, format!("{start}{expected}")));
    }
}

/// RP-45, RE-114.
#[test]
fn the_clock_tells_the_times_of_objects() {
    let time = Time::parse(NOW).unwrap();
    let admission = Admission::new(definition(), Chain::new(Unreachable)).clock(move || time);
    let admit = |request: &ObjectRequest| {
        let accepted = admission.admit_blocking(request, &MemoryCluster::new()).result.unwrap();
        accepted.into_returned().unwrap()
    };
    let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "finalizers": ["example.com/kept"]}}"#;
    let created = admit(&ObjectRequest::create("v1", body).namespace("default"));
    assert_eq!(created["metadata"]["creationTimestamp"], NOW);
    let deleted = admit(&ObjectRequest::delete("v1", &bytes(&created)).namespace("default"));
    assert_eq!(deleted["metadata"]["deletionTimestamp"], NOW);
}
