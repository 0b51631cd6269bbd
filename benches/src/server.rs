//! A server in process and requests to it, polled on one thread.

use std::hint::black_box;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use billhook_apiserver::{Body, Server};
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use http_body::Body as _;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service as _;

/// The path of the objects.
pub const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

/// Keeps the time; nothing runs in it by itself.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

/// Polls a future that waits for nothing but its next turn.
fn at_once<F: Future>(future: F) -> F::Output {
    const TURNS: usize = 1_000_000;
    let _guard = RUNTIME.enter();
    let mut context = Context::from_waker(Waker::noop());
    let mut future = std::pin::pin!(future);
    for _ in 0..TURNS {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("nothing waits")
}

/// The path of pods.
pub const PODS: &str = "/api/v1/namespaces/default/pods";

/// A definition of objects of a few kinds of fields.
pub fn definition(plural: &str) -> Value {
    let kind = format!("Foo{}", plural.trim_start_matches("foos"));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "listKind": format!("{kind}List")},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object", "properties": {
                        "size": {"type": "integer", "default": 1},
                        "text": {"type": "string"},
                        "items": {"type": "array", "items": {"type": "object", "properties": {
                            "name": {"type": "string"}, "value": {"type": "integer"}}}}}}}}}}]},
    })
}

/// An object of one kilobyte.
pub fn object(name: &str) -> Value {
    let items: Vec<Value> =
        (0..16).map(|number| json!({"name": format!("item-{number}"), "value": number})).collect();
    json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": name, "labels": {"app": "x"}},
        "spec": {"items": items, "text": "x".repeat(340)}})
}

/// A Pod of two kilobytes, as people write them.
pub fn pod(name: &str) -> Value {
    let probe = |path: &str| {
        json!({"httpGet": {"path": path, "port": "http"},
        "periodSeconds": 10, "failureThreshold": 3})
    };
    let container = |name: &str| {
        let env: Vec<Value> = (0..6)
            .map(|number| json!({"name": format!("SETTING_{number}"), "value": "some value"}))
            .collect();
        json!({"name": name, "image": format!("registry.example.com/team/{name}:1.2.3"),
            "args": ["--listen=:8080", "--verbosity=2"],
            "ports": [{"name": "http", "containerPort": 8080}],
            "env": env,
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "readinessProbe": probe("/readyz"),
            "livenessProbe": probe("/healthz"),
            "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings", "readOnly": true},
                {"name": "cache", "mountPath": "/var/cache"}],
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}})
    };
    let ports = json!([{"name": "metrics", "containerPort": 9090}]);
    let mut sidecar = container("sidecar");
    sidecar["ports"] = ports;
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web", "tier": "front"},
            "annotations": {"example.com/checksum": "0123456789abcdef0123456789abcdef"}},
        "spec": {"containers": [container("web"), sidecar], "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true},
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "web", "effect": "NoSchedule"}],
            "volumes": [{"name": "settings", "configMap": {"name": "settings"}},
                {"name": "cache", "emptyDir": {}}]}})
}

/// A server with the definition of the objects.
pub fn server() -> Server {
    Server::builder().definition(&definition("foos")).unwrap().build()
}

/// A server with so many objects.
pub fn filled(count: usize) -> Server {
    let server = server();
    for number in 0..count {
        let body = object(&format!("foo-{number:07}")).to_string();
        assert_eq!(call(&server, Method::POST, FOOS, body), 201);
    }
    server
}

/// Sends a request; returns the answer, which is not read yet. Patches are strategic merge patches.
pub fn send(server: &Server, method: Method, path: &str, body: String) -> http::Response<Body> {
    let mut request = Request::builder().uri(path);
    if method == Method::PATCH {
        request = request.header(CONTENT_TYPE, "application/strategic-merge-patch+json");
    }
    let request = request.method(method).body(body).unwrap();
    at_once(server.clone().call(request)).unwrap()
}

/// Reads the whole answer; returns its code.
pub fn call(server: &Server, method: Method, path: &str, body: String) -> u16 {
    let (parts, body) = send(server, method, path, body).into_parts();
    let mut body = std::pin::pin!(body);
    while let Some(frame) =
        at_once(std::future::poll_fn(|context| body.as_mut().poll_frame(context)))
    {
        black_box(frame.ok());
    }
    parts.status.as_u16()
}

/// A watch of the objects, from now on.
pub fn watch(server: &Server, plural: &str) -> Body {
    let path = format!("/apis/example.com/v1/namespaces/default/{plural}?watch=1&resourceVersion=");
    let path = format!("{path}{}", revision(server));
    send(server, Method::GET, &path, String::new()).into_body()
}

/// The newest revision, as a list reports it.
fn revision(server: &Server) -> String {
    let body = send(server, Method::GET, &format!("{FOOS}?limit=1"), String::new()).into_body();
    let mut body = std::pin::pin!(body);
    let mut text = Vec::new();
    while let Some(frame) =
        at_once(std::future::poll_fn(|context| body.as_mut().poll_frame(context)))
    {
        text.extend(frame.unwrap().into_data().unwrap());
    }
    let list: Value = serde_json::from_slice(&text).unwrap();
    list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

/// Whether a watch has an event now.
pub fn has_event(watch: &mut Body) -> bool {
    let _guard = RUNTIME.enter();
    let mut context = Context::from_waker(Waker::noop());
    std::pin::Pin::new(watch).poll_frame(&mut context).is_ready()
}
