//! Which requests are answered here, and which by the server.

use std::convert::Infallible;
use std::task::{Context, Poll};

use billhook_apimachinery::Status;
use billhook_apiserver::{BoxFuture, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request};
use tower_service::Service;

use super::api::HttpApi;
use super::members::members;
use super::{clock, requests};

/// The beginning of the paths that the server does not have.
const PREFIX: &str = "/billhook/";

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
