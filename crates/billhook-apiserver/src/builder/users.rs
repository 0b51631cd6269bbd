//! The users of a server: who they are, and what they may do.

use std::sync::Arc;

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest};
use billhook_apimachinery::UserInfo;

use super::ServerBuilder;
use crate::permissions::{AuthorizationMode, Recorder};
use crate::tokens::ServiceAccountTokens;

impl ServerBuilder {
    /// Names the user who makes the requests; one with the headers `Impersonate-User`,
    /// `Impersonate-Group`, `Impersonate-Uid` and `Impersonate-Extra-…` is made by another one
    /// (RE-142). By default it is `system:admin` in the groups `system:masters` and
    /// `system:authenticated`.
    #[must_use]
    pub fn user(mut self, user: UserInfo) -> Self {
        self.user = user;
        self
    }

    /// Refuses the requests that users may not make. By default every user may do everything. The roles
    /// that a cluster begins with, by which users of the group `system:authenticated` may find out
    /// what is served, are there with [`ServerBuilder::bootstrap`] only.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apimachinery::UserInfo;
    /// use billhook_apiserver::{AuthorizationMode, Server};
    /// use tower_service::Service as _;
    ///
    /// let mut server = Server::builder().authorization_mode(AuthorizationMode::Rbac).build();
    /// let request = http::Request::get("/api/v1/namespaces/default/pods");
    /// let request = request.extension(UserInfo::named("alice")).body(String::new())?;
    /// assert_eq!(server.call(request).await?.status(), 403);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn authorization_mode(mut self, mode: AuthorizationMode) -> Self {
        self.authorization = mode;
        self
    }

    /// Remembers which permissions the requests of each user need, for
    /// [`Server::used_permissions`](crate::Server::used_permissions).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use tower_service::Service as _;
    ///
    /// let mut server = Server::builder().record_permissions().build();
    /// let request = http::Request::get("/api/v1/namespaces/default/pods/a").body(String::new())?;
    /// server.call(request).await?;
    /// let used = server.used_permissions();
    /// assert_eq!(used[0].user, "system:admin");
    /// assert_eq!(
    ///     used[0].namespaces["default"][0].to_string(),
    ///     r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#
    /// );
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn record_permissions(mut self) -> Self {
        self.recorder = Some(Recorder::default());
        self
    }

    /// Answers those who ask what users may do, in place of the authorization mode: access reviews and
    /// `authorizer` in expressions. Requests themselves are not authorized by it, unlike with
    /// [`ServerBuilder::request_authorizer`].
    ///
    /// ```
    /// use billhook::webhook::AuthorizationDecision;
    /// use billhook_apiserver::Server;
    ///
    /// let builder = Server::builder().review_authorizer(|user, request| {
    ///     AuthorizationDecision::new(request.verb == "get" || user.username == "alice")
    /// });
    /// ```
    #[must_use]
    pub fn review_authorizer(
        mut self,
        decide: impl Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.answers = Some(Arc::new(decide));
        self.answers_decide = false;
        self
    }

    /// Decides which requests users may make, in place of the authorization mode, and answers those who ask
    /// what users may do. Users of the group `system:masters` may do everything. The function may
    /// be called more than once for a request.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook::UserInfo;
    /// use billhook::webhook::AuthorizationDecision;
    /// use billhook_apiserver::Server;
    /// use tower_service::Service as _;
    ///
    /// let server = Server::builder()
    ///     .request_authorizer(|user, request| {
    ///         AuthorizationDecision::new(request.verb == "get" || user.username == "alice")
    ///     })
    ///     .build();
    /// for (name, code) in [("alice", 200), ("bob", 403)] {
    ///     let request = http::Request::get("/api/v1/pods").body(String::new())?;
    ///     let response = server.acting_as(UserInfo::named(name)).call(request).await?;
    ///     assert_eq!(response.status(), code);
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn request_authorizer(
        self,
        decide: impl Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let mut builder = self.review_authorizer(decide);
        builder.answers_decide = true;
        builder
    }

    /// Sets how tokens of service accounts are signed and verified.
    #[must_use]
    pub fn service_account_tokens(mut self, tokens: ServiceAccountTokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Adds a token that is that of a user: for
    /// [`Server::authenticate`](crate::Server::authenticate) and for reviews of tokens. May be called
    /// for several.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>, user: UserInfo) -> Self {
        self.known_tokens.add(token.into(), user);
        self
    }
}
