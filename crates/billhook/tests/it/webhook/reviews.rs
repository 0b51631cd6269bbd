//! Requests from captured reviews and from objects (AR-02, AR-12, WM-01).

use billhook::webhook::{AdmissionAttributes, ApiResource, Operation};
use billhook::{GroupVersionKind, GroupVersionResource, Scope};
use serde_json::{Value, json};

fn review() -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1f0c7d52",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "subResource": "status",
        "requestKind": {"group": "extensions", "version": "v1beta1", "kind": "Deployment"},
        "requestResource":
            {"group": "extensions", "version": "v1beta1", "resource": "deployments"},
        "requestSubResource": "status",
        "name": "web", "namespace": "shop", "operation": "UPDATE",
        "userInfo": {"username": "carol", "uid": "u-77", "groups": ["a", "b"],
            "extra": {"team": ["x", "y"]}},
        "object": {"apiVersion": "apps/v1", "kind": "Deployment"},
        "oldObject": {"apiVersion": "apps/v1", "kind": "Deployment"},
        "dryRun": true,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions"},
        "somethingNew": 1,
    }})
}

#[test]
fn the_original_request_counts() {
    let request = AdmissionAttributes::from_review(&review()).unwrap();
    assert_eq!(request.operation, Operation::Update);
    assert_eq!(request.kind.to_string(), "extensions/v1beta1 Deployment");
    assert_eq!(request.resource.to_string(), "extensions/v1beta1 deployments");
    assert_eq!(
        (&*request.name, &*request.namespace, &*request.subresource),
        ("web", "shop", "status")
    );
    assert!(request.dry_run);
    assert_eq!(request.user.groups, ["a", "b"]);
    assert_eq!(request.user.extra["team"], ["x", "y"]);
    assert_eq!(request.options.as_deref().unwrap()["kind"], "UpdateOptions");
    assert!(request.object.is_some() && request.old_object.is_some());

    let mut review = review();
    let members = review["request"].as_object_mut().unwrap();
    for name in ["requestKind", "requestResource", "requestSubResource", "oldObject"] {
        members.insert(name.to_owned(), Value::Null);
    }
    let request = AdmissionAttributes::from_review(&review).unwrap();
    assert_eq!(request.resource.to_string(), "apps/v1 deployments");
    assert_eq!(request.subresource, "status");
    assert_eq!(request.old_object, None);
}

#[test]
fn reviews_that_are_none() {
    let cases = [
        (
            "/request/operation",
            json!("GET"),
            "unknown operation `GET`; expected CREATE, UPDATE, DELETE or CONNECT",
        ),
        ("/request/operation", Value::Null, "request.operation: Required value"),
        (
            "/request/kind/kind",
            json!(1),
            "json: cannot unmarshal number into Go struct field GroupVersionKind.kind.kind of type string",
        ),
        (
            "/request/dryRun",
            json!("yes"),
            "json: cannot unmarshal string into Go struct field AdmissionRequest.dryRun of type bool",
        ),
        (
            "/request/userInfo/extra",
            json!({"a": "b"}),
            "json: cannot unmarshal string into Go struct field UserInfo.userInfo.extra of type v1.ExtraValue",
        ),
        ("/request", json!([]), "request: expected the request of an AdmissionReview"),
    ];
    for (place, value, expected) in cases {
        let mut review = review();
        *review.pointer_mut(place).unwrap() = value;
        let error = AdmissionAttributes::from_review(&review).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let mut review = review();
    review["request"].as_object_mut().unwrap().remove("operation");
    let error = AdmissionAttributes::from_review(&review).unwrap_err();
    assert_eq!(error.to_string(), "request.operation: Required value");
}

/// WM-01: the namespace of a Namespace is its own name; cluster-scoped objects have none.
#[test]
fn names_and_namespaces_come_from_the_object() {
    let metadata = |value: Value| json!({"metadata": value});
    let api = |kind: &str, scope| {
        let resource = format!("{}s", kind.to_lowercase());
        let resource = GroupVersionResource::new("", "v1", resource);
        ApiResource::new(resource, GroupVersionKind::new("", "v1", kind), scope)
    };
    let pods = api("Pod", Scope::Namespaced);
    let [namespaces, nodes] = ["Namespace", "Node"].map(|kind| api(kind, Scope::Cluster));
    for (request, expected) in [
        (pods.create(metadata(json!({"name": "a", "namespace": "n"}))), ("a", "n")),
        (pods.create(metadata(json!({"generateName": "a-"}))), ("", "default")),
        (namespaces.create(metadata(json!({"name": "a"}))), ("a", "a")),
        (namespaces.delete(metadata(json!({"name": "a"}))), ("a", "a")),
        (nodes.create(metadata(json!({"name": "a", "namespace": "n"}))), ("a", "")),
        (pods.update(metadata(json!({"name": "a"})), metadata(json!({}))), ("a", "default")),
        (pods.create(json!([])), ("", "default")),
    ] {
        assert_eq!((&*request.name, &*request.namespace), expected, "{request:?}");
    }
}
