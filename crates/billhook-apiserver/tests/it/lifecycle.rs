//! Rules of the life of definitions (19) that no worked example shows, by their numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use billhook::Time;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, text};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOOS: &str = "/apis/example.com/v1/foos";
const FOO_DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
const MERGE: [(&str, &str); 1] = [("content-type", "application/merge-patch+json")];

/// A definition of a cluster's resource, with a version of each name; the last is stored.
fn definition(plural: &str, kind: &str, versions: &[&str]) -> Value {
    let version = |name: &&str| {
        json!({"name": name, "served": true, "storage": Some(name) == versions.last(),
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Cluster",
            "names": {"plural": plural, "kind": kind},
            "versions": versions.iter().map(version).collect::<Vec<_>>()}})
}

fn foo(name: &str, version: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Foo",
        "metadata": {"name": name}})
}

async fn send(server: &Server, method: Method, path: &str, body: &Value) -> Answer {
    call(server, method, path, &[], &body.to_string()).await
}

async fn create(server: &Server, definition: &Value) -> Answer {
    send(server, Method::POST, DEFINITIONS, definition).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

async fn merge(server: &Server, path: &str, patch: &Value) -> Answer {
    call(server, Method::PATCH, path, &MERGE, &patch.to_string()).await
}

/// A server that serves foos, in some versions.
async fn server(versions: &[&str]) -> Server {
    let server = Server::builder().build();
    assert_eq!(create(&server, &definition("foos", "Foo", versions)).await.code, 201);
    server
}

/// The condition of a type of a definition, as `status reason message`.
fn condition(definition: &Value, type_: &str) -> String {
    let conditions = definition["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|found| found["type"] == type_);
    let part = |name| found.map_or(String::new(), |found| text(found, name));
    format!("{} {} {}", part("/status"), part("/reason"), part("/message"))
}

/// LC-30, LC-34: the wish for a taken short name leaves its mark, and the resource is served on.
#[tokio::test]
async fn a_taken_short_name_is_remembered() {
    let server = server(&["v1"]).await;
    let mut bars = definition("bars", "Bar", &["v1"]);
    bars["spec"]["names"]["shortNames"] = json!(["b"]);
    create(&server, &bars).await;
    let conflict = "False ShortNamesConflict \"b\" is already in use";
    let wish = json!({"spec": {"names": {"shortNames": ["b", "f"], "categories": ["all"]}}});
    merge(&server, FOO_DEFINITION, &wish).await;
    let found = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(condition(&found, "NamesAccepted"), conflict);
    assert_eq!(found["status"]["acceptedNames"]["shortNames"], Value::Null);
    assert_eq!(found["status"]["acceptedNames"]["categories"], json!(["all"]));
    assert_eq!(get(&server, FOOS).await.code, 200);
    merge(&server, FOO_DEFINITION, &json!({"spec": {"names": {"shortNames": null}}})).await;
    let found = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(condition(&found, "NamesAccepted"), conflict);
    let discovered = get(&server, "/apis/example.com/v1").await.json();
    assert_eq!(discovered["resources"].as_array().unwrap().len(), 2);
}

/// LC-12, LC-34: what is in conflict from the beginning is neither served nor listed.
#[tokio::test]
async fn what_is_in_conflict_is_not_discovered() {
    let server = server(&["v1"]).await;
    let mut bars = definition("bars", "Foo", &["v1"]);
    bars["spec"]["versions"][0]["name"] = "v2".into();
    assert_eq!(create(&server, &bars).await.code, 201);
    assert_eq!(get(&server, "/apis/example.com/v2/bars").await.text, "404 page not found\n");
    assert_eq!(get(&server, "/apis/example.com/v2").await.code, 404);
    assert_eq!(get(&server, "/openapi/v3/apis/example.com/v2").await.code, 404);
    let again = create(&server, &bars).await;
    assert_eq!(
        (again.code, again.message().as_str()),
        (409, "customresourcedefinitions.apiextensions.k8s.io \"bars.example.com\" already exists"),
    );
}

/// LC-24.
#[tokio::test]
async fn a_conversion_webhook_needs_readable_certificates() {
    let server = Server::builder().build();
    let mut foos = definition("foos", "Foo", &["v1"]);
    foos["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://example.com", "caBundle": "bm90aGluZw=="}}});
    let created = create(&server, &foos).await;
    if created.code == 201 {
        let found = get(&server, FOO_DEFINITION).await.json();
        assert_eq!(
            condition(&found, "Established"),
            "False InvalidCABundle The conversion webhook CABundle is invalid",
        );
        assert_eq!(get(&server, "/apis/example.com/v1").await.code, 404);
    }
    assert_eq!(created.code, 201, "{}", created.text);
}

/// LC-27, LC-41: a client may write the whole status, and the workers begin again.
#[tokio::test]
async fn a_status_that_is_missing_is_worked_out_again() {
    let server = server(&["v1"]).await;
    let path = format!("{FOO_DEFINITION}/status");
    let observed = json!({"status": {"observedGeneration": 7}});
    let patched = merge(&server, &path, &observed).await.json();
    assert_eq!(patched["status"]["observedGeneration"], 7);
    let mut body = patched.clone();
    body.as_object_mut().unwrap().remove("status");
    body["spec"]["group"] = "other.com".into();
    let written = send(&server, Method::PUT, &path, &body).await;
    assert_eq!(written.code, 200, "{}", written.text);
    let written = written.json();
    assert_eq!(written["spec"]["group"], "example.com");
    assert_eq!(
        written["status"],
        json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": ["v1"]}),
    );
    let found = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(condition(&found, "Established").split(' ').next(), Some("True"));
    assert_eq!(found["metadata"]["generation"], 1);

    let unknown = json!({"status": {"storedVersions": ["v9"]}});
    assert_eq!(merge(&server, &path, &unknown).await.code, 200);
    let refused =
        merge(&server, FOO_DEFINITION, &json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(refused.code, 422, "{}", refused.text);
    assert!(refused.message().contains("status.storedVersions"), "{}", refused.message());
}

/// LC-43, LC-53: what is stored in a version that is gone cannot be read, nor deleted.
#[tokio::test]
async fn objects_of_a_version_that_is_gone_are_lost() {
    let server = server(&["v1", "v0"]).await;
    assert_eq!(send(&server, Method::POST, FOOS, &foo("a", "v1")).await.code, 201);
    let moved = json!({"spec": {"versions": [definition("", "", &["v1"])["spec"]["versions"][0],
        {"name": "v0", "served": true, "storage": false,
            "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    assert_eq!(merge(&server, FOO_DEFINITION, &moved).await.code, 200);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 200);
    let status = format!("{FOO_DEFINITION}/status");
    let cleaned = json!({"status": {"storedVersions": ["v1"]}});
    assert_eq!(merge(&server, &status, &cleaned).await.code, 200);
    let removed = json!({"spec": {"versions": definition("", "", &["v1"])["spec"]["versions"]}});
    assert_eq!(merge(&server, FOO_DEFINITION, &removed).await.code, 200);

    let lost = "request to convert CR from an invalid group/version: example.com/v0";
    let path = format!("{FOOS}/a");
    for (method, body) in [
        (Method::GET, ""),
        (
            Method::PUT,
            r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "resourceVersion": "1"}}"#,
        ),
        (Method::PATCH, "{}"),
        (Method::DELETE, ""),
    ] {
        let headers = if method == Method::PATCH { &MERGE[..] } else { &[] };
        let answer = call(&server, method.clone(), &path, headers, body).await;
        let reason = text(&answer.json(), "/reason");
        assert_eq!(
            (answer.code, answer.message().as_str(), reason.as_str()),
            (500, lost, ""),
            "{method}"
        );
    }
    let all = call(&server, Method::DELETE, FOOS, &[], "").await;
    assert_eq!((all.code, all.message().as_str()), (500, lost));
    let unlisted =
        format!("storage is (re)initializing: failed to list example.com/v1, Kind=Foo: {lost}");
    for query in
        ["", "?resourceVersion=0", "?labelSelector=a", "?watch=1", "?watch=1&resourceVersion=1"]
    {
        let listed = get(&server, &format!("{FOOS}{query}")).await;
        assert_eq!((listed.code, listed.message()), (429, unlisted.clone()));
        assert_eq!(listed.headers["retry-after"], "1");
    }
    assert_eq!(send(&server, Method::POST, FOOS, &foo("a", "v1")).await.code, 409);
    assert_eq!(send(&server, Method::POST, FOOS, &foo("b", "v1")).await.code, 201);

    assert_eq!(call(&server, Method::DELETE, FOO_DEFINITION, &[], "").await.code, 200);
    let found = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(
        condition(&found, "Terminating"),
        format!("True InstanceDeletionFailed could not list instances: {unlisted}"),
    );
}

/// LC-50, LC-51.
#[tokio::test]
async fn a_deletion_has_preconditions_and_is_repeated() {
    let server = server(&["v1"]).await;
    let mut held = foo("held", "v1");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    assert_eq!(send(&server, Method::POST, FOOS, &held).await.code, 201);
    let before = get(&server, FOO_DEFINITION).await.json();
    let uid = text(&before, "/metadata/uid");
    let refused =
        send(&server, Method::DELETE, FOO_DEFINITION, &json!({"preconditions": {"uid": "a"}}))
            .await;
    let subject = "Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io \
                   \"foos.example.com\": Precondition failed: ";
    assert_eq!(
        (refused.code, refused.message()),
        (409, format!("{subject}UID in precondition: a, UID in object meta: {uid}")),
    );
    let dry = send(&server, Method::DELETE, FOO_DEFINITION, &json!({"dryRun": ["All"]})).await;
    assert_eq!(
        condition(&dry.json(), "Terminating"),
        "True InstanceDeletionPending CustomResourceDefinition marked for deletion; \
         CustomResource deletion will begin soon",
    );
    assert_eq!(get(&server, FOO_DEFINITION).await.json(), before);

    let policy = json!({"propagationPolicy": "Foreground"});
    let first = send(&server, Method::DELETE, FOO_DEFINITION, &policy).await.json();
    let finalizers = json!(["customresourcecleanup.apiextensions.k8s.io"]);
    assert_eq!(first["metadata"]["finalizers"], finalizers);
    assert_eq!(first["metadata"]["generation"], 1);
    assert_eq!(first["metadata"].get("deletionGracePeriodSeconds"), None);
    let second = send(&server, Method::DELETE, FOO_DEFINITION, &json!({})).await;
    assert_eq!(second.code, 200, "{}", second.text);
    let second = second.json();
    assert_eq!(second["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(second["metadata"]["generation"], 1);
    let third = send(&server, Method::DELETE, FOO_DEFINITION, &json!({})).await.json();
    assert_eq!(third["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"]);

    // LC-56.
    let again = create(&server, &definition("foos", "Foo", &["v1"])).await;
    assert_eq!(again.code, 409);
    assert!(again.message().starts_with("object is being deleted: "), "{}", again.message());
    // LC-55.
    let discovered = get(&server, "/apis/example.com/v1").await.json();
    assert_eq!(
        discovered["resources"][0]["verbs"],
        json!(["delete", "deletecollection", "get", "list", "watch"]),
    );
    let missing = send(&server, Method::PUT, &format!("{FOOS}/x"), &foo("x", "v1")).await;
    assert_eq!(missing.code, 404);
    // LC-57: without the finalizer the objects stay behind.
    let freed = merge(&server, FOO_DEFINITION, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(freed.code, 200, "{}", freed.text);
    assert_eq!(get(&server, FOO_DEFINITION).await.code, 404);
    assert_eq!(get(&server, FOOS).await.code, 404);
    let anew = create(&server, &definition("foos", "Foo", &["v1"])).await.json();
    assert_ne!(text(&anew, "/metadata/uid"), uid);
    let left = get(&server, &format!("{FOOS}/held")).await.json();
    assert!(left["metadata"]["deletionTimestamp"].is_string(), "{left}");
}

/// LC-52: definitions that are deleted together go with their objects, as each alone does.
#[tokio::test]
async fn definitions_are_deleted_together() {
    let server = server(&["v1"]).await;
    assert_eq!(create(&server, &definition("bars", "Bar", &["v1"])).await.code, 201);
    let mut held = foo("held", "v1");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    assert_eq!(send(&server, Method::POST, FOOS, &held).await.code, 201);
    assert_eq!(send(&server, Method::POST, FOOS, &foo("a", "v1")).await.code, 201);
    let answer = call(&server, Method::DELETE, DEFINITIONS, &[], "").await;
    assert_eq!(answer.code, 200);
    let items = answer.json()["items"].as_array().unwrap().clone();
    let names: Vec<_> = items.iter().map(|item| text(item, "/metadata/name")).collect();
    assert_eq!(names, ["bars.example.com", "foos.example.com"]);
    assert!(items.iter().all(|item| item.pointer("/metadata/deletionTimestamp").is_none()));

    assert_eq!(get(&server, &format!("{DEFINITIONS}/bars.example.com")).await.code, 404);
    let kept = get(&server, FOO_DEFINITION).await.json();
    let terminating = condition(&kept, "Terminating");
    assert_eq!(terminating.split(' ').next(), Some("True"), "{terminating}");
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 404);
    let free = json!({"metadata": {"finalizers": null}});
    assert_eq!(merge(&server, &format!("{FOOS}/held"), &free).await.code, 200);
    assert_eq!(get(&server, FOO_DEFINITION).await.code, 404);
    assert_eq!(create(&server, &definition("foos", "Foo", &["v1"])).await.code, 201);
    assert_eq!(get(&server, FOOS).await.json()["items"], json!([]), "nothing comes back");
}

/// LC-53: a definition that something else keeps is open again once its objects are gone.
#[tokio::test]
async fn a_definition_that_is_kept_is_open_again() {
    let server = server(&["v1"]).await;
    let kept = json!({"metadata": {"finalizers": ["example.com/keep"]}});
    assert_eq!(merge(&server, FOO_DEFINITION, &kept).await.code, 200);
    assert_eq!(call(&server, Method::DELETE, FOO_DEFINITION, &[], "").await.code, 200);
    let found = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(
        condition(&found, "Terminating"),
        "False InstanceDeletionCompleted removed all instances",
    );
    assert_eq!(found["metadata"]["finalizers"], json!(["example.com/keep"]));
    assert_eq!(send(&server, Method::POST, FOOS, &foo("a", "v1")).await.code, 201);
}

/// LC-22, LC-53: one whose names were never accepted goes at once.
#[tokio::test]
async fn a_definition_that_was_never_established_goes() {
    let server = server(&["v1"]).await;
    let mut bars = definition("bars", "Foo", &["v1"]);
    bars["metadata"]["finalizers"] = json!(["example.com/keep"]);
    create(&server, &bars).await;
    let path = format!("{DEFINITIONS}/bars.example.com");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    let found = get(&server, &path).await.json();
    let conditions = found["status"]["conditions"].as_array().unwrap();
    let types: Vec<_> = conditions.iter().map(|condition| text(condition, "/type")).collect();
    assert_eq!(types, ["NamesAccepted", "Established", "Terminating"]);
    assert_eq!(
        condition(&found, "Terminating"),
        "False NeverEstablished resource was never established",
    );
}

/// DT-08, LC-21, LC-60, LC-62, RE-140, WA-32: all of it with the times of a server.
#[tokio::test(start_paused = true)]
async fn definitions_may_take_their_time() {
    let server = Server::builder().settle_like_a_server().build();
    let created = create(&server, &definition("foos", "Foo", &["v1"])).await.json();
    let revision =
        |object: &Value| -> u64 { text(object, "/metadata/resourceVersion").parse().unwrap() };
    let first = revision(&created);
    assert_eq!(get(&server, FOOS).await.text, "404 page not found\n");
    tokio::time::sleep(Duration::from_millis(30)).await;
    let named = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(condition(&named, "NamesAccepted"), "True NoConflicts no conflicts found");
    assert_eq!(
        condition(&named, "Established"),
        "False Installing the initial names have been accepted",
    );
    assert_eq!(revision(&named), first + 1);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.json()["reason"], "NotFound");
    assert_eq!(get(&server, "/apis/example.com/v1").await.code, 404);
    assert_eq!(get(&server, "/apis/example.com").await.code, 404);
    assert!(!get(&server, "/apis").await.text.contains("example.com"));
    assert!(!get(&server, "/openapi/v3").await.text.contains("example.com"));
    tokio::time::sleep(Duration::from_millis(20)).await;
    let established = get(&server, FOO_DEFINITION).await.json();
    assert_eq!(
        condition(&established, "Established"),
        "True InitialNamesAccepted the initial names have been accepted",
    );
    assert_eq!(revision(&established), first + 2);
    assert_eq!(get(&server, "/apis/example.com/v1").await.code, 200);
    assert!(get(&server, "/apis").await.text.contains("example.com"));
    assert!(get(&server, "/openapi/v3").await.text.contains("example.com"));

    let starting = get(&server, FOOS).await;
    assert_eq!((starting.code, starting.message().as_str()), (429, "storage is (re)initializing"));
    assert_eq!(starting.headers["retry-after"], "1");
    let watch = get(&server, &format!("{FOOS}?watch=1")).await;
    assert_eq!((watch.code, watch.text), (429, starting.text), "it is no event of a watch");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(get(&server, FOOS).await.code, 200);

    let began = tokio::time::Instant::now();
    assert_eq!(send(&server, Method::POST, FOOS, &foo("a", "v1")).await.code, 201);
    assert_eq!(began.elapsed().as_secs(), 2);
    let began = tokio::time::Instant::now();
    assert_eq!(send(&server, Method::POST, FOOS, &foo("b", "v1")).await.code, 201);
    assert_eq!(began.elapsed(), Duration::ZERO);

    assert_eq!(call(&server, Method::DELETE, FOO_DEFINITION, &[], "").await.code, 200);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 200);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(get(&server, FOO_DEFINITION).await.code, 404);
}

/// A copy of a server that delays definitions goes on by itself, from where the server was.
#[tokio::test(start_paused = true)]
async fn copies_take_their_time_too() {
    let server = Server::builder().settle_like_a_server().build();
    create(&server, &definition("foos", "Foo", &["v1"])).await;
    let copy = server.fork();
    assert_eq!(get(&copy, FOOS).await.code, 404);
    tokio::time::sleep(Duration::from_millis(100)).await;
    for server in [&server, &copy] {
        let found = get(server, FOO_DEFINITION).await.json();
        assert_eq!(condition(&found, "Established").split(' ').next(), Some("True"));
        assert_eq!(get(server, FOOS).await.code, 429, "its cache is its own");
    }
    call(&server, Method::DELETE, FOO_DEFINITION, &[], "").await;
    let late = server.fork();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(get(&late, FOO_DEFINITION).await.code, 404);
    assert_eq!(get(&copy, FOO_DEFINITION).await.code, 200);
    let began = tokio::time::Instant::now();
    assert_eq!(send(&copy, Method::POST, FOOS, &foo("a", "v1")).await.code, 201);
    assert_eq!(began.elapsed(), Duration::ZERO, "it was established long ago");
}

/// LC-63: what is given at the start is served at once.
#[tokio::test(start_paused = true)]
async fn what_is_loaded_does_not_take_its_time() {
    let server = Server::builder().settle_like_a_server().build();
    let objects = [definition("foos", "Foo", &["v1"]), foo("a", "v1")];
    let objects = objects.map(|object| format!("---\n{object}\n")).concat();
    assert_eq!(server.load_text(&objects).await.unwrap(), 2);
    assert_eq!(get(&server, &format!("{FOOS}/a")).await.code, 200);
}

/// LC-02: absent paths and methods are reported as a Status among the server's own kinds.
#[tokio::test]
async fn own_kinds_have_failures_of_their_own() {
    let server = server(&["v1"]).await;
    let missing = "the server could not find the requested resource";
    let wrong = "the server does not allow this method on the requested resource";
    for (method, path, code, message) in [
        (Method::GET, "/apis/apiextensions.k8s.io/v1/nothing", 404, missing),
        (Method::GET, "/apis/apiextensions.k8s.io/v2", 404, missing),
        (Method::GET, "/api/v1/nothing", 404, missing),
        (Method::GET, "/api/v1/configmaps/a", 404, missing),
        (
            Method::GET,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a/scale",
            404,
            missing,
        ),
        (Method::PUT, DEFINITIONS, 405, wrong),
        (Method::PATCH, DEFINITIONS, 405, wrong),
        (Method::POST, FOO_DEFINITION, 405, wrong),
        (Method::OPTIONS, DEFINITIONS, 405, wrong),
        (
            Method::DELETE,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a/status",
            405,
            wrong,
        ),
        (Method::POST, "/api/v1/configmaps", 405, wrong),
        (Method::POST, "/api", 405, wrong),
        (Method::DELETE, "/apis/apiextensions.k8s.io/v1", 405, wrong),
    ] {
        let answer = call(&server, method.clone(), path, &[], "{}").await;
        assert_eq!(answer.code, code, "{method} {path}: {}", answer.text);
        let status = answer.json();
        assert_eq!(
            (answer.message().as_str(), &status["details"]),
            (message, &json!({})),
            "{method} {path}"
        );
    }
    // Of a group of the server no version is missing in plain text.
    for path in ["/apis/apiextensions.k8s.io/v2/customresourcedefinitions", "/api/v2/configmaps"] {
        let answer = get(&server, path).await;
        assert_eq!((answer.code, answer.message().as_str()), (404, missing), "{path}");
    }
    assert_eq!(get(&server, "/apis/extensions/v1beta1").await.text, "404 page not found\n");
    for path in ["/apis/example.com", "/apis/example.com/v1", "/apis"] {
        assert_eq!(call(&server, Method::POST, path, &[], "").await.code, 200, "DT-01: {path}");
    }
    let refused = call(&server, Method::GET, DEFINITIONS, &[("accept", "text/html")], "").await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            406,
            "406: Not Acceptable\n\nAvailable representations: application/json, \
         application/yaml, application/vnd.kubernetes.protobuf"
        ),
    );
    let metadata_list = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let metadata = metadata_list.replace("List", "");
    for (path, accept, type_) in [
        (DEFINITIONS, metadata.as_str(), "a list (*apiextensions.CustomResourceDefinitionList)"),
        (FOO_DEFINITION, metadata_list, "not a list (*apiextensions.CustomResourceDefinition)"),
        ("/api/v1/namespaces", metadata.as_str(), "a list (*core.NamespaceList)"),
    ] {
        let refused = call(&server, Method::GET, path, &[("accept", accept)], "").await;
        assert_eq!(refused.code, 406, "{path}");
        assert!(refused.message().ends_with(type_), "DT-75: {}", refused.message());
    }
}

/// LC-02, LC-03: lists and objects have their members in declared order.
#[tokio::test]
async fn definitions_have_their_own_order() {
    let empty = Server::builder().build();
    let listed = get(&empty, DEFINITIONS).await.text;
    assert!(
        listed.starts_with(
            "{\"kind\":\"CustomResourceDefinitionList\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\
             \"metadata\":{\"resourceVersion\":\""
        ) && listed.ends_with("\"},\"items\":[]}\n"),
        "{listed}",
    );
    // DT-69.
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let rows = call(&empty, Method::GET, DEFINITIONS, &table, "").await.json();
    assert_eq!(rows["rows"], Value::Null);
    assert_eq!(rows["columnDefinitions"][1]["name"], "Created At");

    let mut foos = definition("foos", "Foo", &["v1"]);
    foos["spec"]["versions"][0]["additionalPrinterColumns"] =
        json!([{"jsonPath": ".a", "name": "A", "type": "string"}]);
    foos["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({
        "x-kubernetes-preserve-unknown-fields": true, "type": "object", "description": "d",
        "required": ["b"], "maxProperties": 3,
        "properties": {"b": {"type": "string", "enum": ["x"], "title": "t"},
            "a": {"type": "array", "items": {"type": "integer", "format": "int32"}}}});
    let created = create(&empty, &foos).await.text;
    assert!(
        created.contains(
            "\"spec\":{\"group\":\"example.com\",\"names\":{\"plural\":\"foos\",\"singular\":\"foo\",\
             \"kind\":\"Foo\",\"listKind\":\"FooList\"},\"scope\":\"Cluster\",\"versions\":[{\
             \"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\
             \"description\":\"d\",\"type\":\"object\",\"maxProperties\":3,\"required\":[\"b\"],\
             \"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"format\":\
             \"int32\"}},\"b\":{\"type\":\"string\",\"title\":\"t\",\"enum\":[\"x\"]}},\
             \"x-kubernetes-preserve-unknown-fields\":true}},\"additionalPrinterColumns\":[{\
             \"name\":\"A\",\"type\":\"string\",\"jsonPath\":\".a\"}]}],\"conversion\":{\"strategy\":\
             \"None\"}},\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\
             \"\"},\"storedVersions\":[\"v1\"]}}"
        ),
        "{created}",
    );
}

/// Work in the background that breaks off is not lost: no client waits for what never comes.
#[tokio::test(start_paused = true)]
async fn broken_background_work_is_told() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let breaks = Arc::clone(&is_broken);
    let clock = move || {
        assert!(!breaks.load(Ordering::Relaxed), "the clock is broken");
        Time::default()
    };
    let server = Server::builder().settle_like_a_server().clock(clock).build();
    assert_eq!(create(&server, &definition("foos", "Foo", &["v1"])).await.code, 201);
    let copy = server.fork();
    is_broken.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(100)).await;
    for server in [&server, &copy] {
        let answer = get(server, "/readyz").await;
        assert_eq!(answer.code, 500);
        let message = "Internal error occurred: the server's background work failed: the clock is \
                       broken";
        assert_eq!(answer.message(), message);
    }
}
