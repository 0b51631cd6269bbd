//! The service of the API server and of the requests that steer the control plane.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::activity::Activity;
use crate::control_plane::ControlPlane;

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
    pub(super) plane: ControlPlane,
    pub(super) activity: Activity,
    /// Is held by the one who lets time pass.
    pub(super) advancing: Arc<Mutex<()>>,
}

impl ControlPlane {
    /// Returns a service of the server's requests and of those that steer the control plane. It waits
    /// for the requests that come through itself and its clones.
    pub fn http_api(&self) -> HttpApi {
        let activity = Activity::default();
        HttpApi { plane: self.clone(), activity, advancing: Arc::default() }
    }
}
