//! Shared by the tests: a control plane, and short requests to its server.

use billhook_control_plane::{ControlPlane, ControlPlaneBuilder};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower_service::Service as _;

/// Runs a test on a control plane with all controllers and one node.
pub(crate) fn run(test: impl AsyncFnOnce(&ControlPlane)) {
    run_with(|builder| builder, test);
}

/// Runs a test on a control plane that is built so.
pub(crate) fn run_with(
    build: impl FnOnce(ControlPlaneBuilder) -> ControlPlaneBuilder,
    test: impl AsyncFnOnce(&ControlPlane),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let plane = build(ControlPlane::builder()).build().await;
        test(&plane).await;
    });
}

/// Creates the objects of a YAML text, and lets the controllers work.
pub(crate) async fn create(plane: &ControlPlane, text: &str) {
    plane.server().load_text(text).await.unwrap();
    plane.settled().await.unwrap();
}

/// Makes a request, and returns the answer.
pub(crate) async fn request(plane: &ControlPlane, method: &str, path: &str, body: &str) -> Value {
    let request = http::Request::builder().method(method).uri(path);
    let content_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = request.header("Content-Type", content_type).body(body.to_owned()).unwrap();
    let response = plane.server().clone().call(request).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// Returns the member at a JSON pointer of each item of a list, as text.
pub(crate) async fn column(plane: &ControlPlane, path: &str, pointer: &str) -> Vec<String> {
    let list = request(plane, "GET", path, "").await;
    let items = list["items"].as_array().unwrap();
    let text = |item: &Value| match item.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    items.iter().map(text).collect()
}

/// Returns the body of the answer to a `GET`, as text.
pub(crate) async fn body(plane: &ControlPlane, path: &str) -> String {
    let request = http::Request::get(path).body(String::new()).unwrap();
    let response = plane.server().clone().call(request).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

/// Returns the text at a JSON pointer; empty if absent.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
