//! The subresources `status` and `scale` (RP-70 to RP-77, AR-37).

use billhook::{CustomResourceDefinition, FieldValidation};
use billhook_admission::{
    Admission, Chain, MemoryCluster, ObjectRequest, StoredObject, Unreachable,
};
use serde_json::{Value, json};

use crate::in_process::{InProcess, admission, allow, body, create, patch_of_m, stored, update};
use crate::updates::{MODIFIED, bytes, changed, old, refused};

/// RP-70: whatever else the body and the webhooks say, only the status changes.
#[test]
fn a_status_update_changes_the_status() {
    let caller = patch_of_m(json!([
        {"op": "add", "path": "/spec/size", "value": 9},
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "add", "path": "/status/size", "value": 4},
    ]));
    let mut object = changed(&json!({"generation": 8, "finalizers": ["a.b/c"]}));
    object["status"] = json!({"ready": false});
    let request = update("v1", &object, &old()).status_update();
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    let mut expected = old();
    expected["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    expected["status"] = json!({"ready": false, "size": 4});
    assert_eq!(stored(outcome), expected);
    assert_eq!(caller.asked("m")["object"]["spec"]["size"], 5, "the whole object (AR-32)");
    let seen = caller.asked("v");
    assert_eq!(seen["object"]["spec"]["size"], 2, "prepared");
    assert_eq!(seen["object"]["metadata"]["generation"], 3);
    assert_eq!(seen["kind"]["kind"], "Foo");
}

/// RE-125.
const NOT_A_SCALE: &str = "no kind is registered for the type v1.Scale in scheme \
    \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";

fn scale(spec: &Value) -> Value {
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "x", "namespace": "default"}, "spec": spec})
}

fn scale_update(object: &Value, stored: &Value) -> ObjectRequest {
    update("v1", object, stored).scale_update()
}

/// RP-77, AR-37: webhooks and clients see a Scale, and the resource is updated.
#[test]
fn a_scale_update_changes_the_replicas() {
    let caller = patch_of_m(json!([{"op": "replace", "path": "/spec/replicas", "value": 6}]));
    let outcome = admission(&caller).admit_blocking(
        &scale_update(&scale(&json!({"replicas": 4})), &old()),
        &MemoryCluster::new(),
    );
    let seen = |replicas: i64| {
        json!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {
                "name": "x",
                "namespace": "default",
                "uid": "u-1",
                "resourceVersion": "7",
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {"replicas": replicas},
            "status": {"replicas": 1, "selector": "a=b"},
        })
    };
    let asked = caller.asked("m");
    assert_eq!(asked["oldObject"], seen(2));
    assert_eq!(asked["object"]["spec"], json!({"replicas": 4}));
    assert_eq!(asked["kind"], json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}));
    assert_eq!(asked["resource"]["resource"], "foos");
    assert_eq!((&asked["subResource"], &asked["name"]), (&json!("scale"), &json!("x")));
    let asked = caller.asked("v");
    assert_eq!((&asked["object"], &asked["oldObject"]), (&seen(6), &seen(2)));

    let mut returned = seen(6);
    returned["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    let mut found = outcome.result.as_ref().unwrap().returned().unwrap().into_owned();
    found["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    assert_eq!(*found, returned);
    let mut expected = old();
    expected["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    expected["metadata"]["generation"] = 4.into();
    expected["spec"]["size"] = 6.into();
    assert_eq!(stored(outcome), expected);
}

#[test]
fn scale_updates_may_be_refused() {
    let caller = InProcess::new(allow);
    let mut unset = old();
    unset["spec"] = json!({"size": null});
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"scale": {"specReplicasPath": ".spec.count",
                    "statusReplicasPath": ".status.count"}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}]},
    }))
    .unwrap();
    let without_replicas = Admission::new(definition, Chain::new(Unreachable));
    let merge = |patch: Value, stored: &Value| {
        ObjectRequest::merge_patch("v1", &bytes(&patch), &bytes(stored)).scale_update()
    };
    for request in [scale_update(&scale(&json!({})), &old()), merge(json!({}), &old())] {
        let accepted =
            without_replicas.admit_blocking(&request, &MemoryCluster::new()).result.unwrap();
        assert_eq!(accepted.into_returned().unwrap()["spec"], json!({}));
    }
    let set = scale_update(&scale(&json!({"replicas": 2})), &old());
    let accepted = without_replicas.admit_blocking(&set, &MemoryCluster::new()).result.unwrap();
    assert_eq!(accepted.into_returned().unwrap()["spec"]["replicas"], 2);
    let merged = merge(json!({"spec": {"replicas": 3}}), &old());
    assert_eq!(
        stored(admission(&caller).admit_blocking(&merged, &MemoryCluster::new()))["spec"]["size"],
        3
    );

    let mut outdated = scale(&json!({"replicas": 3}));
    outdated["metadata"]["resourceVersion"] = "6".into();
    let mut unset_revision = outdated.clone();
    unset_revision["metadata"]["resourceVersion"] = "0".into();
    let mut foreign = scale(&json!({"replicas": 3}));
    foreign["apiVersion"] = "example.com/v1".into();
    let strict =
        |object: &Value| scale_update(object, &old()).field_validation(FieldValidation::Strict);
    for (request, code, expected) in [
        (scale_update(&outdated, &old()), 409, MODIFIED),
        (
            scale_update(&unset_revision, &old()),
            422,
            "foos.example.com \"x\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
             specified for an update",
        ),
        (
            scale_update(&scale(&json!({"replicas": 10})), &old()),
            422,
            "Foo.example.com \"x\" is invalid: spec.size: Invalid value: 10: spec.size in body \
             should be less than or equal to 9",
        ),
        (
            scale_update(&scale(&json!({"replicas": -1})), &old()),
            422,
            "Foo.example.com \"x\" is invalid: .spec.size: Invalid value: -1: should be a \
             non-negative integer",
        ),
        (scale_update(&scale(&json!({"replicas": "3"})), &old()), 400, NOT_A_SCALE),
        (scale_update(&foreign, &old()), 400, NOT_A_SCALE),
        (strict(&scale(&json!({"replicas": 3, "max": 4}))), 400, NOT_A_SCALE),
        (
            update("v1beta1", &scale(&json!({"replicas": 3})), &old()).scale_update(),
            404,
            "foos.example.com \"x\" not found",
        ),
    ] {
        let status = refused(&request);
        assert_eq!((status.code, &*status.message), (code, expected));
    }
}

/// RP-76.
#[tokio::test]
async fn a_scale_can_be_read() {
    let admission = admission(&InProcess::new(allow));
    let read =
        async |object: &Value| admission.read_scale("v1", &StoredObject::new(bytes(object))).await;
    let mut object = old();
    object.as_object_mut().unwrap().remove("status");
    let found = read(&object).await.unwrap();
    assert_eq!(found["status"], json!({"replicas": 0}));
    assert_eq!(found["spec"], json!({"replicas": 2}));
    object["spec"] = json!("none");
    let status = read(&object).await.unwrap_err();
    assert_eq!(status.code, 500);
    object.as_object_mut().unwrap().remove("spec");
    let status = read(&object).await.unwrap_err();
    assert_eq!(
        status.message,
        "Internal error occurred: the spec replicas field \".spec.size\" does not exist"
    );
}

/// Subresources are updated, nothing else.
#[test]
fn subresources_know_only_updates() {
    let status = refused(&create("v1", &body("v1", json!({}))).status_update());
    assert_eq!((status.code, &*status.reason), (405, "MethodNotAllowed"));
    let delete = ObjectRequest::delete("v1", &bytes(&old())).scale_update();
    assert_eq!(refused(&delete).code, 405);
}
