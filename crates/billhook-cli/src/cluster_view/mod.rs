//! The page that shows people a cluster: its files, and the state that they ask for.

mod files;
mod opening;
mod row;
mod state;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_apiserver::{Response, Server};
use http::{HeaderValue, Request, header};
use hyper::body::{Bytes, Incoming};

pub(crate) use self::files::is_file;
use self::files::{PAGE, find};
pub(crate) use self::opening::open;
use self::state::State;

const STATE: &str = "/billhook/ui/state";
/// How long a question for news waits for some.
const PATIENCE: Duration = Duration::from_secs(20);

/// Serves the page of a server.
pub(crate) struct View {
    server: Server,
    state: Mutex<State>,
}

impl View {
    pub(crate) fn new(server: Server) -> Self {
        View { state: Mutex::new(State::new(server.changes())), server }
    }

    /// Whether a path is one of the page.
    pub(crate) fn serves(path: &str) -> bool {
        path.starts_with(PAGE)
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response {
        self.server.answer_with(request, |request| self.part(request)).await
    }

    async fn part(&self, request: Request<Bytes>) -> Result<http::Response<Bytes>, Status> {
        match request.uri().path() {
            STATE => self.news(request.uri().query().unwrap_or_default()).await,
            path => find(path).ok_or_else(|| {
                Status::failure(404, "NotFound", format!("nothing is served at {path:?}"))
            }),
        }
    }

    /// Answers with what has changed after a number, as soon as anything has; at once with all objects
    /// if there is none.
    async fn news(&self, query: &str) -> Result<http::Response<Bytes>, Status> {
        let after = query.strip_prefix("after=").and_then(|number| number.parse().ok());
        let closed = |_| Status::internal_error("the storage is closed");
        let locked = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, is_old) = {
            let mut state = locked();
            state.follow().map_err(closed)?;
            (state.changes(), after.is_some_and(|after| state.is_newest(after)))
        };
        if is_old && let Ok(changed) = tokio::time::timeout(PATIENCE, waiting.changed()).await {
            changed.map_err(closed)?;
        }
        let mut state = locked();
        state.follow().map_err(closed)?;
        let document = state.after(after).to_string();
        drop(state);
        let mut response = http::Response::new(Bytes::from(document));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        Ok(response)
    }
}
