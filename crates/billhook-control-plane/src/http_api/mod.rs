//! The paths by which other programs steer the control plane.

mod activity;
mod clock;
mod query;
mod requests;
mod settling;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_apiserver::{BoxFuture, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tower_service::Service;

use self::activity::Activity;
use crate::control_plane::ControlPlane;

/// The beginning of the paths that the server does not have.
const PREFIX: &str = "/billhook/";

/// A service of HTTP requests: those of the API server, and below `/billhook/` those by which tests in
/// any language wait for the control plane and let time pass. Clones are the same service.
///
/// | request | what it does |
/// |---|---|
/// | `GET /billhook/clock` | says what time it is, and when a controller has work next |
/// | `POST /billhook/clock/advance` | lets virtual time pass: `{"duration": "24h"}`, or `{"toNextTimer": true}` |
/// | `POST /billhook/settle` | waits until there is nothing left to do: `{"quiet": "100ms", "timeout": "30s"}` |
/// | `GET /billhook/requests` | returns the log of requests, if the server remembers them: `?by=shop-controller&writes=true` |
///
/// Users need permission for these paths as for all others; bodies are JSON, and say so.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use billhook_control_plane::ControlPlane;
/// use tower_service::Service as _;
///
/// let cluster = ControlPlane::builder().build().await;
/// let request = http::Request::post("/billhook/clock/advance")
///     .header("content-type", "application/json")
///     .body(r#"{"duration": "24h"}"#.to_owned())?;
/// assert_eq!(cluster.http_api().call(request).await?.status(), 200);
/// assert_eq!(cluster.clock().now().to_rfc3339(), "2026-01-02T00:00:00Z");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct HttpApi {
    plane: ControlPlane,
    activity: Activity,
    /// Is held by the one who lets time pass.
    advancing: Arc<Mutex<()>>,
}

impl ControlPlane {
    /// Returns a service of the server's requests and of those that steer the control plane. It waits
    /// for the requests that come through itself and its clones.
    pub fn http_api(&self) -> HttpApi {
        let activity = Activity::default();
        HttpApi { plane: self.clone(), activity, advancing: Arc::default() }
    }
}

impl<B> Service<Request<B>> for HttpApi
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let api = self.clone();
        let mut server = self.plane.server().clone();
        if request.uri().path().starts_with(PREFIX) {
            return Box::pin(async move {
                Ok(server.answer_with(request, |request| api.answer(request)).await)
            });
        }
        Box::pin(async move {
            let _under_way = api.activity.begin();
            server.call(request).await
        })
    }
}

impl HttpApi {
    async fn answer(self, request: Request<Bytes>) -> Result<http::Response<Bytes>, Status> {
        let is_post = request.method() == Method::POST;
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let document = match request.uri().path() {
            "/billhook/clock" if is_read => clock::show(&self.plane).await,
            "/billhook/requests" if is_read => requests::list(&self.plane, request.uri())?,
            "/billhook/clock/advance" if is_post => self.advance(&members(&request)?).await?,
            "/billhook/settle" if is_post => self.settle(&members(&request)?).await?,
            "/billhook/clock"
            | "/billhook/requests"
            | "/billhook/clock/advance"
            | "/billhook/settle" => {
                let message = "the path has another method";
                return Err(Status::failure(405, "MethodNotAllowed", message));
            }
            path => {
                let message = format!("nothing is served at {path:?}");
                return Err(Status::failure(404, "NotFound", message));
            }
        };
        let mut response = http::Response::new(Bytes::from(document.to_string()));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Ok(response)
    }
}

/// Reads the body of a request, an object of JSON. The type has to be named: browsers ask before they
/// send it for another site.
fn members(request: &Request<Bytes>) -> Result<Map<String, Value>, Status> {
    let named = request.headers().get(CONTENT_TYPE).and_then(|named| named.to_str().ok());
    let media_type = named.and_then(|named| named.split(';').next()).unwrap_or_default();
    if !media_type.trim().eq_ignore_ascii_case("application/json") {
        let message = "the body has to be application/json, and Content-Type has to say so";
        return Err(Status::failure(415, "UnsupportedMediaType", message));
    }
    if request.body().is_empty() {
        return Ok(Map::new());
    }
    let read = serde_json::from_slice(request.body());
    read.map_err(|error| Status::bad_request(format!("the body is not an object: {error}")))
}

/// Refuses members that are not known: a mistyped one would do something else than was meant.
fn check_members(members: &Map<String, Value>, known: &[&str]) -> Result<(), Status> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Status::bad_request(format!(
            "unknown member {name:?}; known are {}",
            known.join(", ")
        ))),
        None => Ok(()),
    }
}

/// Reads a duration in Go's notation, which is not negative.
fn duration(members: &Map<String, Value>, name: &str) -> Result<Option<Duration>, Status> {
    let Some(value) = members.get(name) else { return Ok(None) };
    let parsed = value.as_str().and_then(billhook_validation::parse_go_duration);
    match parsed.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()) {
        Some(nanoseconds) => Ok(Some(Duration::from_nanos(nanoseconds))),
        None => {
            let message = format!("{name}: {value} is not a duration such as \"1h30m\"");
            Err(Status::bad_request(message))
        }
    }
}
