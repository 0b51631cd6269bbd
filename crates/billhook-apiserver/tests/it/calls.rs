//! The requests that kubectl and client libraries send, as they send them (DT-90 to DT-96).

use billhook_apiserver::Server;
use futures_util::FutureExt as _;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition};

const P: &str = "/apis/example.com/v1/namespaces/default/foos";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// The types that the short form for tables stands for (DT-96).
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,\
    application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
const FOO: &str = r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},
    "spec":{"a":1,"color":"red"}}"#;

fn server() -> Server {
    let mut definition = definition();
    definition["spec"]["versions"][0]["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"});
    Server::builder().definition(&definition).unwrap().build()
}

/// Sends a request of kubectl: `METHOD path` with `P` for the path of the foos, and the short form of
/// its headers, as in DT-91.
async fn send(server: &Server, request: &str, form: &str, body: &str) -> Answer {
    let (method, path) = request.split_once(' ').unwrap();
    let path = path.strip_prefix('P').map_or(path.to_owned(), |rest| format!("{P}{rest}"));
    let (accept, type_) = form.split_once(", ").unwrap_or((form, ""));
    let accept = match accept {
        "T" => TABLE,
        "J" => "application/json",
        "D" => AGGREGATED,
        _ => "application/json, */*",
    };
    let type_ = match type_ {
        "json" => "application/json",
        "merge" => "application/merge-patch+json",
        "jsonpatch" => "application/json-patch+json",
        "strategic" => "application/strategic-merge-patch+json",
        "apply" => "application/apply-patch+yaml",
        other => other,
    };
    let agent = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07";
    let mut headers = vec![("accept", accept), ("user-agent", agent), ("accept-encoding", "gzip")];
    headers.extend([("kubectl-command", "kubectl get")]);
    headers.extend(Some(("content-type", type_)).filter(|_| !type_.is_empty()));
    call(server, Method::from_bytes(method.as_bytes()).unwrap(), &path, &headers, body).await
}

/// DT-91, DT-96: what each command sends, in order, and how it begins or what it holds.
#[tokio::test]
async fn kubectl_is_answered() {
    let server = server();
    let scale = r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a",
        "namespace":"default"},"spec":{"replicas":5},"status":{"replicas":0}}"#;
    let color = r#"[{"op":"replace","path":"/spec/color","value":"blue"}]"#;
    let selected = "fieldSelector=metadata.name%3Da";
    let wait = format!("GET P?allowWatchBookmarks=true&{selected}&timeoutSeconds=1&watch=true");
    let events = "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da%2C\
                  involvedObject.namespace%3Ddefault%2CinvolvedObject.kind%3DFoo%2C\
                  involvedObject.uid%3Du&limit=500";
    for (request, form, body, code, part) in [
        ("GET P/a", "J", "", 404, "foos.example.com \\\"a\\\" not found"),
        (
            "POST P?dryRun=All&fieldManager=kubectl-create&fieldValidation=Strict",
            "J, json",
            FOO,
            201,
            "\"kubectl-create\"",
        ),
        (
            "POST P?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
            "J, json",
            FOO,
            201,
            "\"kubectl-client-side-apply\"",
        ),
        ("GET P?limit=500", "T", "", 200, "{\"kind\":\"Table\""),
        (
            "GET P?includeObject=Object",
            "T",
            "",
            200,
            "\"object\":{\"apiVersion\":\"example.com/v1\"",
        ),
        ("GET P/a/status", "T", "", 200, "{\"kind\":\"Table\""),
        (&format!("GET P?{selected}&limit=500&resourceVersion=0"), "J", "", 200, "\"name\":\"a\""),
        (&wait, "J", "", 200, "k8s.io/initial-events-end"),
        (
            "PATCH P/a?fieldManager=kubectl-edit&fieldValidation=Strict",
            "J, merge",
            r#"{"spec":{"colour":"x"}}"#,
            422,
            "strict decoding error: unknown field \\\"spec.colour\\\"",
        ),
        ("PATCH P/a?fieldManager=kubectl-patch", "J, jsonpatch", color, 200, "\"kubectl-patch\""),
        (
            "PATCH P/a?fieldManager=kubectl-patch",
            "J, strategic",
            "{}",
            415,
            "accepted media types include: application/json-patch+json",
        ),
        (
            "PATCH P/a?dryRun=All&fieldManager=kubectl&force=false",
            "J, apply",
            FOO,
            409,
            "conflict with \\\"kubectl-patch\\\" using example.com/v1: .spec.color",
        ),
        (
            "PATCH P/a?fieldManager=kubectl&fieldValidation=Strict&force=true",
            "J, apply",
            FOO,
            200,
            "\"color\":\"red\"",
        ),
        ("PATCH P/a/scale", ", merge", r#"{"spec":{"replicas":3}}"#, 200, "\"replicas\":3"),
        ("GET P/a/scale", "", "", 200, "{\"kind\":\"Scale\""),
        ("PUT P/a/scale", "", scale, 200, "\"replicas\":5"),
        (events, "", "", 200, "\"items\":[]"),
        (
            "DELETE P/a",
            "J, json",
            r#"{"gracePeriodSeconds":1,"propagationPolicy":"Foreground"}"#,
            200,
            "\"foregroundDeletion\"",
        ),
        ("DELETE P/a", "J, json", r#"{"propagationPolicy":"Background"}"#, 200, "\"Success\""),
    ] {
        let answer = send(&server, request, form, body).await;
        assert_eq!(answer.code, code, "{request}: {}", answer.text);
        assert!(answer.text.contains(part), "{request}: {}", answer.text);
    }
}

/// DT-90: who knows the resources already need not read them again; who asks for no aggregated
/// document finds them too.
#[tokio::test]
async fn resources_are_found_once() {
    let server = server();
    for path in ["/api?timeout=32s", "/apis?timeout=32s"] {
        let document = send(&server, &format!("GET {path}"), "D", "").await;
        assert_eq!(document.json()["kind"], "APIGroupDiscoveryList");
        let known = document.headers["etag"].to_str().unwrap().to_owned();
        let known = [("accept", AGGREGATED), ("if-none-match", &known)];
        let again = call(&server, Method::GET, path, &known, "").await;
        assert_eq!((again.code, again.text.as_str()), (304, ""));
        assert_ne!(send(&server, &format!("GET {path}"), "J", "").await.json()["items"], json!([]));
    }
    let mut bars = definition();
    bars["metadata"]["name"] = "bars.example.com".into();
    bars["spec"]["names"] = json!({"plural": "bars", "kind": "Bar"});
    let tag = |answer: Answer| answer.headers["etag"].to_str().unwrap().to_owned();
    let before = tag(send(&server, "GET /apis", "D", "").await);
    server.create_all([&bars]).await.unwrap();
    assert_ne!(tag(send(&server, "GET /apis", "D", "").await), before);
}

/// DT-92: the document of a version is found by the index, and says that PATCH validates fields.
#[tokio::test]
async fn validation_is_announced() {
    let server = server();
    let index = send(&server, "GET /openapi/v3?timeout=32s", "", "").await.json();
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let document = send(&server, &format!("GET {url}&timeout=32s"), "J", "").await.json();
    let path = &document["paths"]["/apis/example.com/v1/namespaces/{namespace}/foos/{name}"];
    let parameters = path["patch"]["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"));
    let kind = json!({"group": "example.com", "version": "v1", "kind": "Foo"});
    assert_eq!(path["patch"]["x-kubernetes-group-version-kind"], kind);
}

/// Watches end with the server; all else goes on, and so do the watches of its copies.
#[tokio::test]
async fn watches_end_with_the_server() {
    let server = server();
    send(&server, "POST P", "J, json", FOO).await;
    let copy = server.fork();
    let is_open = |server: &Server, path: &str| {
        let (server, path) = (server.clone(), format!("GET {path}"));
        async move { send(&server, &path, "J", "").now_or_never().is_none() }
    };
    let old = send(&server, "GET P?watch=true", "J", "");
    tokio::pin!(old);
    assert!(old.as_mut().now_or_never().is_none());
    server.end_watches();
    assert_eq!(old.await.text.lines().count(), 1);
    for path in ["P?watch=true", "/api/v1/configmaps?watch=true"] {
        assert!(!is_open(&server, path).await, "{path}");
        assert!(is_open(&copy, path).await, "{path}");
    }
    let color = r#"{"spec":{"color":"blue"}}"#;
    assert_eq!(send(&server, "PATCH P/a", "J, merge", color).await.code, 200);
}

/// DT-93: how informers of different ages and libraries begin.
#[tokio::test(start_paused = true)]
async fn informers_begin() {
    let server = server();
    assert_eq!(send(&server, "POST P", "J, json", FOO).await.code, 201);
    let streaming = "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
                     &sendInitialEvents=true&timeoutSeconds=1&watch=true";
    let types = |answer: &Answer| -> Vec<String> {
        let events = answer.text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let streamed = send(&server, &format!("GET P?{streaming}"), "", "").await;
    assert_eq!(types(&streamed), ["ADDED", "BOOKMARK"]);
    for list in ["limit=500&resourceVersion=0", "limit=500"] {
        let list = send(&server, &format!("GET P?{list}"), "J", "").await.json();
        let revision = list["metadata"]["resourceVersion"].as_str().unwrap();
        let name = format!("b{revision}");
        let other = FOO.replace("\"a\"}", &format!("\"{name}\"}}"));
        assert_eq!(send(&server, "POST P", "J, json", &other).await.code, 201);
        let watch = format!(
            "GET P?allowWatchBookmarks=true&resourceVersion={revision}&timeoutSeconds=1&watch=true"
        );
        let watched = send(&server, &watch, "", "").await;
        assert_eq!(types(&watched).first().map(String::as_str), Some("ADDED"));
        assert!(watched.text.contains(&name) && !watched.text.contains("\"name\":\"a\""));
    }
}

/// DT-94, DT-95: what all clients need is there, in the old form of discovery too.
#[tokio::test]
async fn the_least_is_there() {
    let server = server();
    for (path, kind) in [
        ("/apis", "APIGroupList"),
        ("/apis/example.com", "APIGroup"),
        ("/apis/example.com/v1", "APIResourceList"),
        ("/api", "APIVersions"),
        ("/api/v1", "APIResourceList"),
    ] {
        let answer = call(&server, Method::GET, path, &[], "").await;
        assert_eq!((answer.code, &answer.json()["kind"]), (200, &json!(kind)), "{path}");
    }
    for path in ["/version", "/openapi/v3", "/openapi/v3/apis/example.com/v1", P] {
        assert_eq!(call(&server, Method::GET, path, &[], "").await.code, 200, "{path}");
    }
}
