//! The worked examples of REST (17), by plain requests.

use billhook::Time;
use billhook_admission::ServerFields;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn put(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::PUT, path, &[], &object.to_string()).await
}

async fn patch(server: &Server, path: &str, kind: &str, patch: &Value) -> Answer {
    let headers = [("content-type", kind)];
    call(server, Method::PATCH, path, &headers, &patch.to_string()).await
}

async fn delete(server: &Server, path: &str) -> Answer {
    call(server, Method::DELETE, path, &[], "").await
}

fn foo(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name},
        "spec": {"a": 1}})
}

#[tokio::test]
async fn objects_are_created_and_read() {
    let server = server();
    let mut object = foo("a");
    object["spec"]["zz"] = 2.into();
    let created = post(&server, FOOS, &object).await;
    assert_eq!(created.code, 201);
    assert_eq!(created.warnings, [r#"299 - "unknown field \"spec.zz\"""#]);
    let body = created.json();
    assert_eq!(body["spec"], json!({"a": 1}));
    assert_eq!(body["metadata"]["namespace"], "default");
    assert_eq!(body["metadata"]["generation"], 1);
    assert_eq!(body["metadata"]["resourceVersion"], "8");
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.json(), body);

    let again = post(&server, FOOS, &foo("a")).await;
    assert_eq!(
        again.text,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
         \"message\":\"foos.example.com \\\"a\\\" already exists\",\"reason\":\"AlreadyExists\",\
         \"details\":{\"name\":\"a\",\"group\":\"example.com\",\"kind\":\"foos\"},\"code\":409}\n",
    );
}

/// E03 to E29: the code and the message of what is refused.
#[tokio::test]
async fn what_is_refused() {
    let server = server();
    post(&server, FOOS, &foo("a")).await;
    let revision = json!({"metadata": {"resourceVersion": "5"}});
    let cases: &[(Method, &str, Value, u16, &str)] = &[
        (Method::POST, "", foo("B_"), 422, "Foo.example.com \"B_\" is invalid: metadata.name: "),
        (
            Method::POST,
            "",
            with(foo("n"), "/metadata/namespace", "other"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (Method::GET, "/none", Value::Null, 404, "foos.example.com \"none\" not found"),
        (Method::GET, "/a/log", Value::Null, 404, "foos.example.com \"a\" not found"),
        (
            Method::DELETE,
            "/a/status",
            Value::Null,
            405,
            "delete is not supported on resources of kind \"foos.example.com\"",
        ),
        (
            Method::GET,
            "?fieldSelector=spec.a=1",
            Value::Null,
            400,
            "field label not supported: spec.a",
        ),
        (
            Method::GET,
            "?limit=x",
            Value::Null,
            400,
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            Method::GET,
            "?resourceVersionMatch=Exact",
            Value::Null,
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
             resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            Method::PUT,
            "/a",
            foo("a"),
            422,
            "foos.example.com \"a\" is invalid: \
            metadata.resourceVersion: Invalid value: 0: must be specified for an update",
        ),
        (
            Method::PUT,
            "/a",
            merged(foo("a"), &revision),
            409,
            "Operation cannot be fulfilled on foos.example.com \"a\": the object has been modified; \
             please apply your changes to the latest version and try again",
        ),
        (Method::PUT, "", foo("a"), 400, "name must be provided"),
        (
            Method::DELETE,
            "/a?propagationPolicy=X",
            Value::Null,
            422,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \
             \"X\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
        ),
        (
            Method::POST,
            "?dryRun=yes",
            foo("b"),
            422,
            "CreateOptions.meta.k8s.io \"\" is invalid: \
            dryRun: Unsupported value: [\"yes\"]: supported values: \"All\"",
        ),
        (
            Method::GET,
            "?watch=1&resourceVersion=abc",
            Value::Null,
            500,
            "resourceVersion: Invalid \
            value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax",
        ),
        (
            Method::GET,
            "?watch=1&sendInitialEvents=true",
            Value::Null,
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
             sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            Method::GET,
            "/a?resourceVersion=9",
            Value::Null,
            504,
            "Timeout: Too large resource version: 9, current: 8",
        ),
    ];
    for (method, path, body, code, message) in cases {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = call(&server, method.clone(), &format!("{FOOS}{path}"), &[], &body).await;
        let found = answer.message();
        assert!(found.starts_with(message), "{method} {path}: {found}");
        assert_eq!(answer.code, *code, "{method} {path}");
    }
    let plain = post(&server, "/apis/example.com/v1/foos", &foo("x")).await;
    assert_eq!((plain.code, plain.text.as_str()), (404, "404 page not found\n"));
    let headers = [("accept", "text/html")];
    let refused = call(&server, Method::GET, FOOS, &headers, "").await;
    assert_eq!(refused.code, 406);
    assert!(refused.text.starts_with("{\n  \"kind\": \"Status\",\n"), "{}", refused.text);
    let refused = patch(&server, &format!("{FOOS}/a"), "application/x", &json!({})).await;
    assert_eq!(refused.code, 415);
}

fn with(mut object: Value, place: &str, value: &str) -> Value {
    let (parent, name) = place.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[name] = value.into();
    object
}

fn merged(mut object: Value, other: &Value) -> Value {
    for (name, value) in other["metadata"].as_object().unwrap() {
        object["metadata"][name] = value.clone();
    }
    object
}

#[tokio::test]
async fn objects_are_changed() {
    let server = server();
    let path = format!("{FOOS}/a");
    let mut object = post(&server, FOOS, &foo("a")).await.json();
    object["spec"]["a"] = 2.into();
    let updated = put(&server, &path, &object).await.json();
    assert_eq!(updated["metadata"]["generation"], 2);
    assert_eq!(updated["metadata"]["resourceVersion"], "9");
    // A change of nothing is not written.
    let same = put(&server, &path, &updated).await.json();
    assert_eq!(same["metadata"]["resourceVersion"], "9");

    let merge = "application/merge-patch+json";
    let patched = patch(&server, &path, merge, &json!({"spec": {"color": "red"}})).await.json();
    assert_eq!(patched["spec"], json!({"a": 2, "color": "red"}));
    let status = json!({"status": {"ready": true}, "spec": {"a": 7}});
    let patched = patch(&server, &format!("{path}/status"), merge, &status).await.json();
    assert_eq!((&patched["status"]["ready"], &patched["spec"]["a"]), (&json!(true), &json!(2)));
    let failing = json!([{"op": "test", "path": "/spec/a", "value": 9}]);
    let failed = patch(&server, &path, "application/json-patch+json", &failing).await;
    assert_eq!(failed.code, 422);
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let server = server();
    let created = post(&server, &format!("{FOOS}?dryRun=All"), &foo("a")).await;
    assert_eq!(created.code, 201);
    assert_eq!(created.json()["metadata"].get("resourceVersion"), None);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 404);
    post(&server, FOOS, &foo("a")).await;
    assert_eq!(delete(&server, &format!("{FOOS}/a?dryRun=All")).await.code, 200);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 200);
}

/// RE-57, RE-58: pages come from one revision.
#[tokio::test]
async fn lists_come_in_pages() {
    let server = server();
    for name in ["a", "b", "c"] {
        post(&server, FOOS, &foo(name)).await;
    }
    let first = get(&server, &format!("{FOOS}?limit=2")).await.json();
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    let token = text(&first, "/metadata/continue");
    post(&server, FOOS, &foo("bb")).await;
    let second = get(&server, &format!("{FOOS}?limit=2&continue={token}")).await.json();
    assert_eq!(names(&second), ["c"]);
    assert_eq!(
        second["metadata"],
        json!({"continue": "", "resourceVersion": first["metadata"]["resourceVersion"]}),
    );
    let exact = format!("{FOOS}?resourceVersion=8&resourceVersionMatch=Exact");
    assert_eq!(names(&get(&server, &exact).await.json()), ["a"]);
    let all = get(&server, "/apis/example.com/v1/foos").await.json();
    assert_eq!(names(&all), ["a", "b", "bb", "c"]);
    assert_eq!(all["kind"], "FooList");
}

fn names(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| text(item, "/metadata/name")).collect()
}

/// RE-54 to RE-56.
#[tokio::test]
async fn lists_are_selected() {
    let server = server();
    for (name, color) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        let mut object = with(foo(name), "/spec/color", color);
        object["metadata"]["labels"] = json!({"color": color});
        post(&server, FOOS, &object).await;
    }
    for (query, expected) in [
        ("labelSelector=color%3Dred", ["a", "c"].as_slice()),
        ("labelSelector=color+notin+(red)", &["b"]),
        ("fieldSelector=spec.color%3Dred,metadata.name!%3Da", &["c"]),
        ("fieldSelector=spec.color!%3Dred", &["b"]),
        ("fieldSelector=metadata.namespace%3Dother", &[]),
    ] {
        let found = get(&server, &format!("{FOOS}?{query}")).await.json();
        assert_eq!(names(&found), expected, "{query}");
    }
    let deleted = delete(&server, &format!("{FOOS}?labelSelector=color%3Dred")).await.json();
    assert_eq!(names(&deleted), ["a", "c"]);
    assert_eq!(names(&get(&server, FOOS).await.json()), ["b"]);
}

/// RE-76, RE-111 to RE-114, E24.
#[tokio::test]
async fn finalizers_keep_objects() {
    let server = server();
    let path = format!("{FOOS}/a");
    let mut object = foo("a");
    object["metadata"]["finalizers"] = json!(["f.example.com/x"]);
    post(&server, FOOS, &object).await;
    let marked = delete(&server, &path).await;
    assert_eq!(marked.code, 200);
    let mut marked = marked.json();
    assert_eq!(marked["metadata"]["generation"], 2);
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(delete(&server, &path).await.json(), marked);

    marked["metadata"]["finalizers"] = json!([]);
    assert_eq!(put(&server, &path, &marked).await.code, 200);
    assert_eq!(get(&server, &path).await.code, 404);
}

#[tokio::test]
async fn a_deletion_says_what_is_gone() {
    let server = server();
    let uid = text(&post(&server, FOOS, &foo("a")).await.json(), "/metadata/uid");
    let wrong = json!({"preconditions": {"uid": "nope"}});
    let path = format!("{FOOS}/a");
    let refused = call(&server, Method::DELETE, &path, &[], &wrong.to_string()).await;
    assert_eq!(refused.code, 409);
    let gone = delete(&server, &path).await;
    assert_eq!(gone.code, 200);
    assert_eq!(
        gone.json(),
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": "a", "group": "example.com", "kind": "foos", "uid": uid}}),
    );
}

#[tokio::test]
async fn forks_are_servers_of_their_own() {
    let server = server();
    post(&server, FOOS, &foo("a")).await;
    let fork = server.fork();
    assert_eq!(delete(&fork, &format!("{FOOS}/a")).await.code, 200);
    assert_eq!(get(&fork, &format!("{FOOS}/a")).await.code, 404);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 200);
}

/// RP-50: a read follows the schema of its time, and that of its server.
#[tokio::test]
async fn reads_follow_the_definition() {
    let server = server();
    let one = format!("{FOOS}/a");
    post(&server, FOOS, &foo("a")).await;
    let fork = server.fork();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
    for (server, color) in [(&fork, "red"), (&server, "blue"), (&fork, "green")] {
        assert_eq!(get(server, &one).await.json(), get(server, &one).await.json());
        let mut definition = get(server, path).await.json();
        let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color";
        *definition.pointer_mut(properties).unwrap() = json!({"type": "string", "default": color});
        assert_eq!(put(server, path, &definition).await.code, 200);
        for _ in 0..2 {
            assert_eq!(text(&get(server, &one).await.json(), "/spec/color"), color);
        }
    }
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let server = server();
    let body = format!("\"{}\"", " ".repeat(3 << 20));
    let refused = call(&server, Method::POST, FOOS, &[], &body).await;
    assert_eq!(
        (refused.code, refused.message()),
        (413, "Request entity too large: limit is 3145728".to_owned())
    );
}

#[test]
fn a_broken_definition_is_refused() {
    let mut broken = definition();
    broken["spec"]["versions"] = json!("v1");
    assert!(Server::builder().definition(&broken).is_err());
}

#[tokio::test]
async fn times_and_names_can_come_from_the_test() {
    let made = ServerFields::new("uid-1", "2026-01-02T03:04:05Z", "abcde");
    let server = Server::builder()
        .definition(&definition())
        .unwrap()
        .server_fields(move || made.clone())
        .clock(|| Time::parse("2026-02-03T04:05:06Z").unwrap())
        .build();
    let mut object = foo("");
    object["metadata"] = json!({"generateName": "a-"});
    let created = post(&server, FOOS, &object).await.json();
    assert_eq!(created["metadata"]["name"], "a-abcde");
    assert_eq!(created["metadata"]["uid"], "uid-1");
    assert_eq!(created["metadata"]["creationTimestamp"], "2026-01-02T03:04:05Z");
    assert_eq!(created["metadata"]["managedFields"][0]["time"], "2026-02-03T04:05:06Z");
}

/// RE-12.
#[tokio::test]
async fn parameters_of_a_content_type_have_values() {
    let server = server();
    let object = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}"#;
    for (type_, code) in [
        ("application/json;foo", 415),
        ("application/json, text/plain", 415),
        ("application/json; charset=utf-8", 201),
    ] {
        let created = call(&server, Method::POST, FOOS, &[("content-type", type_)], object).await;
        assert_eq!(created.code, code, "{type_}");
    }
}

/// RE-82.
#[tokio::test]
async fn operations_of_a_patch_are_texts() {
    let server = server();
    let object = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}"#;
    assert_eq!(call(&server, Method::POST, FOOS, &[], object).await.code, 201);
    let json_patch = [("content-type", "application/json-patch+json")];
    for (patch, field) in [
        (r#"[{"op": "add", "path": 5, "value": 1}]"#, "path"),
        (r#"[{"op": 5, "path": "/a"}]"#, "op"),
    ] {
        let path = format!("{FOOS}/a");
        let refused = call(&server, Method::PATCH, &path, &json_patch, patch).await;
        assert_eq!(
            (refused.code, refused.message()),
            (
                400,
                format!(
                    "error decoding patch: json: cannot unmarshal number into Go struct field \
                 jsonPatchOp.{field} of type string"
                )
            ),
        );
        let ignored = format!("{path}?fieldValidation=Ignore");
        assert_eq!(call(&server, Method::PATCH, &ignored, &json_patch, patch).await.code, 422);
    }
}
