//! Objects that are there from the beginning.

use billhook_apiserver::Server;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower_service::Service as _;

use crate::identity::{Identity, type_meta};
use crate::input::Document;
use crate::problem::{Place, Problem};

/// Creates an object, as a client would.
pub(super) async fn create(server: &Server, object: &Document) -> Result<(), Box<Problem>> {
    let Document { place, value, .. } = object;
    let identity = Identity::of(value);
    let path = path(server, value, &identity, place).await?;
    let (code, answer) = call(server, Method::POST, &path, billhook::to_json(value), place).await?;
    if code == StatusCode::CREATED {
        return Ok(());
    }
    let message = answer.get("message").and_then(Value::as_str).unwrap_or("the path is not served");
    Err(Problem::refused(place.clone(), message))
}

/// The path of the objects of a kind, as discovery tells it.
async fn path(
    server: &Server,
    value: &Value,
    identity: &Identity,
    place: &Place,
) -> Result<String, Box<Problem>> {
    let (api_version, kind) = type_meta(value, identity, place)?;
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    let version = format!("{root}/{api_version}");
    let (_, resources) = call(server, Method::GET, &version, String::new(), place).await?;
    let resources = resources.get("resources").and_then(Value::as_array);
    let text = |resource: &Value, name: &str| {
        resource.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let resource = resources
        .into_iter()
        .flatten()
        .find(|resource| text(resource, "kind") == kind && !text(resource, "name").contains('/'));
    let Some(resource) = resource else {
        let message = format!("nothing is served for kind `{kind}` of `{api_version}`");
        return Err(Problem::unusable(place.clone(), message).help("give its CRD with --crd"));
    };
    let plural = text(resource, "name");
    if resource.get("namespaced") != Some(&Value::Bool(true)) {
        return Ok(format!("{version}/{plural}"));
    }
    let namespace = identity.namespace.as_deref().filter(|name| !name.is_empty());
    Ok(format!("{version}/namespaces/{}/{plural}", namespace.unwrap_or("default")))
}

async fn call(
    server: &Server,
    method: Method,
    path: &str,
    body: String,
    place: &Place,
) -> Result<(StatusCode, Value), Box<Problem>> {
    let request = Request::builder().method(method).uri(path).header("user-agent", "billhook");
    let request = request.body(body).map_err(|_| {
        Problem::unusable(place.clone(), format!("no URL can name this object: {path}"))
    })?;
    let Ok(response) = server.clone().call(request).await;
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    // Some failures are plain text.
    let answer = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    Ok((parts.status, answer))
}
