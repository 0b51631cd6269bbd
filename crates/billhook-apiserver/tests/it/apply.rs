//! Server-side apply, by plain requests (SA-60 to SA-67).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

async fn apply(server: &Server, path: &str, configuration: &Value) -> Answer {
    let headers = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{FOOS}{path}");
    call(server, Method::PATCH, &path, &headers, &configuration.to_string()).await
}

fn foo(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "n"}, "spec": spec})
}

/// E21.
#[tokio::test]
async fn an_apply_creates_and_conflicts() {
    let server = server();
    let created = apply(&server, "/n?fieldManager=m", &foo(json!({"a": 1}))).await;
    assert_eq!(created.code, 201);
    let again = apply(&server, "/n?fieldManager=m", &foo(json!({"a": 1}))).await;
    assert_eq!(again.code, 200);
    let revision = |answer: &Answer| text(&answer.json(), "/metadata/resourceVersion");
    assert_eq!(revision(&again), revision(&created));

    let refused = apply(&server, "/n?fieldManager=m2", &foo(json!({"a": 2}))).await;
    assert_eq!(refused.code, 409);
    assert_eq!(refused.message(), "Apply failed with 1 conflict: conflict with \"m\": .spec.a");
    let forced = apply(&server, "/n?fieldManager=m2&force", &foo(json!({"a": 2}))).await;
    assert_eq!(forced.json()["spec"], json!({"a": 2}));
    let dry = apply(&server, "/n?fieldManager=m2&dryRun=All", &foo(json!({"a": 3}))).await;
    assert_eq!((dry.code, &dry.json()["spec"]), (200, &json!({"a": 3})));
    let dropped = apply(&server, "/n?fieldManager=m2", &foo(json!({"color": "x"}))).await;
    assert_eq!(dropped.json()["spec"], json!({"color": "x"}));
}

/// E20, SA-60, SA-61.
#[tokio::test]
async fn an_apply_is_refused() {
    let server = server();
    let array = json!([]);
    let cases = [
        (
            "/n",
            &foo(json!({})),
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required \
             for apply patch",
        ),
        (
            "/n?fieldManager=m",
            &array,
            400,
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            "/x?fieldManager=m",
            &foo(json!({})),
            400,
            "the name of the object (n) does not match the name on the URL (x)",
        ),
        ("/n/status?fieldManager=m", &foo(json!({})), 404, "foos.example.com \"n\" not found"),
    ];
    for (path, configuration, code, message) in cases {
        let answer = apply(&server, path, configuration).await;
        assert_eq!((answer.code, answer.message().as_str()), (code, message), "{path}");
    }
}

/// SA-66: an apply of the status owns and changes nothing else.
#[tokio::test]
async fn a_status_is_applied() {
    let server = server();
    apply(&server, "/n?fieldManager=m", &foo(json!({"a": 1}))).await;
    let mut status = foo(json!({"a": 5}));
    status["status"] = json!({"ready": true});
    let applied = apply(&server, "/n/status?fieldManager=s", &status).await.json();
    assert_eq!(applied["spec"], json!({"a": 1}));
    assert_eq!(applied["status"], json!({"ready": true}));
    let entry = &applied["metadata"]["managedFields"][1];
    assert_eq!((&entry["manager"], &entry["subresource"]), (&json!("s"), &json!("status")));
    assert_eq!(entry["fieldsV1"], json!({"f:status": {"f:ready": {}}}));
}

/// SA-65: the answer of a dry run has the fields that the manager would own; nothing is stored.
#[tokio::test]
async fn a_dry_apply_stores_nothing() {
    let server = server();
    let stored = async || call(&server, Method::GET, &format!("{FOOS}/n"), &[], "").await;
    let created = apply(&server, "/n?fieldManager=m&dryRun=All", &foo(json!({"a": 1}))).await;
    assert_eq!(created.code, 201);
    assert_eq!(
        created.json().pointer("/metadata/managedFields/0/fieldsV1"),
        Some(&json!({"f:spec": {"f:a": {}}}))
    );
    assert_eq!(stored().await.code, 404);

    apply(&server, "/n?fieldManager=m", &foo(json!({"a": 1}))).await;
    let before = stored().await.json();
    let changed = foo(json!({"a": 2, "color": "x"}));
    let refused = apply(&server, "/n?fieldManager=other&dryRun=All", &changed).await;
    assert_eq!(refused.message(), "Apply failed with 1 conflict: conflict with \"m\": .spec.a");
    let forced = apply(&server, "/n?fieldManager=other&force&dryRun=All", &changed).await;
    assert_eq!((forced.code, &forced.json()["spec"]), (200, &json!({"a": 2, "color": "x"})));
    let entries = &forced.json()["metadata"]["managedFields"];
    let owners: Vec<_> = entries.as_array().unwrap().iter().map(|it| &it["manager"]).collect();
    assert_eq!(owners, ["other"]);
    assert_eq!(entries[0]["fieldsV1"], json!({"f:spec": {"f:a": {}, "f:color": {}}}));
    assert_eq!(stored().await.json(), before);
}

/// SA-67, SA-77: what a creation drops from its body an apply keeps, owns or refuses; a read is
/// without it.
#[tokio::test]
async fn configurations_are_not_cleaned() {
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        ["o"] = json!({"type": "object"});
    let server = Server::builder().definition(&definition).unwrap().build();
    let post = async |configuration: &Value| {
        let headers = [("content-type", "application/json")];
        call(&server, Method::POST, FOOS, &headers, &configuration.to_string()).await
    };
    let with_null = foo(json!({"a": null, "color": "x"}));
    let unknown_field = foo(json!({"z": 1}));
    let mut unknown_metadata = foo(json!({}));
    unknown_metadata["metadata"]["z"] = json!(1);
    let cases = [
        (
            &with_null,
            422,
            "Foo.example.com \"n\" is invalid: spec.a: Invalid value: \"null\": spec.a in body must \
             be of type integer: \"null\"",
        ),
        (
            &unknown_field,
            500,
            "failed to create typed patch object (/n; example.com/v1, Kind=Foo): .spec.z: field not \
             declared in schema",
        ),
        (
            &unknown_metadata,
            500,
            "failed to create typed patch object (/n; example.com/v1, Kind=Foo): .metadata.z: field \
             not declared in schema",
        ),
    ];
    for (configuration, code, message) in cases {
        let applied = apply(&server, "/n?fieldManager=m", configuration).await;
        assert_eq!((applied.code, applied.message().as_str()), (code, message));
        assert_eq!(post(configuration).await.code, 201, "{configuration}");
        call(&server, Method::DELETE, &format!("{FOOS}/n"), &[], "").await;
    }

    let unlisted = foo(json!({"o": {"k": 1}}));
    for generation in [1, 2] {
        let applied = apply(&server, "/n?fieldManager=m", &unlisted).await.json();
        assert_eq!(applied["spec"], json!({"o": {}}));
        assert_eq!(applied["metadata"]["generation"], json!(generation));
        assert_eq!(
            applied.pointer("/metadata/managedFields/0/fieldsV1"),
            Some(&json!({"f:spec": {"f:o": {"f:k": {}}}}))
        );
    }
}
