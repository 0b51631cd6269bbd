//! A law of all kinds: an object that the server gave, sent back in any form, changes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use billhook_apiserver::Server;
use http::Method;
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use tower_service::Service as _;

use crate::support::text;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// How many objects of a kind are created.
const OF_KIND: usize = 3;

async fn send(
    server: &Server,
    (method, path): (Method, &str),
    [sent, accepted]: [&str; 2],
    body: &[u8],
) -> (u16, Vec<u8>) {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("content-type", sent).header("accept", accepted);
    let body = Full::new(bytes::Bytes::copy_from_slice(body));
    let response = server.clone().call(request.body(body).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    (code, response.into_body().collect().await.unwrap().to_bytes().to_vec())
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// The recorded requests that create objects, a few of each resource, all of them in the namespace
/// `default`: those of all recordings if they are there.
fn creations() -> Vec<(String, Value)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ahead/kinds.jsonl");
    let recorded = std::fs::read_to_string(all)
        .unwrap_or_else(|_| include_str!("../../../../fixtures/replay/kinds.jsonl").to_owned());
    let mut counts = BTreeMap::<String, usize>::new();
    let mut found = Vec::new();
    for line in recorded.lines() {
        let recording: Value = serde_json::from_str(line).unwrap();
        for step in recording["steps"].as_array().into_iter().flatten() {
            let request = &step["request"];
            let path = request["path"].as_str().filter(|path| !path.contains('?'));
            let is_created = request["method"] == "POST" && step["response"]["status"] == 201;
            let Some(collection) = path.filter(|_| is_created).and_then(collection) else {
                continue;
            };
            let mut object = request["body"].clone();
            let Some(metadata) = object["metadata"].as_object_mut() else { continue };
            metadata.remove("namespace");
            let count = counts.entry(collection.clone()).or_default();
            *count += 1;
            if *count <= OF_KIND {
                found.push((collection, object));
            }
        }
    }
    found
}

/// The path of a collection, with another namespace; `None` for subresources.
fn collection(path: &str) -> Option<String> {
    let Some((root, rest)) = path.split_once("/namespaces/") else { return Some(path.to_owned()) };
    let (_, plural) = rest.split_once('/')?;
    (!plural.contains('/')).then(|| format!("{root}/namespaces/default/{plural}"))
}

/// RE-75, BK-20.
#[tokio::test]
async fn what_was_sent_back_changes_nothing() {
    let server = Server::builder().build();
    let mut kinds = BTreeMap::new();
    for (collection, object) in creations() {
        let sent = object.to_string();
        let post = (Method::POST, collection.as_str());
        let (code, created) = send(&server, post, [JSON, JSON], sent.as_bytes()).await;
        // Some have a name that is taken by now, or are reviews.
        if code != 201 || json(&created)["metadata"].get("uid").is_none() {
            continue;
        }
        let created = json(&created);
        *kinds.entry(text(&created, "/kind")).or_insert(0) += 1;
        let path = format!("{collection}/{}", text(&created, "/metadata/name"));
        let revision = |answer: &[u8]| text(&json(answer), "/metadata/resourceVersion");
        let get = || (Method::GET, path.as_str());
        let (_, stored) = send(&server, get(), [JSON, JSON], b"").await;
        let expected = (200, revision(&stored));
        for form in [JSON, YAML, PROTOBUF] {
            let (code, given) = send(&server, get(), [JSON, form], b"").await;
            assert_eq!(code, 200, "{form} of {path}");
            let put = (Method::PUT, path.as_str());
            let (code, answer) = send(&server, put, [form, JSON], &given).await;
            assert_eq!((code, revision(&answer)), expected, "{form} of {path}: {object}");
        }
        let unchanged = json(&stored).to_string();
        for (form, patch) in [
            ("application/json-patch+json", "[]"),
            ("application/merge-patch+json", "{}"),
            ("application/merge-patch+json", &unchanged),
            ("application/strategic-merge-patch+json", "{}"),
            ("application/strategic-merge-patch+json", &unchanged),
        ] {
            let request = (Method::PATCH, path.as_str());
            let (code, answer) = send(&server, request, [form, JSON], patch.as_bytes()).await;
            assert_eq!((code, revision(&answer)), expected, "{form} {patch} of {path}: {object}");
        }
    }
    assert!(kinds.len() >= 20, "{kinds:?}");
}
