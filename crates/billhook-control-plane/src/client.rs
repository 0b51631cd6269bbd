//! A client of the server: an account that makes requests.

use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use tower_service::Service as _;

use crate::account::Account;
use crate::request::{Outcome, Request};

/// Makes the requests of an account.
#[derive(Debug)]
pub(crate) struct Client {
    server: Server,
    account: Account,
    user_agent: HeaderValue,
}

impl Client {
    pub(crate) fn new(server: Server, account: Account) -> Self {
        let user_agent = HeaderValue::from_str(account.user_agent());
        let user_agent = user_agent.unwrap_or_else(|_| HeaderValue::from_static("billhook"));
        Client { server, account, user_agent }
    }

    /// Makes a request.
    pub(crate) async fn send(&self, request: Request) -> Outcome {
        self.send_as(self.account.user(), request).await
    }

    /// Makes a request of another user.
    pub(crate) async fn send_as(&self, user: &UserInfo, request: Request) -> Outcome {
        let Request { method, path, content_type, accept, body } = request;
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(USER_AGENT, self.user_agent.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static(content_type))
            .header(ACCEPT, HeaderValue::from_static(accept))
            .extension(user.clone())
            .body(body);
        let Ok(request) = request else {
            // The name of an object cannot be part of a path.
            return Outcome { code: StatusCode::BAD_REQUEST, body: Bytes::new() };
        };
        let Ok(response) = self.server.clone().call(request).await;
        let (parts, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        Outcome { code: parts.status, body: body.to_bytes() }
    }
}
