//! Definitions in protobuf, as Kubernetes' own client sends and wants them (LC-02, BK-20).

use std::time::Duration;

use billhook_apiserver::{Body, Server};
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{call, definition, text};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const ACCEPT: &str = "application/vnd.kubernetes.protobuf,application/json";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOOS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: usize, number: usize) -> Vec<u8> {
    [varint(field << 3), varint(number)].concat()
}

fn bytes(field: usize, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [varint(field << 3 | 2), varint(bytes.len()), bytes.to_vec()].concat()
}

fn double(field: usize, number: f64) -> Vec<u8> {
    [varint(field << 3 | 1), number.to_le_bytes().to_vec()].concat()
}

fn message(field: usize, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, parts.concat())
}

fn object(api_version: &str, kind: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let type_ = message(1, &[bytes(1, api_version), bytes(2, kind)]);
    [b"k8s\0".to_vec(), type_, message(2, parts), bytes(3, ""), bytes(4, "")].concat()
}

fn definition_of(parts: &[Vec<u8>]) -> Vec<u8> {
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", parts)
}

/// The numbers are those of `apiextensions.k8s.io/v1`.
fn foos() -> Vec<u8> {
    let size = [bytes(5, "integer"), message(8, &[bytes(1, "3")]), double(9, 9.0), double(11, 1.0)];
    let property =
        |name: &str, parts: &[Vec<u8>]| message(29, &[bytes(1, name), message(2, parts)]);
    let of_text = message(24, &[message(1, &[bytes(5, "string")])]);
    let rule = message(44, &[bytes(1, "self.size > 0"), bytes(2, "must be there")]);
    let spec = [
        bytes(5, "object"),
        property("size", &size),
        property("ratio", &[bytes(5, "number"), double(9, 9.5)]),
        property("texts", &[bytes(5, "array"), of_text, bytes(42, "set")]),
        property("any", &[bytes(5, "object"), message(30, &[number(1, 1)])]),
        property(
            "map",
            &[bytes(5, "object"), message(30, &[number(1, 1), message(2, &[bytes(5, "string")])])],
        ),
        property("free", &[number(38, 1), number(37, 1), number(13, 0)]),
        property(
            "one",
            &[
                bytes(5, "string"),
                message(20, &[bytes(1, "\"a\"")]),
                message(20, &[bytes(1, "\"b\"")]),
            ],
        ),
        bytes(23, "size"),
        rule,
    ];
    let schema = [bytes(5, "object"), property("spec", &spec)];
    let version = [
        bytes(1, "v1"),
        number(2, 1),
        number(3, 1),
        message(4, &[message(1, &schema)]),
        message(5, &[message(1, &[])]),
        message(6, &[bytes(1, "Size"), bytes(2, "integer"), bytes(6, ".spec.size")]),
        number(7, 0),
    ];
    let names = [bytes(1, "foos"), bytes(2, ""), bytes(4, "Foo"), bytes(5, "FooList")];
    let metadata = [bytes(1, "foos.example.com"), bytes(14, "example.com/f"), message(8, &[])];
    definition_of(&[
        message(1, &metadata),
        message(
            2,
            &[
                bytes(1, "example.com"),
                message(3, &names),
                bytes(4, "Namespaced"),
                message(7, &version),
                number(10, 0),
            ],
        ),
        message(3, &[message(2, &[bytes(1, ""), bytes(4, "")])]),
    ])
}

struct Sent {
    code: u16,
    type_: String,
    body: Vec<u8>,
}

async fn begin(server: &Server, method: Method, path: &str, body: Vec<u8>) -> http::Response<Body> {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("accept", ACCEPT).header("content-type", PROTOBUF);
    let body = http_body_util::Full::new(bytes::Bytes::from(body));
    server.clone().call(request.body(body).unwrap()).await.unwrap()
}

async fn send(server: &Server, method: Method, path: &str, body: Vec<u8>) -> Sent {
    let (parts, body) = begin(server, method, path, body).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    let type_ = parts.headers["content-type"].to_str().unwrap().to_owned();
    Sent { code: parts.status.as_u16(), type_, body }
}

async fn json_of(server: &Server, path: &str) -> Value {
    call(server, Method::GET, path, &[], "").await.json()
}

#[tokio::test]
async fn a_definition_is_read_and_answered() {
    let server = Server::builder().build();
    let created = send(&server, Method::POST, DEFINITIONS, foos()).await;
    let shown = String::from_utf8_lossy(&created.body);
    assert_eq!((created.code, &*created.type_), (201, PROTOBUF), "{shown}");
    assert!(created.body.starts_with(b"k8s\0"));
    let read = json_of(&server, FOOS).await;
    assert_eq!(
        read["spec"],
        json!({"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns":
                    [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object",
                    "required": ["size"],
                    "x-kubernetes-validations":
                        [{"rule": "self.size > 0", "message": "must be there"}],
                    "properties": {
                        "size": {"type": "integer", "default": 3, "maximum": 9, "minimum": 1},
                        "ratio": {"type": "number", "maximum": 9.5},
                        "texts": {"type": "array", "items": {"type": "string"},
                            "x-kubernetes-list-type": "set"},
                        "any": {"type": "object", "additionalProperties": true},
                        "map": {"type": "object", "additionalProperties": {"type": "string"}},
                        "free": {"nullable": true, "maxLength": 0,
                            "x-kubernetes-preserve-unknown-fields": true},
                        "one": {"type": "string", "enum": ["a", "b"]}}}}}}}]}),
    );
    assert_eq!(read["metadata"]["finalizers"], json!(["example.com/f"]));

    // What is answered is what would be sent.
    let got = send(&server, Method::GET, FOOS, Vec::new()).await;
    assert_eq!((got.code, &*got.type_), (200, PROTOBUF));
    let updated = send(&server, Method::PUT, FOOS, got.body.clone()).await;
    assert_eq!((updated.code, updated.body == got.body), (200, true));
    assert_eq!(json_of(&server, FOOS).await, read);
    let listed = send(&server, Method::GET, DEFINITIONS, Vec::new()).await;
    assert_eq!((listed.code, &*listed.type_), (200, PROTOBUF));
    let kind = b"CustomResourceDefinitionList";
    assert!(listed.body.windows(kind.len()).any(|window| window == kind));

    let foos = "/apis/example.com/v1/foos";
    let custom = send(&server, Method::GET, foos, Vec::new()).await;
    assert_eq!(custom.type_, "application/json", "custom resources are never sent so");
    let again = send(&server, Method::POST, DEFINITIONS, self::foos()).await;
    assert_eq!((again.code, &*again.type_), (409, PROTOBUF));
}

/// LC-27, LC-41.
#[tokio::test]
async fn a_status_is_written() {
    let server = Server::builder().definition(&definition()).unwrap().build();
    let revision = text(&json_of(&server, FOOS).await, "/metadata/resourceVersion");
    let condition =
        [bytes(1, "Ready"), bytes(2, "True"), message(3, &[number(1, 1)]), number(6, 5)];
    let names = [bytes(1, "foos"), bytes(2, "foo"), bytes(4, "Foo"), bytes(5, "FooList")];
    let status = [message(1, &condition), message(2, &names), bytes(3, "v1"), number(4, 7)];
    let metadata = [bytes(1, "foos.example.com"), bytes(6, &revision)];
    let body = definition_of(&[message(1, &metadata), message(3, &status)]);
    let written = send(&server, Method::PUT, &format!("{FOOS}/status"), body).await;
    assert_eq!(written.code, 200);
    let status = json_of(&server, FOOS).await["status"].clone();
    assert_eq!(status["observedGeneration"], 7);
    assert_eq!(
        status["conditions"][0],
        json!({"type": "Ready", "status": "True", "lastTransitionTime": "1970-01-01T00:00:01Z",
            "observedGeneration": 5}),
    );
}

/// Splits off the first event of a stream: its type and its object.
fn event(stream: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let length = u32::from_be_bytes(*stream.first_chunk::<4>()?) as usize;
    let frame = stream.get(4..4 + length)?.to_vec();
    stream.drain(..4 + length);
    let (type_length, rest) = frame.strip_prefix(&[0x0a])?.split_first()?;
    let (type_, rest) = rest.split_at(usize::from(*type_length));
    let object = rest.iter().position(|byte| *byte == b'k').unwrap();
    Some((String::from_utf8(type_.to_vec()).unwrap(), rest[object..].to_vec()))
}

/// LC-50, LC-53: a client deletes, and then waits for the end.
#[tokio::test]
async fn a_watch_waits_for_the_end_of_a_definition() {
    let server = Server::builder().finalize_definitions_in_background().build();
    assert_eq!(send(&server, Method::POST, DEFINITIONS, foos()).await.code, 201);
    let options =
        object("apiextensions.k8s.io/v1", "DeleteOptions", &[message(2, &[bytes(1, "another")])]);
    let refused = send(&server, Method::DELETE, FOOS, options).await;
    assert_eq!(refused.code, 409);
    let options = object("apiextensions.k8s.io/v1", "DeleteOptions", &[number(1, 0)]);
    let deleted = send(&server, Method::DELETE, FOOS, options).await;
    assert_eq!((deleted.code, &*deleted.type_), (200, PROTOBUF));
    let terminating = json_of(&server, FOOS).await;
    assert_eq!(text(&terminating, "/status/conditions/2/reason"), "InstanceDeletionPending");

    let path = format!(
        "{DEFINITIONS}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dfoos.example.com"
    );
    let watch = begin(&server, Method::GET, &path, Vec::new()).await;
    let type_ = watch.headers()["content-type"].to_str().unwrap();
    assert_eq!(type_, "application/vnd.kubernetes.protobuf;stream=watch");
    let (mut watch, mut stream) = (watch.into_body(), Vec::new());
    let (mut types, mut is_kept) = (Vec::new(), true);
    while types.last().is_none_or(|type_| type_ != "DELETED") {
        let frame = tokio::time::timeout(Duration::from_secs(60), watch.frame()).await;
        stream.extend(frame.expect("an event").unwrap().unwrap().into_data().unwrap());
        while let Some((type_, object)) = event(&mut stream) {
            assert!(object.starts_with(b"k8s\0"));
            types.push(type_);
        }
        let state = json_of(&server, FOOS).await;
        // The finalizer of the client is the last one.
        if is_kept && text(&state, "/status/conditions/2/reason") == "InstanceDeletionCompleted" {
            is_kept = false;
            assert_eq!(state["metadata"]["finalizers"], json!(["example.com/f"]));
            let merge = [("content-type", "application/merge-patch+json")];
            let patch = r#"{"metadata": {"finalizers": null}}"#;
            assert_eq!(call(&server, Method::PATCH, FOOS, &merge, patch).await.code, 200);
        }
    }
    assert_eq!(types.first().map(String::as_str), Some("ADDED"));
    assert_eq!(call(&server, Method::GET, FOOS, &[], "").await.code, 404);
}

/// By default a definition is gone when `DELETE` is answered.
#[tokio::test(start_paused = true)]
async fn a_definition_goes_at_once_or_in_the_background() {
    for in_background in [false, true] {
        let builder = Server::builder().definition(&definition()).unwrap();
        let builder =
            if in_background { builder.finalize_definitions_in_background() } else { builder };
        let server = builder.build();
        assert_eq!(call(&server, Method::DELETE, FOOS, &[], "").await.code, 200);
        let code = call(&server, Method::GET, FOOS, &[], "").await.code;
        assert_eq!(code, if in_background { 200 } else { 404 });
        if in_background {
            let body = definition().to_string();
            let again = call(&server, Method::POST, DEFINITIONS, &[], &body).await;
            assert!(again.message().starts_with("object is being deleted: "));
            let path = format!("{DEFINITIONS}?watch=true&resourceVersion=0&timeoutSeconds=2");
            let events = call(&server, Method::GET, &path, &[], "").await.text;
            assert!(events.lines().last().unwrap().starts_with(r#"{"type":"DELETED""#), "{events}");
        }
    }
}

#[tokio::test]
async fn what_is_not_protobuf_is_refused() {
    let server = Server::builder().build();
    let refused = |body: Vec<u8>| {
        let server = server.clone();
        async move {
            let headers = [("content-type", PROTOBUF)];
            let request = http::Request::post(DEFINITIONS).header(headers[0].0, headers[0].1);
            let body = http_body_util::Full::new(bytes::Bytes::from(body));
            let response = server.clone().call(request.body(body).unwrap()).await.unwrap();
            assert_eq!(response.status(), 400);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            text(&serde_json::from_slice(&body).unwrap(), "/message")
        }
    };
    let unrecognized =
        "the object provided is unrecognized (must be of type CustomResourceDefinition): ";
    assert_eq!(
        refused(b"{}".to_vec()).await,
        format!(
            "{unrecognized}provided data does not appear to be a protobuf message, expected prefix \
             [107 56 115 0] (7b7d)"
        ),
    );
    let cut = foos()[..60].to_vec();
    assert_eq!(
        refused(cut).await,
        format!(
            "{unrecognized}unexpected EOF \
             (6b3873000a330a17617069657874656e73696f6e732e6b38732e696f2f76 ...)"
        ),
    );
    // Deeper than any reader goes: no stack is used up.
    let mut schema = bytes(5, "object");
    for _ in 0..12_000 {
        schema = message(28, &[schema]);
    }
    let version = [bytes(1, "v1"), message(4, &[message(1, &[schema])])];
    let deep = definition_of(&[message(2, &[message(7, &version)])]);
    assert!(refused(deep).await.starts_with(&format!("{unrecognized}unexpected EOF")));
}

/// BK-20: an event is printed once for all watches of a form.
#[tokio::test]
async fn watches_share_their_frames() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let server = Server::builder().build();
    let path = format!("{MAPS}?watch=true");
    let mut watches = Vec::new();
    for _ in 0..2 {
        watches.push(begin(&server, Method::GET, &path, Vec::new()).await.into_body());
    }
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    assert_eq!(call(&server, Method::POST, MAPS, &[], &map.to_string()).await.code, 201);
    let mut frames = Vec::new();
    for watch in &mut watches {
        frames.push(watch.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert_eq!(frames[0].as_ptr(), frames[1].as_ptr());
    let (type_, object) = event(&mut frames[0].to_vec()).unwrap();
    assert_eq!((type_.as_str(), object.starts_with(b"k8s\0")), ("ADDED", true));
}
