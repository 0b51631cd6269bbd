//! Rules of writes and their answers (17), by their numbers.

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const FOO: &str = "/apis/example.com/v1/namespaces/default/foos/a";
const STATUS: &str = "/apis/example.com/v1/namespaces/default/foos/a/status";
const SCALE: &str = "/apis/example.com/v1/namespaces/default/foos/a/scale";
const MERGE: [(&str, &str); 1] = [("content-type", "application/merge-patch+json")];
const JSON: [(&str, &str); 1] = [("content-type", "application/json-patch+json")];
const APPLY: [(&str, &str); 1] = [("content-type", "application/apply-patch+yaml")];

/// A server with a resource that has all subresources.
fn server() -> Server {
    let mut definition = definition();
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.replicas"});
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["few"] =
        json!({"type": "array", "maxItems": 1, "items": {"type": "integer", "maximum": 3}});
    version["schema"]["openAPIV3Schema"]["properties"]["items"] =
        json!({"type": "array", "items": {"type": "integer"}});
    Server::builder().definition(&definition).unwrap().build()
}

fn foo(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": spec})
}

async fn send(
    server: &Server,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    call(server, method, path, headers, &body).await
}

async fn create(server: &Server, object: &Value) -> Value {
    let created = send(server, Method::POST, FOOS, &[], object).await;
    assert_eq!(created.code, 201, "{}", created.text);
    created.json()
}

async fn merge(server: &Server, path: &str, change: &Value) -> Answer {
    send(server, Method::PATCH, path, &MERGE, change).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

/// RE-07, RE-115: the code of each success, and the kind of what is answered.
#[tokio::test]
async fn every_verb_has_its_answer() {
    let server = server();
    let spec = foo(&json!({"a": 1}));
    let [get, put, post, patch, delete] =
        [Method::GET, Method::PUT, Method::POST, Method::PATCH, Method::DELETE];
    let none = Value::Null;
    let scale = json!({"metadata": {"name": "a"}, "spec": {"replicas": 2}});
    let held = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let applied = format!("{FOOS}/b?fieldManager=m");
    let mut other = foo(&json!({"a": 1}));
    other["metadata"]["name"] = "b".into();
    let not_orphaned = format!("{FOOS}/a?orphanDependents=false");
    for (method, path, headers, body, code, kind) in [
        (&post, FOOS, &[][..], &spec, 201, "Foo"),
        (&get, FOO, &[], &none, 200, "Foo"),
        (&get, STATUS, &[], &none, 200, "Foo"),
        (&get, SCALE, &[], &none, 200, "Scale"),
        (&get, FOOS, &[], &none, 200, "FooList"),
        (&put, SCALE, &[], &scale, 200, "Scale"),
        (&patch, SCALE, &MERGE, &scale, 200, "Scale"),
        (&patch, FOO, &MERGE, &held, 200, "Foo"),
        (&patch, STATUS, &MERGE, &json!({"status": {"a": 1}}), 200, "Foo"),
        (&patch, FOO, &JSON, &json!([]), 200, "Foo"),
        (&patch, &applied, &APPLY, &other, 201, "Foo"),
        (&patch, &applied, &APPLY, &other, 200, "Foo"),
        (&delete, FOO, &[], &none, 200, "Foo"),
        (&delete, &not_orphaned, &[], &none, 202, "Foo"),
        (&delete, &format!("{FOOS}/b"), &[], &none, 200, "Status"),
        (&delete, FOOS, &[], &none, 200, "FooList"),
    ] {
        let answer = send(&server, method.clone(), path, headers, body).await;
        let found = (answer.code, text(&answer.json(), "/kind"));
        assert_eq!(found, (code, kind.to_owned()), "{method} {path}: {}", answer.text);
    }
}

/// RE-30, RE-32, RE-33: a failure has its members in order; a validation names the kind, everything
/// else the resource; each error is a cause.
#[tokio::test]
async fn failures_have_a_form() {
    let server = server();
    let missing = get(&server, FOO).await;
    assert_eq!(
        missing.text,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
         \"message\":\"foos.example.com \\\"a\\\" not found\",\"reason\":\"NotFound\",\
         \"details\":{\"name\":\"a\",\"group\":\"example.com\",\"kind\":\"foos\"},\"code\":404}\n"
    );
    let refused = send(&server, Method::POST, FOOS, &[], &foo(&json!({"few": [4, 5]}))).await;
    assert_eq!(refused.code, 422);
    let status = refused.json();
    assert_eq!(status["details"]["kind"], "Foo");
    let causes = status["details"]["causes"].as_array().unwrap();
    let shown: Vec<String> = causes
        .iter()
        .map(|cause| {
            let part = |name: &str| text(cause, name);
            format!("{} {}: {}", part("/reason"), part("/field"), part("/message"))
        })
        .collect();
    assert!(
        shown.contains(
            &"FieldValueTooMany spec.few: Too many: 2: must have at most 1 item".to_owned()
        ),
        "{shown:#?}"
    );
    for (cause, line) in causes.iter().zip(&shown) {
        let printed = format!("{}: {}", text(cause, "/field"), text(cause, "/message"));
        assert!(refused.message().contains(&printed), "{line}");
    }
    let members: Vec<usize> = ["\"reason\":\"FieldValue", "\"message\":\"", "\"field\":"]
        .iter()
        .map(|name| refused.text.split("\"causes\"").nth(1).unwrap().find(name).unwrap())
        .collect();
    assert!(members.is_sorted(), "{}", refused.text);
}

/// RE-65, RE-67, RE-130, RE-132: what a creation answers is what is read later.
#[tokio::test]
async fn a_creation_answers_what_is_stored() {
    let server = server();
    let mut nameless = foo(&json!({}));
    nameless["metadata"] = json!({});
    let refused = send(&server, Method::POST, FOOS, &[], &nameless).await;
    assert_eq!(refused.code, 422);
    assert!(
        refused
            .message()
            .ends_with("metadata.name: Required value: name or generateName is required")
    );
    let mut object = foo(&json!({"a": 1, "unknown": 1}));
    object["metadata"]["selfLink"] = "/somewhere".into();
    object["metadata"]["uid"] = "mine".into();
    object["metadata"]["generation"] = 7.into();
    let created = create(&server, &object).await;
    assert_eq!(get(&server, FOO).await.json(), created);
    assert_eq!(created["spec"], json!({"a": 1}));
    let metadata = &created["metadata"];
    assert_eq!(metadata.get("selfLink"), None);
    assert_eq!(metadata["generation"], 1);
    assert_eq!(metadata["namespace"], "default");
    let uid = uuid(&text(metadata, "/uid"));
    assert!(uid, "{metadata}");
    let time = text(metadata, "/creationTimestamp");
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    let revision =
        |object: &Value| -> u64 { text(object, "/metadata/resourceVersion").parse().unwrap() };
    let list = get(&server, FOOS).await.json();
    assert_eq!(revision(&list), revision(&created));
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    let path = "/api/v1/namespaces/default/configmaps";
    let other = send(&server, Method::POST, path, &[], &other).await.json();
    assert!(revision(&other) > revision(&created));
    assert_eq!(revision(&get(&server, FOOS).await.json()), revision(&other));
    assert_eq!(revision(&get(&server, FOO).await.json()), revision(&created));
}

/// Whether a text is a random UUID in lower case.
fn uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.chars().all(is_hex))
        && parts[2].starts_with('4')
}

/// RE-75, RE-133: what changes nothing is not written; what is immutable does not change.
#[tokio::test]
async fn updates_without_a_change_are_not_written() {
    let server = server();
    let created = create(&server, &foo(&json!({"a": 1}))).await;
    let put = send(&server, Method::PUT, FOO, &[], &created).await;
    assert_eq!((put.code, put.json()), (200, created.clone()));
    for change in [json!({}), json!({"spec": {"a": 1}}), json!({"metadata": {"labels": null}})] {
        let patched = merge(&server, FOO, &change).await;
        assert_eq!((patched.code, patched.json()), (200, created.clone()), "{change}");
    }
    let later = json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}});
    let refused = merge(&server, FOO, &later).await;
    assert_eq!(refused.code, 422, "{}", refused.text);
    assert!(refused.message().ends_with("field is immutable"), "{}", refused.message());
    merge(&server, FOO, &json!({"metadata": {"finalizers": ["example.com/a"]}})).await;
    assert_eq!(send(&server, Method::DELETE, FOO, &[], &Value::Null).await.code, 200);
    let more = json!({"metadata": {"finalizers": ["example.com/a", "example.com/b"]}});
    let refused = merge(&server, FOO, &more).await;
    assert_eq!(refused.code, 422, "{}", refused.text);
    assert!(
        refused.message().contains(
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being \
         deleted"
        ),
        "{}",
        refused.message()
    );
}

/// RE-83: a patch conflicts only if it says which version it is for.
#[tokio::test]
async fn patches_name_a_version_or_do_not_conflict() {
    let server = server();
    let created = create(&server, &foo(&json!({"a": 1}))).await;
    assert_eq!(merge(&server, FOO, &json!({"spec": {"a": 2}})).await.code, 200);
    let stale = json!({"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]},
        "spec": {"a": 3}});
    let refused = merge(&server, FOO, &stale).await;
    assert_eq!((refused.code, text(&refused.json(), "/reason").as_str()), (409, "Conflict"));
    assert!(refused.message().contains("the object has been modified"));
    for (headers, patch) in [
        (&MERGE, json!({"metadata": {"resourceVersion": null}})),
        (&JSON, json!([{"op": "remove", "path": "/metadata/resourceVersion"}])),
    ] {
        let refused = send(&server, Method::PATCH, FOO, headers, &patch).await;
        assert_eq!(refused.code, 422, "{}", refused.text);
        assert!(refused.message().ends_with(
            "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        ));
    }
}

/// RE-81: the options come before the object, and that before the patch.
#[tokio::test]
async fn patches_are_refused_in_order() {
    let server = server();
    let bad = json!([{"op": "nothing", "path": "/spec"}]);
    let unknown = format!("{FOO}?fieldValidation=Maybe");
    let text_ = [("content-type", "text/plain")];
    for (path, headers, code) in
        [(unknown.as_str(), &text_, 415), (&unknown, &JSON, 422), (FOO, &JSON, 404)]
    {
        assert_eq!(send(&server, Method::PATCH, path, headers, &bad).await.code, code, "{path}");
    }
    create(&server, &foo(&json!({}))).await;
    let refused = send(&server, Method::PATCH, FOO, &JSON, &bad).await;
    assert_eq!((refused.code, text(&refused.json(), "/reason").as_str()), (422, "Invalid"));
    assert!(!refused.message().contains("PatchOptions"), "{}", refused.message());
}

/// RE-91: an update may throw away who manages what.
#[tokio::test]
async fn managed_fields_are_reset_by_an_empty_entry() {
    for method in [Method::PUT, Method::PATCH] {
        let server = server();
        let mut object = create(&server, &foo(&json!({"a": 1}))).await;
        let before = text(&object, "/metadata/resourceVersion");
        for (fields, has_entries) in [(json!([]), true), (Value::Null, true), (json!([{}]), false)]
        {
            object["metadata"]["managedFields"] = fields.clone();
            object["spec"]["a"] = 2.into();
            object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            let change = json!({"metadata": {"managedFields": fields}, "spec": {"a": 2}});
            let body = if method == Method::PUT {
                let found = get(&server, FOO).await.json();
                object["metadata"]["resourceVersion"] =
                    found["metadata"]["resourceVersion"].clone();
                &object
            } else {
                &change
            };
            let answer = send(&server, method.clone(), FOO, &MERGE, body).await;
            let answer = match method {
                Method::PUT => send(&server, Method::PUT, FOO, &[], body).await,
                _ => answer,
            };
            assert_eq!(answer.code, 200, "{}", answer.text);
            let found = answer.json();
            let entries = found["metadata"].get("managedFields");
            assert_eq!(entries.is_some(), has_entries, "{method} {change}: {entries:?}");
            assert_ne!(text(&found, "/metadata/resourceVersion"), before);
        }
    }
}

/// RE-122, RE-123: a write of the status changes nothing else.
#[tokio::test]
async fn a_write_of_the_status_changes_nothing_else() {
    let server = server();
    let created = create(&server, &foo(&json!({"a": 1}))).await;
    let mut written = created.clone();
    written["metadata"]["labels"] = json!({"l": "x"});
    written["metadata"]["annotations"] = json!({"l": "x"});
    written["metadata"]["finalizers"] = json!(["example.com/f"]);
    written["spec"]["a"] = 9.into();
    written["status"] = json!({"ready": true});
    let put = send(&server, Method::PUT, STATUS, &[], &written).await;
    let check = |answer: &Answer, status: Option<&Value>| {
        assert_eq!(answer.code, 200, "{}", answer.text);
        let found = answer.json();
        assert_eq!((found.get("status"), &found["spec"]), (status, &created["spec"]));
        assert_eq!(found["metadata"]["generation"], 1);
        for name in ["labels", "annotations", "finalizers"] {
            assert_eq!(found["metadata"].get(name), None, "{name}");
        }
    };
    check(&put, Some(&json!({"ready": true})));
    let patch = json!({"metadata": {"labels": {"l": "x"}}, "spec": {"a": 9}, "status": {"b": 1}});
    check(&merge(&server, STATUS, &patch).await, Some(&json!({"ready": true, "b": 1})));
    let patch = json!([{"op": "replace", "path": "/spec/a", "value": 9},
        {"op": "replace", "path": "/status", "value": {"c": 1}}]);
    let patched = send(&server, Method::PATCH, STATUS, &JSON, &patch).await;
    check(&patched, Some(&json!({"c": 1})));
    let revision = patched.json()["metadata"]["resourceVersion"].clone();
    written["metadata"]["resourceVersion"] = revision;
    written.as_object_mut().unwrap().remove("status");
    check(&send(&server, Method::PUT, STATUS, &[], &written).await, None);
    let missing = format!("{FOOS}/b/status?fieldManager=m");
    let mut applied = foo(&json!({}));
    applied["metadata"]["name"] = "b".into();
    assert_eq!(send(&server, Method::PATCH, &missing, &APPLY, &applied).await.code, 404);
}

/// RE-116: a deletion that is only tried says what it would have done.
#[tokio::test]
async fn a_deletion_can_be_tried() {
    let server = server();
    let created = create(&server, &foo(&json!({}))).await;
    let path = format!("{FOO}?dryRun=All");
    let tried = send(&server, Method::DELETE, &path, &[], &Value::Null).await;
    assert_eq!(tried.code, 200);
    let status = tried.json();
    assert_eq!(status["status"], "Success");
    assert_eq!(status["details"]["uid"], created["metadata"]["uid"]);
    merge(&server, FOO, &json!({"metadata": {"finalizers": ["example.com/f"]}})).await;
    let before = get(&server, FOO).await.json();
    let tried = send(&server, Method::DELETE, &path, &[], &Value::Null).await.json();
    assert!(tried["metadata"].get("deletionTimestamp").is_some(), "{tried}");
    assert_eq!(get(&server, FOO).await.json(), before);
}

/// RE-126.
#[tokio::test]
async fn scales_are_patched_but_not_applied() {
    let server = server();
    create(&server, &foo(&json!({}))).await;
    assert_eq!(get(&server, SCALE).await.code, 500, "replicas are not set");
    let replace = json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]);
    let patched = send(&server, Method::PATCH, SCALE, &JSON, &replace).await;
    assert_eq!((patched.code, patched.json()["spec"]["replicas"].clone()), (200, json!(3)));
    let nothing = merge(&server, SCALE, &json!({"spec": {"replicas": null}})).await;
    assert_eq!(nothing.json()["spec"], json!({}), "{}", nothing.text);
    assert_eq!(get(&server, FOO).await.json()["spec"]["a"], 0);
    let applied = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "a"}, "spec": {"replicas": 5}});
    let path = format!("{SCALE}?fieldManager=other&force=true");
    let refused = send(&server, Method::PATCH, &path, &APPLY, &applied).await;
    assert_eq!((refused.code, text(&refused.json(), "/reason").as_str()), (500, ""));
    assert!(
        refused
            .message()
            .contains("request to convert CR to an invalid group/version: autoscaling/v1"),
        "{}",
        refused.message()
    );
}

/// RE-16: an object may have a member `items`, and is not taken for a list.
#[tokio::test]
async fn an_object_with_items_is_an_object() {
    let server = server();
    let mut object = foo(&json!({}));
    object["items"] = json!([1]);
    let created = create(&server, &object).await;
    assert_eq!(created["items"], json!([1]));
    let list = get(&server, FOOS).await.json();
    assert_eq!(list["items"], json!([created]));
}
