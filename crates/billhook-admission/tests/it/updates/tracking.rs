//! Managed fields that cannot be tracked, and those of requests that fail (SA-16, SA-53, SA-55, SA-78,
//! SA-92).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use billhook::{CustomResourceDefinition, Status};
use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, StoreWrite, Unreachable};
use serde_json::{Value, json};

use super::{bytes, changed, old};
use crate::in_process::{body, create, definition, stored, update};

fn plain(definition: CustomResourceDefinition) -> Admission {
    Admission::new(definition, Chain::new(Unreachable))
}

fn entry(operation: &str, api_version: &str, fields: &Value) -> Value {
    json!({"manager": "a", "operation": operation, "apiVersion": api_version,
        "fieldsType": "FieldsV1", "fieldsV1": fields, "time": "2026-01-01T00:00:00Z"})
}

fn with_entry(mut object: Value, entry: &Value) -> Value {
    object["metadata"]["managedFields"] = json!([entry]);
    object
}

fn managers(object: &Value) -> Vec<&str> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().map(|entry| entry["manager"].as_str().unwrap()).collect()
}

fn apply(configuration: &Value, stored: &Value) -> ObjectRequest {
    ObjectRequest::apply("v1", &bytes(configuration), &bytes(stored), "m")
}

fn failed(admission: &Admission, request: &ObjectRequest) -> (i32, String) {
    let Status { code, message, .. } =
        admission.admit_blocking(request, &MemoryCluster::new()).result.unwrap_err();
    (code, message)
}

/// SA-16: sets of objects are allowed, but their elements have no identity. Nothing can be tracked
/// while there is one.
#[test]
fn sets_of_objects_cannot_be_tracked() {
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "size": {"type": "integer"},
                        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {
                            "type": "object", "x-kubernetes-map-type": "atomic",
                            "properties": {"a": {"type": "integer"}}}}}}}}}}]},
    }));
    let admission = plain(definition.unwrap());
    let set = |elements: Value| body("v1", json!({"set": elements}));
    let empty =
        stored(admission.admit_blocking(
            &create("v1", &set(json!([]))).field_manager("a"),
            &MemoryCluster::new(),
        ));
    assert_eq!(managers(&empty), ["a"]);
    let created = stored(
        admission.admit_blocking(&create("v1", &set(json!([{"a": 1}]))), &MemoryCluster::new()),
    );
    assert_eq!(managers(&created), [""; 0]);
    let mut with_element = empty.clone();
    with_element["spec"]["set"] = json!([{"a": 1}]);
    let updated = stored(
        admission.admit_blocking(&update("v1", &with_element, &empty), &MemoryCluster::new()),
    );
    assert_eq!(managers(&updated), [""; 0]);

    assert!(
        admission
            .admit_blocking(&apply(&set(json!([])), &empty), &MemoryCluster::new())
            .result
            .is_ok()
    );
    let subject = "(default/x; example.com/v1, Kind=Foo)";
    let reason = ".spec.set: element 0: associative list without keys has an element that's a map \
                  type";
    let configuration = set(json!([{"a": 1}]));
    let nothing = body("v1", json!({}));
    for (configuration, live, expected) in [
        (
            &configuration,
            &empty,
            format!("failed to create typed patch object (/x; example.com/v1, Kind=Foo): {reason}"),
        ),
        (
            &nothing,
            &with_element,
            format!("failed to create typed live object {subject}: {reason}"),
        ),
        (
            &nothing,
            &created,
            format!(
                "failed to create manager for existing fields: failed to convert new object \
                 {subject} to smd typed: {reason}"
            ),
        ),
    ] {
        assert_eq!(failed(&admission, &apply(configuration, live)), (500, expected));
    }
}

/// SA-53: an object without owners stays so, but every new one is owned.
#[test]
fn tracking_begins_with_an_object() {
    let admission = plain(definition());
    let written = stored(
        admission
            .admit_blocking(&update("v1", &changed(&json!({})), &old()), &MemoryCluster::new()),
    );
    assert_eq!(managers(&written), [""; 0]);
    for entries in [json!([]), json!([{}]), json!(null), json!([{"operation": "Delete"}])] {
        let mut object = body("v1", json!({"size": 2}));
        object["metadata"]["managedFields"] = entries;
        let request = create("v1", &object).field_manager("m");
        assert_eq!(
            managers(&stored(admission.admit_blocking(&request, &MemoryCluster::new()))),
            ["m"]
        );
    }
}

/// SA-55: an update takes what others applied.
#[test]
fn updates_have_no_conflicts() {
    let applied =
        with_entry(old(), &entry("Apply", "example.com/v1", &json!({"f:spec": {"f:size": {}}})));
    let mut object = applied.clone();
    object["spec"]["size"] = 5.into();
    let request = update("v1", &object, &applied).field_manager("m");
    let written = stored(plain(definition()).admit_blocking(&request, &MemoryCluster::new()));
    assert_eq!(managers(&written), ["m"]);
    assert_eq!(written["spec"]["size"], 5);
}

/// SA-78: nothing is written by an apply that fails.
#[test]
fn a_failed_apply_changes_nothing() {
    let writes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&writes);
    let store = move |_: StoreWrite<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok("8".to_owned())
    };
    let admission = plain(definition()).store(Arc::new(store));
    let size = json!({"f:spec": {"f:size": {}}});
    let live = with_entry(old(), &entry("Update", "example.com/v1", &size));
    for (spec, force, code) in [
        (json!({"size": 5}), false, 409),
        (json!({"size": 99}), true, 422),
        (json!({"unknown": 1}), true, 500),
    ] {
        let request = apply(&body("v1", spec), &live).force(force);
        assert_eq!(failed(&admission, &request).0, code);
    }
    assert_eq!(writes.load(Ordering::Relaxed), 0);
    let request = apply(&body("v1", json!({"size": 5})), &live).force(true);
    assert!(admission.admit_blocking(&request, &MemoryCluster::new()).result.is_ok());
    assert_eq!(writes.load(Ordering::Relaxed), 1);
}

/// SA-92: while fields of a version that does not exist have an owner nothing can be applied; an
/// update forgets all owners. A version that is not served exists.
#[test]
fn entries_of_versions_that_are_gone() {
    let admission = plain(definition());
    let fields = json!({"f:spec": {"f:size": {}}});
    for (api_version, expected) in [
        ("example.com/v9", "request to convert CR to an invalid group/version: example.com/v9"),
        (
            "other.com/v1",
            "example.com/v1, Kind=Foo is unstructured and is not suitable for converting to \
             \"other.com/v1\"",
        ),
    ] {
        let live = with_entry(old(), &entry("Update", api_version, &fields));
        let request = apply(&body("v1", json!({"size": 2})), &live);
        assert_eq!(failed(&admission, &request), (500, expected.to_owned()));
        let written =
            stored(admission.admit_blocking(&update("v1", &live, &live), &MemoryCluster::new()));
        assert_eq!(managers(&written), [""; 0]);
    }
    let live = with_entry(old(), &entry("Update", "example.com/v1alpha1", &fields));
    let written =
        stored(admission.admit_blocking(&update("v1", &live, &live), &MemoryCluster::new()));
    assert_eq!(managers(&written), ["a"]);
}
