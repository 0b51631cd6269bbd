//! The identity of objects in creations and updates (RE-62 to RE-64, RE-71, RE-73, RE-84).

use billhook_admission::{MemoryCluster, ObjectRequest};
use serde_json::{Value, json};

use crate::in_process::{InProcess, admission, allow, body, create};
use crate::updates::{bytes, changed, old, refused};

/// RE-62: what a client may not set is dropped from the object.
#[test]
fn metadata_of_the_server_is_wiped() {
    let mut object = body("v1", json!({}));
    object["metadata"] = json!({
        "name": "x", "uid": "u", "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5,
        "selfLink": "/x", "generation": 9, "resourceVersion": "0", "labels": {"a": "b"},
        "annotations": {"a": "b"}, "finalizers": ["example.com/f"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "o"}],
    });
    let outcome = admission(&InProcess::new(allow))
        .admit_blocking(&create("v1", &object), &MemoryCluster::new());
    let made = outcome.result.unwrap().into_returned().unwrap();
    let metadata = made["metadata"].as_object().unwrap();
    for name in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
        assert_eq!(metadata.get(name), None, "{name}");
    }
    assert_eq!(metadata["generation"], 1);
    assert_ne!(metadata["uid"], "u");
    assert_ne!(metadata["creationTimestamp"], "2001-01-01T00:00:00Z");
    for name in ["labels", "annotations", "finalizers", "ownerReferences"] {
        assert_eq!(metadata[name], object["metadata"][name], "{name}");
    }
}

/// RE-62: only what the server reads as a number other than 0 is refused, and not in a dry run.
#[test]
fn a_new_object_has_no_revision() {
    let with = |revision: &str| {
        let mut object = body("v1", json!({}));
        object["metadata"]["resourceVersion"] = revision.into();
        create("v1", &object)
    };
    for revision in ["5", "007", "18446744073709551615"] {
        let status = refused(&with(revision));
        let message = "resourceVersion should not be set on objects to be created";
        assert_eq!((status.code, &*status.reason, &*status.message), (500, "", message));
    }
    for revision in ["0", "abc", "-1", "+5", "1.0", " 5", "18446744073709551616"] {
        let outcome = admission(&InProcess::new(allow))
            .admit_blocking(&with(revision), &MemoryCluster::new());
        let made = outcome.result.unwrap().into_returned().unwrap();
        assert_eq!(made["metadata"].get("resourceVersion"), None, "{revision}");
    }
    let outcome = admission(&InProcess::new(allow))
        .admit_blocking(&with("5").dry_run(true), &MemoryCluster::new());
    let made = outcome.result.unwrap().into_returned().unwrap();
    assert_eq!(made["metadata"]["resourceVersion"], "5");
}

/// RE-64: the name that webhooks do not see, from as much of the prefix as fits.
#[test]
fn names_are_generated_from_58_bytes() {
    let named = |prefix: &str| {
        let mut object = body("v1", json!({}));
        object["metadata"] = json!({"generateName": prefix});
        let caller = InProcess::new(allow);
        let outcome =
            admission(&caller).admit_blocking(&create("v1", &object), &MemoryCluster::new());
        let made = outcome.result.unwrap().into_returned().unwrap();
        assert_eq!(made["metadata"]["generateName"], prefix);
        assert_eq!(caller.asked("m").get("name"), None);
        made["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let (short, long) = (named("x-"), named(&"y".repeat(70)));
    assert!(short.starts_with("x-") && short.len() == 7, "{short}");
    assert!(long.starts_with(&"y".repeat(58)) && long.len() == 63, "{long}");
    for letter in [short, long].iter().flat_map(|name| name.chars().rev().take(5)) {
        assert!("bcdfghjklmnpqrstvwxz2456789".contains(letter), "{letter}");
    }
}

/// RE-63, RE-71, RE-73, RE-84; without any name OM-40.
#[test]
fn an_update_is_for_its_own_object() {
    let stored = bytes(&old());
    let replace = |metadata: Value| {
        let body = bytes(&changed(&metadata));
        ObjectRequest::replace("v1", &body, &stored).namespace("default").name("x")
    };
    let merge = |metadata: Value| {
        let patch = json!({"metadata": metadata});
        let body = bytes(&patch);
        ObjectRequest::merge_patch("v1", &body, &stored).namespace("default").name("x")
    };
    let no_name =
        "the name of the object (x based on URL) was undeterminable: name must be provided";
    let other_name = "the name of the object (y) does not match the name on the URL (x)";
    let other_namespace =
        "the namespace of the provided object does not match the namespace sent on the request";
    let no_number = |text: &str| format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
    let large = "18446744073709551616";
    let too_large = format!("strconv.ParseUint: parsing {large:?}: value out of range");
    let mut unnamed = body("v1", json!({}));
    unnamed["metadata"] = json!({});
    let unnamed_message = "Foo.example.com \"\" is invalid: metadata.name: Required value: name or \
                           generateName is required";
    for (request, code, message) in [
        (create("v1", &unnamed), 422, unnamed_message.to_owned()),
        (replace(json!({"name": null})), 400, no_name.to_owned()),
        (replace(json!({"name": "y"})), 400, other_name.to_owned()),
        (merge(json!({"name": null})), 400, no_name.to_owned()),
        (merge(json!({"name": "y"})), 400, other_name.to_owned()),
        (replace(json!({"namespace": "other"})), 400, other_namespace.to_owned()),
        (merge(json!({"namespace": "other"})), 400, other_namespace.to_owned()),
        (replace(json!({"resourceVersion": "abc"})), 500, no_number("abc")),
        (replace(json!({"resourceVersion": "+7"})), 500, no_number("+7")),
        (merge(json!({"resourceVersion": "1.0"})), 500, no_number("1.0")),
        (merge(json!({"resourceVersion": large})), 500, too_large),
    ] {
        let status = refused(&request);
        assert_eq!((status.code, status.message), (code, message));
    }
    let status = refused(&merge(json!({"uid": "u-2"})));
    let causes: Vec<String> =
        status.details.unwrap().causes.iter().map(|cause| cause.field.to_string()).collect();
    assert_eq!((status.code, causes), (422, vec!["metadata.uid".to_owned(); 2]));
}

/// A replacement creates nothing.
#[test]
fn a_replacement_needs_an_object() {
    let object = bytes(&changed(&json!({})));
    let status = refused(&ObjectRequest::replace("v1", &object, b"").name("x"));
    assert_eq!((status.code, &*status.message), (404, "foos.example.com \"x\" not found"));
}
