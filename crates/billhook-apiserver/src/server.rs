//! The server: built from definitions, called with requests.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};
use std::task::{Context, Poll};

use billhook::CustomResourceDefinition;
use billhook::webhook::AuthorizationDecision;
use billhook_apimachinery::{Status, UserInfo};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::time::Instant;

use crate::answer::Body;
use crate::audit::{Origin, Trail};
use crate::background::Background;
use crate::body::read;
use crate::controllers::{self, CONTROLLERS};
use crate::discovery;
use crate::future::BoxFuture;
use crate::health;
use crate::load::{self, CreateError, LoadError, Loaded, Why};
use crate::openapi;
use crate::permissions::{Recorder, UsedPermissions, master, question_of};
use crate::request::Request;
use crate::request_log::{RequestLog, Started};
use crate::response::{Form, Response, complete, timed_out};
use crate::rest;
use crate::reviews;
use crate::shared::Shared;
use crate::storage::{BackendError, Changes, Object};
use crate::users::{impersonated, questions_of_impersonation};
use crate::version_and_health;

/// An API server for custom resources, in process. Clones are the same server; when the last one is
/// dropped, its watches end.
///
/// It is a [`tower_service::Service`] of HTTP requests, so that clients need no socket. A request whose
/// extensions have a [`UserInfo`](billhook_apimachinery::UserInfo) is made by this user, whom the one
/// who passes it on has authenticated; others are made by the user of [`Server::acting_as`], or else by
/// [`ServerBuilder::user`](crate::ServerBuilder::user). Headers with tokens are not looked at:
/// [`Server::authenticate`] says whose they are.
///
/// ```
/// use billhook_apiserver::Server;
/// use tower_service::Service as _;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let definition = serde_json::json!({
///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///     "metadata": {"name": "foos.example.com"},
///     "spec": {"group": "example.com", "scope": "Namespaced",
///         "names": {"plural": "foos", "kind": "Foo", "listKind": "FooList"},
///         "versions": [{"name": "v1", "served": true, "storage": true,
///             "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
/// let mut server = Server::builder().definition(&definition)?.build();
/// let request = http::Request::post("/apis/example.com/v1/namespaces/default/foos")
///     .body(String::from(
///         r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}"#))?;
/// assert_eq!(server.call(request).await?.status(), 201);
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    /// Who makes the requests that do not say so.
    user: Option<Arc<UserInfo>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("revision", &self.shared.storage.revision())
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// The server of what all its clones share.
    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Server { shared, user: None }
    }

    /// Returns the same server for the requests of a user: those that do not name another one in their
    /// extensions.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apimachinery::UserInfo;
    /// use billhook_apiserver::{AuthorizationMode, Server};
    /// use tower_service::Service as _;
    ///
    /// let server = Server::builder().authorization_mode(AuthorizationMode::Rbac).build();
    /// server.load_text("
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRole
    /// metadata: {name: controller}
    /// rules: [{apiGroups: [''], resources: [configmaps], verbs: [list]}]
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRoleBinding
    /// metadata: {name: controller}
    /// roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: controller}
    /// subjects: [{kind: ServiceAccount, name: controller, namespace: shop}]
    /// ").await?;
    ///
    /// // A client of kube is made as `Client::new(account, "shop")`.
    /// let mut account = server.acting_as(UserInfo::service_account("shop", "controller"));
    /// for (path, code) in [("/api/v1/configmaps", 200), ("/api/v1/secrets", 403)] {
    ///     let request = http::Request::get(path).body(String::new())?;
    ///     assert_eq!(account.call(request).await?.status(), code);
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn acting_as(&self, user: UserInfo) -> Self {
        Server { shared: Arc::clone(&self.shared), user: Some(Arc::new(user)) }
    }

    /// Creates another server with the same objects and definitions, in constant time.
    /// Neither notices later requests to the other; the new one has no backend. Definitions that
    /// the server delays are established in both.
    #[must_use]
    pub fn fork(&self) -> Self {
        let permissions = Arc::new(self.shared.permissions.fork());
        let shared = Shared {
            settings: Arc::clone(&self.shared.settings),
            storage: self.shared.storage.fork(),
            permissions: Arc::clone(&permissions),
            asked_by_expressions: permissions,
            catalog: RwLock::new(self.shared.catalog()),
            watch_caches: self.shared.watch_caches.fork(),
            configured: RwLock::new(self.shared.configured()),
            links: Mutex::new(self.shared.links().clone()),
            settling: tokio::sync::Mutex::default(),
            background: Background::default(),
            is_recovering: AtomicBool::default(),
            is_undone: AtomicBool::default(),
            allocated_by_services: Mutex::new(self.shared.allocated_by_services().clone()),
            released_by_services: Mutex::default(),
            allocating: tokio::sync::Mutex::default(),
            controllers: &CONTROLLERS,
        };
        let shared = shared.share();
        let settings = &shared.settings;
        if settings.settles_like_a_server || settings.finalizes_in_background {
            controllers::resume(&shared);
        }
        Server { shared, user: self.user.clone() }
    }

    /// Lets a function say what the containers of pods on nodes have logged: of a stored pod, by the name
    /// of a container. The first function counts, for forks, too; without one logs are empty.
    pub fn read_logs_by(&self, read: impl Fn(&Object, &str) -> String + Send + Sync + 'static) {
        self.shared.settings.pod_logs.read_by(read);
    }

    /// Forgets all changes up to now. Clients that go on from an older resource version get a 410,
    /// as they must expect: watches end with an error, and lists are begun again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use billhook_apiserver::Server;
    /// let server = Server::builder().build();
    /// server.compact().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the backend fails; then nothing is forgotten.
    pub async fn compact(&self) -> Result<(), BackendError> {
        self.shared.storage.compact(self.shared.storage.revision()).await
    }

    /// Follows all objects of the server, whatever their resource: for one who keeps a copy of them.
    /// Their texts are as they are stored, without resource versions.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use billhook_apiserver::storage::Batch;
    ///
    /// let server = Server::builder().build();
    /// let mut changes = server.changes();
    /// assert!(matches!(changes.read()?, Batch::Objects(_)));
    /// server.load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}").await?;
    /// let Batch::Events(events) = changes.read()? else { return Err("begun again".into()) };
    /// let (collection, event) = &events[0];
    /// assert_eq!((collection.parts(), event.key()), (("", "configmaps"), "default/a"));
    /// # Ok(()) }
    /// ```
    pub fn changes(&self) -> Changes {
        self.shared.storage.changes()
    }

    /// Ends all watches and all logs that are followed, and those that begin from now on, as soon as they
    /// have sent what was there. Everything else goes on: so a server of HTTP that is shut down gracefully
    /// waits for nothing but requests.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use http_body_util::BodyExt as _;
    /// use tower_service::Service as _;
    ///
    /// let server = Server::builder().build();
    /// let request = http::Request::get("/api/v1/configmaps?watch=true").body(String::new())?;
    /// let mut watch = server.clone().call(request).await?.into_body();
    /// server.end_watches();
    /// assert!(watch.frame().await.is_none());
    /// # Ok(()) }
    /// ```
    pub fn end_watches(&self) {
        self.shared.watch_caches.end();
    }

    /// Ends watches as [`Server::end_watches`] does, and closes the backend, if there is one. What was
    /// answered is there in any case.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn close(&self) -> Result<(), BackendError> {
        self.end_watches();
        self.shared.storage.close().await
    }

    /// Creates the objects of a file, or of all files of a directory and those in it (`.yaml`, `.yml`
    /// and `.json`), as a client would: definitions first, then namespaces, then the others in
    /// order. They may be as `kubectl get --output yaml` prints them: lists are taken apart, and the
    /// resource versions of another server do not count. Returns how many there are. Stops at the
    /// first that cannot be read or is refused.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the server refuses an object.
    pub async fn load(&self, path: impl AsRef<Path>) -> Result<usize, LoadError> {
        self.create_loaded(&load::read_path(path.as_ref())?).await
    }

    /// [`Server::load`] for the documents of a text, YAML or JSON.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = billhook_apiserver::Server::builder().build();
    /// server
    ///     .load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: value}")
    ///     .await?;
    /// assert!(server.dump().await?.contains("key: value"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the text cannot be read, or the server refuses an object.
    pub async fn load_text(&self, text: &str) -> Result<usize, LoadError> {
        self.create_loaded(&load::read_text(text.as_bytes(), "text")?).await
    }

    async fn create_loaded(&self, objects: &[Loaded]) -> Result<usize, LoadError> {
        let created = self.create_all(objects.iter().map(|object| &*object.value)).await;
        created.map_err(|error| match objects.get(error.index()) {
            Some(object) => object.failed(&error),
            None => LoadError::new("", &error),
        })
    }

    /// [`Server::load`] for objects that were read already.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use serde_json::json;
    ///
    /// let server = billhook_apiserver::Server::builder().build();
    /// let object = |name: &str| {
    ///     json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    /// };
    /// assert_eq!(server.create_all([&object("a"), &object("b")]).await?, 2);
    /// let error = server.create_all([&object("c"), &object("a")]).await.unwrap_err();
    /// assert_eq!(error.index(), 1);
    /// assert_eq!(error.to_string(), "configmaps \"a\" already exists");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If nothing is served for the kind of an object, or the server refuses it.
    pub async fn create_all<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o Value>,
    ) -> Result<usize, CreateError> {
        let mut objects: Vec<_> = objects.into_iter().enumerate().collect();
        objects.sort_by_key(|(_, object)| load::rank(object));
        for (index, object) in &objects {
            let created = self.create(object).await;
            created.map_err(|why| CreateError::new(*index, why))?;
        }
        Ok(objects.len())
    }

    async fn create(&self, object: &Value) -> Result<(), Why> {
        let path = load::path(&self.shared, object)?;
        let copy = load::without_revision(object);
        let object = copy.as_deref().unwrap_or(object);
        let mut request = http::Request::post(path).header(http::header::USER_AGENT, "billhook");
        if self.shared.permissions.may_refuse() {
            // Those who hold the server may do everything.
            request = request.extension(master());
        }
        let request = request
            .body(billhook::to_json(object))
            .map_err(|error| Why::Refused(Status::bad_request(error.to_string())))?;
        let response = self.clone().answer(request).await;
        let code = response.status();
        if code != http::StatusCode::CREATED {
            let Ok(body) = response.into_body().collect().await;
            let status: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
            let status = Status::of_failure(&status);
            let other = || Status::failure(code.as_u16().into(), "", code.to_string());
            return Err(Why::Refused(status.unwrap_or_else(other)));
        }
        if CustomResourceDefinition::is_definition(object) {
            // What comes next may need it.
            let group = controllers::group_of(load::metadata(object, "name"));
            controllers::settle(&self.shared, group).await;
        }
        Ok(())
    }

    /// Returns all objects as YAML, for snapshots: definitions and the server's own kinds by name,
    /// then custom resources. The namespaces that every server has are left out, and so are
    /// resource versions and managed fields.
    ///
    /// # Errors
    ///
    /// If an object cannot be read any more, as when the version that it is stored in is gone.
    pub async fn dump(&self) -> Result<String, Status> {
        load::dump(&self.shared).await
    }

    /// Returns the permissions that the requests up to now needed, by the names of their users; empty
    /// unless [`ServerBuilder::record_permissions`](crate::ServerBuilder::record_permissions) was
    /// called. A fork begins with none.
    pub fn used_permissions(&self) -> Vec<UsedPermissions> {
        self.shared.permissions.recorder.as_ref().map(Recorder::used).unwrap_or_default()
    }

    /// Returns the requests up to now, if [`ServerBuilder::log_requests`](crate::ServerBuilder::log_requests)
    /// was called: the newest 100,000, those of forks included.
    pub fn requests(&self) -> RequestLog {
        self.shared.settings.log.records()
    }

    /// Says in the Lease of the server that it is alive ([`Presence::host`](crate::Presence::host)); to be
    /// called every 10 seconds, by the clock of who runs it.
    ///
    /// # Errors
    ///
    /// If the Lease cannot be written.
    pub async fn renew(&self) -> Result<(), Status> {
        controllers::renew(&self.shared).await.map_err(|(_, status)| status)
    }

    /// Returns the user of a token: one that [`ServerBuilder::token`](crate::ServerBuilder::token) added,
    /// or one of a service account (BK-253), unless the server did not make it, it has ended, or its
    /// account is gone. For those who pass requests on, which carry their user.
    pub fn authenticate(&self, token: &str) -> Option<UserInfo> {
        let audiences = self.shared.settings.tokens.own_audiences();
        self.shared.authenticate(token, audiences).map(|(user, _)| user)
    }

    /// Refuses a request without reading its body, in the form of the server's other failures: for who
    /// passes requests on, and decides which.
    ///
    /// ```
    /// use billhook_apimachinery::Status;
    ///
    /// let server = billhook_apiserver::Server::builder().build();
    /// let (parts, ()) = http::Request::new(()).into_parts();
    /// let response = server.refuse(parts, &Status::failure(401, "Unauthorized", "Unauthorized"));
    /// assert_eq!(response.status(), 401);
    /// ```
    pub fn refuse(&self, request: http::request::Parts, status: &Status) -> Response {
        let request = Request::new(request, Err(status.clone()));
        self.complete(&request, Form::of_failures(&request).status(status))
    }

    /// Returns an answer as it is sent.
    pub(crate) fn complete(&self, request: &Request, answer: Response) -> Response {
        let response = complete(request, answer, &self.shared.settings.budgets.answers);
        // RE-09.
        if request.method == Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Answers a request.
    async fn answer<B>(self, request: http::Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let origin = self.shared.settings.audit.as_ref().map(|_| Box::new(Origin::of(&parts)));
        let mut request = self.read(parts, body).await;
        let log = &self.shared.settings.log;
        let revision = || self.shared.storage.revision();
        let now = || self.shared.settings.clock.now();
        let started = log.is_on().then(|| Started::new(&request, now(), revision()));
        let mut trail = origin.and_then(|origin| self.begin_trail(&mut request, &origin));
        let authorized = self.authorize(&mut request);
        if let Some(trail) = &mut trail {
            self.tell_decision(trail, &request, authorized.is_ok());
        }
        let mut answer = match authorized {
            Ok(()) => self.answer_in_time(&mut request).await,
            Err(status) => Form::of_failures(&request).status(&status),
        };
        if let Some(trail) = trail {
            trail.answered(&request, &mut answer, &self.shared.settings.budgets.answers);
        }
        if let Some(started) = started {
            let user = self.shared.user_of(&request);
            log.add(started.end(user, revision(), &answer));
        }
        self.complete(&request, answer)
    }

    /// Begins to write a request down in the audit log, if that is asked for.
    fn begin_trail(&self, request: &mut Request, origin: &Origin) -> Option<Box<Trail>> {
        let settings = &self.shared.settings;
        let log = settings.audit.as_ref()?;
        let (user, question) = (self.shared.user_of(request).clone(), question_of(request));
        Trail::begin(log, &settings.clock, request, origin, &user, question)
    }

    /// Says in the audit log whom a request impersonates, and what was decided about it.
    fn tell_decision(&self, trail: &mut Trail, request: &Request, is_allowed: bool) {
        let user = self.shared.user_of(request);
        if matches!(impersonated(&request.headers), Ok(Some(_))) && is_allowed {
            trail.impersonates(user);
        }
        let mut decision = self.shared.permissions.decide(user, trail.question());
        if decision.allowed != is_allowed {
            decision = AuthorizationDecision::new(is_allowed);
        }
        trail.decided(decision);
    }

    /// Reads a request, its body within the limits of the server.
    pub(crate) async fn read<B>(&self, parts: http::request::Parts, body: B) -> Request
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let body = read(body, &self.shared.settings.budgets.bodies).await;
        let mut request = Request::new(parts, body);
        if request.user.is_none() {
            request.user = self.user.as_deref().cloned();
        }
        request
    }

    /// Finds the user of a request, and refuses what the user may not do.
    pub(crate) fn authorize(&self, request: &mut Request) -> Result<(), Status> {
        let permissions = &self.shared.permissions;
        let impersonated = impersonated(&request.headers)?;
        if !permissions.look_at_requests() {
            request.user = impersonated.or(request.user.take());
            return Ok(());
        }
        if let Some(user) = impersonated {
            for question in questions_of_impersonation(&request.headers)? {
                permissions.check(self.shared.user_of(request), &question)?;
            }
            request.user = Some(user);
        }
        permissions.check(self.shared.user_of(request), &question_of(request))
    }

    /// Answers a request before its time is over (RE-22).
    async fn answer_in_time(&self, request: &mut Request) -> Response {
        let most = self.shared.settings.request_time;
        let time = match self.shared.check().and_then(|()| request.time(most)) {
            Ok(time) => time,
            Err(status) => return Form::of_failures(request).status(&status),
        };
        if let Some(response) = self.documents(request) {
            return response;
        }
        if let Some(response) = health::serve(&self.shared, request).await {
            return response;
        }
        request.deadline = time.and_then(|time| Instant::now().checked_add(time));
        let review = request.objects.as_ref().and_then(reviews::kind_of);
        let response = async {
            match review {
                Some(kind) => Box::pin(reviews::serve(&self.shared, request, kind)).await,
                None => rest::serve(&self.shared, request).await,
            }
        };
        let (Some(time), Some(deadline)) = (time, request.deadline) else { return response.await };
        match tokio::time::timeout_at(deadline, response).await {
            // Webhooks have as long as the request (DI-50): what their failure makes of it is late.
            Ok(response) if Instant::now() < deadline => response,
            _ => timed_out(request, time),
        }
    }

    /// Answers a request about the server; `None` if the path is that of objects.
    fn documents(&self, request: &Request) -> Option<Response> {
        if request.objects.is_some() {
            return None;
        }
        let parts = request.parts()?;
        version_and_health::serve(&self.shared, request, &parts)
            .or_else(|| discovery::serve(&self.shared, request, &parts))
            .or_else(|| openapi::serve(&self.shared, request, &parts))
    }
}

impl<B> tower_service::Service<http::Request<B>> for Server
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

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { Ok(server.answer(request).await) })
    }
}
