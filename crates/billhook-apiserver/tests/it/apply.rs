//! Server-side apply, by plain requests (SA-60 to SA-66).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, server, text};

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
