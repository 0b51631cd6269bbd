//! Clients that mean it no good: what they send costs no more than it should, and nothing fails open.

use std::time::{Duration, Instant};

use billhook_apiserver::{AuthorizationMode, Server};
use bytes::Bytes;
use http::Method;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn server() -> Server {
    Server::builder().definition(&definition()).unwrap().build()
}

async fn create(server: &Server, path: &str, object: &Value) -> Value {
    let created = call(server, Method::POST, path, &[], &object.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    created.json()
}

fn foo(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name},
        "spec": spec})
}

async fn list_bytes(server: &Server, headers: &[(&str, &str)]) -> (http::HeaderMap, Vec<u8>) {
    let mut request = http::Request::get(FOOS);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = server.clone().call(request.body(String::new()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    let (parts, body) = answer.into_parts();
    let hint = http_body::Body::size_hint(&body).exact();
    let bytes = body.collect().await.unwrap().to_bytes().to_vec();
    assert!(hint.is_none_or(|hint| hint == bytes.len() as u64), "{hint:?} {}", bytes.len());
    (parts.headers, bytes)
}

/// RE-50: a list that is printed while it is sent has the items as they are alone.
#[tokio::test]
async fn large_lists_are_printed_while_they_are_sent() {
    let server = server();
    let mut items = Vec::new();
    for (index, length) in [0, 10, 200_000, 20_000, 70_000, 30, 65_536].into_iter().enumerate() {
        let name = format!("a{index}");
        create(&server, FOOS, &foo(&name, &json!({"color": "ü".repeat(length / 2)}))).await;
        let item = call(&server, Method::GET, &format!("{FOOS}/{name}"), &[], "").await.text;
        items.push(item.trim_end().to_owned());
    }
    let revision = text(&serde_json::from_str(&items[6]).unwrap(), "/metadata/resourceVersion");
    let expected = |items: &[String], metadata: &str| {
        format!(
            "{{\"apiVersion\":\"example.com/v1\",\"items\":[{}],\"kind\":\"FooList\",\
             \"metadata\":{{\"continue\":{metadata}\"resourceVersion\":\"{revision}\"}}}}\n",
            items.join(",")
        )
    };
    let (_, bytes) = list_bytes(&server, &[]).await;
    assert!(bytes == expected(&items, "\"\",").as_bytes());
    let (headers, bytes) = list_bytes(&server, &[("accept-encoding", "gzip")]).await;
    assert_eq!(headers["content-encoding"], "gzip");
    let mut plain = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*bytes), &mut plain).unwrap();
    assert!(plain == expected(&items, "\"\","));
    // What happens later is not in it, however late it is read; a page ends where it should.
    let request = http::Request::get(format!("{FOOS}?limit=4")).body(String::new()).unwrap();
    let answer = server.clone().call(request).await.unwrap();
    call(&server, Method::DELETE, &format!("{FOOS}/a2"), &[], "").await;
    let page = answer.into_body().collect().await.unwrap().to_bytes();
    let page = String::from_utf8(page.to_vec()).unwrap();
    let next = text(&serde_json::from_str(&page).unwrap(), "/metadata/continue");
    assert!(page == expected(&items[..4], &format!("\"{next}\",\"remainingItemCount\":3,")));
    let path = format!("{FOOS}?continue={next}");
    let rest = call(&server, Method::GET, &path, &[], "").await.text;
    assert!(rest == expected(&items[4..], "\"\","));
}

/// RE-50, BK-02: the items of a list of a built-in kind do not say what they are.
#[tokio::test]
async fn large_lists_of_built_in_kinds_are_printed_while_they_are_sent() {
    let server = server();
    for length in [0, 30, 20_000, 200_000] {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("a{length:06}")}, "data": {"a": "ü".repeat(length / 2)}});
        create(&server, MAPS, &map).await;
        let list = call(&server, Method::GET, MAPS, &[], "").await;
        let mut items = Vec::new();
        for item in list.json()["items"].as_array().unwrap() {
            let path = format!("{MAPS}/{}", text(item, "/metadata/name"));
            let alone = call(&server, Method::GET, &path, &[], "").await.text;
            let heading = r#"{"kind":"ConfigMap","apiVersion":"v1","#;
            items.push(format!("{{{}", alone.trim_end().strip_prefix(heading).unwrap()));
        }
        let revision = text(&list.json(), "/metadata/resourceVersion");
        let expected = format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}"}},"items":[{}]}}"#,
            items.join(",")
        );
        assert_eq!(items.len(), list.json()["items"].as_array().unwrap().len());
        assert!(list.text.trim_end() == expected);
    }
}

/// Answers that have to be printed before they are sent are bounded together.
#[tokio::test]
async fn answers_that_are_not_read_are_bounded() {
    let server = server();
    let data = "x".repeat(1_000_000);
    for index in 0..9 {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("a{index}")}, "data": {"a": data}});
        create(&server, MAPS, &map).await;
    }
    let mut unread = Vec::new();
    let refused = loop {
        let selected = format!("{MAPS}?labelSelector=!held");
        let request = http::Request::get(selected).body(String::new()).unwrap();
        let answer = server.clone().call(request).await.unwrap();
        if answer.status() != 200 {
            break answer;
        }
        unread.push(answer);
        assert!(unread.len() < 50, "{} answers of 9 MB are held", unread.len());
    };
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(call(&server, Method::GET, "/version", &[], "").await.code, 200);
    drop(unread);
    assert_eq!(call(&server, Method::GET, MAPS, &[], "").await.code, 200);
}

#[tokio::test]
async fn a_body_in_parts_is_one_body() {
    let server = server();
    let body = foo("a", &json!({"color": "x".repeat(100_000)})).to_string();
    let parts: Vec<_> = body.bytes().map(|byte| Bytes::from(vec![byte])).collect();
    let frames = parts
        .into_iter()
        .map(|part| Ok::<_, std::convert::Infallible>(http_body::Frame::data(part)));
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let request = http::Request::post(FOOS).body(body).unwrap();
    assert_eq!(server.clone().call(request).await.unwrap().status(), 201);
}

/// WA-07: a time that cannot be added to the present.
#[tokio::test]
async fn a_watch_may_be_asked_to_last_forever() {
    let server = server();
    for seconds in [i64::MAX, i64::MAX / 1_000_000_000, 1 << 40] {
        let path = format!("{FOOS}?watch=1&timeoutSeconds={seconds}");
        let request = http::Request::get(path).body(String::new()).unwrap();
        let answer = server.clone().call(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(answer.body().end().unwrap() > Instant::now() + Duration::from_secs(3600));
        let mut body = answer.into_body();
        let name = format!("a{seconds}");
        create(&server, FOOS, &foo(&name, &json!({}))).await;
        let line = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(line.starts_with(b"{\"type\":\"ADDED\""));
    }
}

/// RE-05: no object and no document has this method.
#[tokio::test]
async fn a_trace_is_not_answered() {
    let server = server();
    for path in ["/", "/version", "/healthz", "/api", "/apis", "/openapi/v2", "/openapi/v3", FOOS] {
        assert_eq!(call(&server, Method::TRACE, path, &[], "").await.code, 405, "{path}");
        assert_ne!(call(&server, Method::GET, path, &[], "").await.code, 405, "{path}");
    }
}

/// The history of a definition goes with it.
#[tokio::test]
async fn what_a_deleted_definition_had_is_forgotten() {
    let server = server();
    let created = create(&server, FOOS, &foo("a", &json!({}))).await;
    let revision = text(&created, "/metadata/resourceVersion");
    let exact = format!("{FOOS}?resourceVersion={revision}&resourceVersionMatch=Exact");
    let listed = call(&server, Method::GET, &exact, &[], "").await;
    assert_eq!(listed.json()["items"].as_array().unwrap().len(), 1);
    let path = format!("{DEFINITIONS}/foos.example.com");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    assert_eq!(call(&server, Method::GET, &path, &[], "").await.code, 404);
    create(&server, DEFINITIONS, &definition()).await;
    assert_eq!(call(&server, Method::GET, &exact, &[], "").await.code, 410);
    assert_eq!(call(&server, Method::GET, FOOS, &[], "").await.code, 200);
}

/// RP-21: thousands of findings with long paths do not make an answer that is as long.
#[tokio::test]
async fn strict_errors_are_bounded() {
    let server = server();
    let long = "x".repeat(200);
    let fields = (0..5_000).map(|index| (format!("{long}{index}"), json!(1)));
    let fields: Value = fields.collect::<serde_json::Map<_, _>>().into();
    let mut object = foo("a", &json!({}));
    object["spec"] = fields;
    let path = format!("{FOOS}?fieldValidation=Strict");
    let refused = call(&server, Method::POST, &path, &[], &object.to_string()).await;
    assert_eq!(refused.code, 400);
    assert!(refused.text.len() < 400_000, "{} bytes", refused.text.len());
    let message = refused.message();
    assert!(message.contains("strict decoding error: unknown field \"spec.x"), "{message:.200}");
    assert!(message.ends_with(" more"));
}

/// RE-114: a write with an owner costs what it touches.
#[tokio::test]
async fn many_owners_do_not_slow_down_a_write() {
    let server = Server::builder().definition(&definition()).unwrap().collect_garbage().build();
    let began = Instant::now();
    let mut owner: Option<Value> = None;
    for index in 0..3_000 {
        let mut object = foo(&format!("a{index}"), &json!({}));
        if let Some(owner) = &owner {
            object["metadata"]["ownerReferences"] = json!([{"apiVersion": "example.com/v1",
                "kind": "Foo", "name": text(owner, "/metadata/name"),
                "uid": text(owner, "/metadata/uid")}]);
        }
        owner = Some(create(&server, FOOS, &object).await);
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(60), "{took:?}");
    // All of them go with the first one.
    let path = format!("{FOOS}/a0");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    let left = call(&server, Method::GET, FOOS, &[], "").await.json();
    assert_eq!(left["items"], json!([]));
}

/// RE-114: an owner does not wait for an object that it does not own any more.
#[tokio::test]
async fn an_owner_goes_when_a_dependent_lets_go_of_it() {
    let server = Server::builder().definition(&definition()).unwrap().collect_garbage().build();
    let owner = create(&server, FOOS, &foo("owner", &json!({}))).await;
    let mut object = foo("child", &json!({}));
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    object["metadata"]["ownerReferences"] = json!([{"apiVersion": "example.com/v1", "kind": "Foo",
        "name": "owner", "uid": text(&owner, "/metadata/uid"), "blockOwnerDeletion": true}]);
    create(&server, FOOS, &object).await;
    let path = format!("{FOOS}/owner");
    let options = r#"{"propagationPolicy": "Foreground"}"#;
    call(&server, Method::DELETE, &path, &[], options).await;
    assert_eq!(call(&server, Method::GET, &path, &[], "").await.code, 200);
    // A fork knows the same.
    for server in [server.fork(), server] {
        let merge = [("content-type", "application/merge-patch+json")];
        let patch = r#"{"metadata": {"ownerReferences": null}}"#;
        let child = format!("{FOOS}/child");
        let patched = call(&server, Method::PATCH, &child, &merge, patch).await;
        assert_eq!(patched.code, 200, "{}", patched.text);
        assert_eq!(call(&server, Method::GET, &path, &[], "").await.code, 404);
    }
}

/// BK-27: a refused patch shows a list in which every item is another one. Items are not compared with
/// all of those before.
#[tokio::test]
async fn refused_patches_show_long_lists() {
    const ITEMS: u32 = 10_000;
    let server = Server::builder().build();
    let addresses = |network: u8| -> Vec<Value> {
        let address =
            |host: u32| json!({"ip": format!("{network}.0.{}.{}", host / 256, host % 256)});
        (0..ITEMS).map(address).collect()
    };
    let path = "/api/v1/namespaces/default/endpoints";
    let subsets = json!([{"addresses": addresses(10), "ports": [{"port": 1}]}]);
    create(&server, path, &json!({"metadata": {"name": "a"}, "subsets": subsets})).await;
    let patch = json!([
        {"op": "replace", "path": "/subsets/0/addresses", "value": addresses(11)},
        {"op": "add", "path": "/metadata/labels", "value": 7},
    ]);
    let headers = [("content-type", "application/json-patch+json")];
    let path = format!("{path}/a");
    let refused = call(&server, Method::PATCH, &path, &headers, &patch.to_string()).await;
    assert_eq!(refused.code, 422, "{:.500}", refused.text);
    assert_eq!(
        refused.json()["message"].as_str().unwrap().matches("11.0.").count(),
        ITEMS as usize
    );
}

/// A line of the log is one line, whatever names a client makes up.
#[tokio::test]
async fn clients_write_no_lines_of_the_log() {
    let server = Server::builder().log_requests().build();
    let headers = [("user-agent", "a"), ("impersonate-user", "u\u{202e}")];
    let path = format!("{MAPS}/x%0Aforged%1B[31m");
    call(&server, Method::GET, &path, &headers, "").await;
    let log = server.requests().to_string();
    assert!(log.contains(r"get configmaps default/x\u{a}forged\u{1b}[31m 404"), "{log}");
    assert_eq!(log.lines().count(), 1);
}

/// A role of four short lists allows more than can be distinguished, and is not granted unless its writer
/// may escalate.
#[tokio::test]
async fn roles_that_allow_too_much() {
    let server = Server::builder().bootstrap().authorization_mode(AuthorizationMode::Rbac).build();
    let group = "/apis/rbac.authorization.k8s.io/v1";
    let rule = json!({"verbs": ["create"], "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles"]});
    create(
        &server,
        &format!("{group}/clusterroles"),
        &json!({"metadata": {"name": "writer"}, "rules": [rule]}),
    )
    .await;
    let reference =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "writer"});
    let subject = json!({"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"});
    create(
        &server,
        &format!("{group}/clusterrolebindings"),
        &json!({"metadata": {"name": "writer"}, "roleRef": reference, "subjects": [subject]}),
    )
    .await;
    let many: Vec<String> = (0..80).map(|index| format!("n{index}")).collect();
    let rule = json!({"verbs": many, "apiGroups": many, "resources": many, "resourceNames": many});
    let role = json!({"metadata": {"name": "bomb"}, "rules": [rule]}).to_string();
    let path = format!("{group}/namespaces/default/roles");
    let headers = [("impersonate-user", "bob"), ("content-type", "application/json")];
    let refused = call(&server, Method::POST, &path, &headers, &role).await;
    assert_eq!(refused.code, 403, "{}", refused.text);
    assert!(refused.text.contains("too many to be compared"), "{}", refused.text);
}

/// BK-109: a grace period that ends after all times that can be read ends with the last of them.
#[tokio::test]
async fn graces_without_an_end() {
    let server = Server::builder().build();
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "nodeName": "n", "terminationGracePeriodSeconds": i64::MAX,
        "containers": [{"name": "c", "image": "i"}]}});
    let path = "/api/v1/namespaces/default/pods";
    create(&server, path, &pod).await;
    let path = format!("{path}/p");
    let deleted = call(&server, Method::DELETE, &path, &[], "").await;
    assert_eq!(deleted.json()["metadata"]["deletionTimestamp"], "9999-12-31T23:59:59Z");
    let headers = [("content-type", "application/merge-patch+json")];
    let labels = r#"{"metadata": {"labels": {"a": "b"}}}"#;
    let patched = call(&server, Method::PATCH, &path, &headers, labels).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
}
