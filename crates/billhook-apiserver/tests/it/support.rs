//! Shared by the tests: a definition, and requests without a client.

use billhook_apiserver::Server;
use futures_util::FutureExt as _;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

/// A definition with all subresources.
pub(crate) fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "listKind": "FooList", "singular": "foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "a": {"type": "integer"}, "color": {"type": "string"}}},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]},
    })
}

/// A server whose definition a client has created.
pub(crate) fn server() -> Server {
    let server = Server::builder().build();
    let created = server.create_all([&definition()]).now_or_never();
    assert_eq!(created.expect("nothing waits").unwrap(), 1);
    server
}

pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) warnings: Vec<String>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(crate) fn message(&self) -> String {
        text(&self.json(), "/message")
    }
}

/// Sends a request, and reads the whole answer.
pub(crate) async fn call(
    server: &Server,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).unwrap();
    let response = server.clone().call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let warnings = parts.headers.get_all("warning").iter();
    let warnings = warnings.map(|value| value.to_str().unwrap().to_owned()).collect();
    let text = body.collect().await.unwrap().to_bytes().to_vec();
    let code = parts.status.as_u16();
    Answer { code, headers: parts.headers, warnings, text: String::from_utf8(text).unwrap() }
}

/// A validating policy `p`, and its binding `b` with an action.
pub(crate) fn bound_policy(spec: &Value, action: &str) -> [Value; 2] {
    let of_kind = |kind: &str, name: &str, spec: &Value| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": name}, "spec": spec})
    };
    let binding = json!({"policyName": "p", "validationActions": [action]});
    [
        of_kind("ValidatingAdmissionPolicy", "p", spec),
        of_kind("ValidatingAdmissionPolicyBinding", "b", &binding),
    ]
}

pub(crate) fn text(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}
