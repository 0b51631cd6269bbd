//! The front of a listener: the server, and all that is served beside it.

use std::sync::Arc;

use billhook_apiserver::{Response, Server};
use billhook_control_plane::{ControlPlane, HttpApi};
use http::Request;
use hyper::body::Incoming;
use tower_service::Service as _;

use crate::cluster_view::View;

/// A server, and what is served beside it. Clones are the same.
#[derive(Clone)]
pub(crate) struct Front {
    server: Server,
    test_api: Option<HttpApi>,
    view: Option<Arc<View>>,
}

impl Front {
    /// Serves a server alone.
    pub(crate) fn of(server: Server) -> Self {
        Front { server, test_api: None, view: None }
    }

    /// The same, and a control plane is steered.
    pub(crate) fn with_test_api(self, plane: &ControlPlane) -> Self {
        Front { test_api: Some(plane.http_api()), ..self }
    }

    /// The same, and the page for people is served.
    pub(crate) fn with_view(self) -> Self {
        Front { view: Some(Arc::new(View::new(self.server.clone()))), ..self }
    }

    /// Returns the server.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Answers a request that was admitted.
    pub(crate) async fn answer(&mut self, request: Request<Incoming>) -> Response {
        if let Some(view) = self.view.as_ref().filter(|_| View::serves(request.uri().path())) {
            return view.answer(request).await;
        }
        let answer = match &mut self.test_api {
            Some(api) => api.call(request).await,
            None => self.server.call(request).await,
        };
        let Ok(answer) = answer;
        answer
    }
}
