//! Rules of REST (17) that no worked example shows, by their numbers.

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json-patch+json";

async fn create(server: &Server) -> Value {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"},
        "spec": {"a": 1}});
    call(server, Method::POST, FOOS, &[], &object.to_string()).await.json()
}

async fn patch(server: &Server, type_: &str, patch: &str) -> Answer {
    let path = format!("{FOOS}/a");
    call(server, Method::PATCH, &path, &[("content-type", type_)], patch).await
}

/// RE-131: 1 and 1.0 are different numbers, although the same is stored.
#[tokio::test]
async fn another_spelling_of_a_number_is_a_change() {
    for type_ in [MERGE, JSON] {
        let server = server();
        let before = create(&server).await;
        let change = match type_ {
            MERGE => r#"{"spec": {"a": 1.0}}"#,
            _ => r#"[{"op": "replace", "path": "/spec/a", "value": 1.0}]"#,
        };
        let after = patch(&server, type_, change).await.json();
        assert_eq!(after["spec"], json!({"a": 1}), "{type_}");
        assert_eq!(after["metadata"]["generation"], 2, "{type_}");
        assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    }
}

/// RP-40: what a patch makes of an object may be of any version until it is validated.
#[tokio::test]
async fn patches_do_not_change_what_an_object_is() {
    let server = server();
    create(&server).await;
    for (type_, change, code, message) in [
        (
            MERGE,
            r#"{"apiVersion": "x/v1"}"#,
            422,
            "Foo.x \"a\" is invalid: apiVersion: Invalid value: \"x/v1\": must be example.com/v1",
        ),
        (
            MERGE,
            r#"{"apiVersion": "example.com/v9"}"#,
            422,
            "Foo.example.com \"a\" is invalid: apiVersion: Invalid value: \"example.com/v9\": must \
             be example.com/v1",
        ),
        (
            MERGE,
            r#"{"kind": "Bar"}"#,
            422,
            "Bar.example.com \"a\" is invalid: kind: Invalid value: \"Bar\": must be Foo",
        ),
        (
            JSON,
            r#"[{"op": "remove", "path": "/apiVersion"}]"#,
            500,
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion \
             field'",
        ),
    ] {
        let answer = patch(&server, type_, change).await;
        assert_eq!((answer.code, answer.message().as_str()), (code, message), "{change}");
    }
}

/// RP-10, RP-13, RE-25: the schema of an unknown version knows no field, and the warning is sent
/// with the failure.
#[tokio::test]
async fn bodies_of_other_versions_are_warned_about() {
    for (version, query, warnings) in [
        ("example.com/v9", "", &["299 - \"unknown field \\\"spec\\\"\""][..]),
        ("example.com/v9", "?fieldValidation=Ignore", &[]),
        ("other.com/v1", "", &[]),
    ] {
        let object = json!({"apiVersion": version, "kind": "Foo", "metadata": {"name": "a"},
            "spec": {"a": 1}});
        let path = format!("{FOOS}{query}");
        let answer = call(&server(), Method::POST, &path, &[], &object.to_string()).await;
        assert_eq!(answer.code, 400);
        assert_eq!(answer.warnings, warnings, "{version}{query}");
    }
}

/// RP-18: YAML without a kind is shown as it was sent, unless fields are not validated.
#[tokio::test]
async fn yaml_without_a_kind_is_shown_as_it_is() {
    for (body, query, expected) in [
        ("# nothing\n", "", "Object 'Kind' is missing in '# nothing\n' (23206e6f7468696e670a)"),
        ("a: 1\n", "", "Object 'Kind' is missing in 'a: 1\n' (613a20310a)"),
        (
            "a: 1\n",
            "?fieldValidation=Ignore",
            "Object 'Kind' is missing in '{\"a\":1}' (613a20310a)",
        ),
    ] {
        let headers = [("content-type", "application/yaml")];
        let path = format!("{FOOS}{query}");
        let answer = call(&server(), Method::POST, &path, &headers, body).await;
        let prefix = "the object provided is unrecognized (must be of type Foo): ";
        assert_eq!(answer.message(), format!("{prefix}{expected}"));
    }
}

/// RE-11: failures are negotiated again, and then there is protobuf.
#[tokio::test]
async fn failures_come_in_protobuf_to_those_who_take_nothing_else() {
    let server = server();
    create(&server).await;
    let protobuf = "application/vnd.kubernetes.protobuf";
    for (path, accept, code, type_) in [
        ("/a", protobuf, 406, protobuf),
        ("/b", "application/vnd.kubernetes.protobuf,application/json", 404, protobuf),
        ("/b", "application/json,application/vnd.kubernetes.protobuf", 404, "application/json"),
        ("/a", "application/vnd.kubernetes.protobuf,application/json", 200, "application/json"),
    ] {
        let path = format!("{FOOS}{path}");
        let mut request = http::Request::get(&path).body(String::new()).unwrap();
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let response = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
        assert_eq!(response.status(), code, "{path} {accept}");
        assert_eq!(response.headers()["content-type"], type_, "{path} {accept}");
    }
}

/// DT-50.
#[tokio::test]
async fn one_document_tells_everything() {
    let server = server();
    let answer = call(&server, Method::GET, "/openapi/v2", &[], "").await;
    let document = answer.json();
    assert_eq!(text(&document, "/swagger"), "2.0");
    let spec = &document["definitions"]["com.example.v1.Foo"]["properties"]["spec"];
    assert_eq!(spec["properties"]["a"], json!({"type": "integer"}));
    let list = "/paths/~1apis~1example.com~1v1~1namespaces~1{namespace}~1foos/get/responses/200";
    assert_eq!(
        document.pointer(list).unwrap()["schema"],
        json!({"$ref": "#/definitions/com.example.v1.FooList"}),
    );
    // Every reference leads somewhere.
    for part in answer.text.split("\"$ref\":\"").skip(1) {
        let name = part.split('"').next().unwrap_or_default().replace('#', "");
        assert!(document.pointer(&name).is_some(), "{name}");
    }
    let tag = answer.headers["etag"].to_str().unwrap();
    let again = call(&server, Method::GET, "/openapi/v2", &[("if-none-match", tag)], "").await;
    assert_eq!(again.code, 304);
    let protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let refused = call(&server, Method::GET, "/openapi/v2", &[("accept", protobuf)], "").await;
    assert_eq!(refused.code, 406);
}
