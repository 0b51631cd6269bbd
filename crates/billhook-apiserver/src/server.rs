//! The server: built from definitions, called with requests.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll};

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest};
use billhook::{
    CrdError, CrdOptions, CustomResourceDefinition, Definition, KubernetesVersion, Time,
};
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, Chain, Converter, ServerFields, WebhookCaller,
};
use billhook_apimachinery::{Status, UserInfo};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::Value;

use crate::about;
use crate::answer::Body;
use crate::body::read;
use crate::budget::Budgets;
use crate::catalog::{Catalog, Lives};
use crate::definitions;
use crate::discovery;
use crate::features::Features;
use crate::future::{BoxFuture, at_once};
use crate::kinds;
use crate::load::{self, CreateError, LoadError, Loaded, Why};
use crate::openapi;
use crate::request::Request;
use crate::response::{FailureForm, Response, complete, timed_out};
use crate::rest;
use crate::reviews;
use crate::state::{Clock, Configured, Settings, Shared};
use crate::storage::{MemoryStorage, Storage as _};
use crate::users::{AUTHENTICATED, Authorizer};
use crate::webhooks::Webhooks;

/// The resources of the server itself: the same in every server of a version, and read once.
fn own_resources(kubernetes: KubernetesVersion) -> Catalog {
    static READ: Mutex<BTreeMap<KubernetesVersion, Catalog>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = read.entry(kubernetes).or_insert_with(|| {
        let mut catalog = Catalog::new(kubernetes);
        let resources = kinds::resources(kubernetes).chain(definitions::resource(kubernetes));
        resources.for_each(|resource| catalog.add(resource));
        catalog
    });
    catalog.clone()
}

/// An API server for custom resources, in process. Clones are the same server; when the last one is
/// dropped, its watches end.
///
/// It is a [`tower_service::Service`] of HTTP requests, so that clients need no socket.
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
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("storage", &self.shared.storage).finish_non_exhaustive()
    }
}

impl Server {
    /// Begins to build a server.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Creates another server with the same objects and definitions, in no time however many there
    /// are. Neither notices later requests to the other. A server that takes its time with
    /// definitions goes on with them in both.
    #[must_use]
    pub fn fork(&self) -> Self {
        let shared = Shared {
            settings: Arc::clone(&self.shared.settings),
            storage: self.shared.storage.fork(),
            catalog: RwLock::new(self.shared.catalog()),
            lives: self.shared.lives.fork(),
            configured: RwLock::new(self.shared.configured()),
            links: Mutex::new(self.shared.links().clone()),
            settling: tokio::sync::Mutex::default(),
        };
        let shared = Arc::new(shared);
        let settings = &shared.settings;
        if settings.settles_like_a_server || settings.finalizes_in_background {
            definitions::resume(&shared);
        }
        Server { shared }
    }

    /// Forgets all changes up to now. Clients that go on from an older resource version get a 410,
    /// as they must expect: watches end with an error, and lists are begun again.
    ///
    /// ```
    /// # use billhook_apiserver::Server;
    /// let server = Server::builder().build();
    /// server.compact();
    /// ```
    pub fn compact(&self) {
        self.shared.storage.compact(self.shared.storage.revision());
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
        let request = http::Request::post(path)
            .header(http::header::USER_AGENT, "billhook")
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
            let group = definitions::group_of(load::metadata(object, "name"));
            definitions::settle(&self.shared, group).await;
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

    /// Answers a request.
    async fn answer<B>(self, request: http::Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let budgets = &self.shared.settings.budgets;
        let request = Request::new(parts, read(body, &budgets.bodies).await);
        let answer = self.answer_in_time(&request).await;
        let response = complete(&request, answer, &budgets.answers);
        // RE-09.
        if request.method == Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Answers a request before its time is over (RE-22).
    async fn answer_in_time(&self, request: &Request) -> Response {
        let time = match request.time() {
            Ok(time) => time,
            Err(status) => return FailureForm::of(request).status(&status),
        };
        if let Some(response) = self.documents(request) {
            return response;
        }
        let response = rest::serve(&self.shared, request);
        let Some(time) = time else { return response.await };
        let answered = tokio::time::timeout(time, response).await;
        answered.unwrap_or_else(|_| timed_out(request, time))
    }

    /// Answers a request about the server or the user; `None` if the path is that of objects.
    fn documents(&self, request: &Request) -> Option<Response> {
        if let Some(path) = &request.objects {
            return reviews::serve(&self.shared, request, path);
        }
        let parts = request.parts()?;
        about::serve(&self.shared, request, &parts)
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

/// Builds a [`Server`].
pub struct ServerBuilder {
    kubernetes: KubernetesVersion,
    definitions: Vec<Value>,
    user: UserInfo,
    authorizer: Authorizer,
    new_objects: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    clock: Clock,
    webhooks: Webhooks,
    has_namespaces: bool,
    settles_like_a_server: bool,
    finalizes_in_background: bool,
    collects_garbage: bool,
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("definitions", &self.definitions.len())
            .finish_non_exhaustive()
    }
}

impl Default for ServerBuilder {
    fn default() -> Self {
        ServerBuilder {
            kubernetes: KubernetesVersion::default(),
            definitions: Vec::new(),
            user: UserInfo::named("system:admin").group("system:masters").group(AUTHENTICATED),
            authorizer: Authorizer::default(),
            new_objects: None,
            clock: Clock::default(),
            webhooks: Webhooks::default(),
            has_namespaces: true,
            settles_like_a_server: false,
            finalizes_in_background: false,
            collects_garbage: false,
        }
    }
}

impl ServerBuilder {
    /// Answers as a server of a version of Kubernetes does, by default the newest one: what it
    /// accepts, its texts, the kinds and fields that it has. To be called before
    /// [`ServerBuilder::definition`], which checks definitions by the rules of the version.
    ///
    /// ```
    /// use billhook_apimachinery::KubernetesVersion;
    /// use billhook_apiserver::Server;
    ///
    /// let server = Server::builder().kubernetes(KubernetesVersion::V1_33).build();
    /// ```
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    /// Serves the resources of a definition, given as a document. Fails if a server would refuse it.
    pub fn definition(mut self, document: &Value) -> Result<Self, CrdError> {
        let options = CrdOptions::default().kubernetes(self.kubernetes);
        CustomResourceDefinition::with_options(document, &options)?;
        if let Ok(definition) = Definition::new(document.clone(), self.kubernetes)
            && let Some(error) = definition.validate_create().errors().first()
        {
            return Err(error.clone().into());
        }
        self.definitions.push(document.clone());
        Ok(self)
    }

    /// Names the user who makes the requests; one with the headers `Impersonate-User`,
    /// `Impersonate-Group`, `Impersonate-Uid` and `Impersonate-Extra-…` is made by another one
    /// (RE-142). By default it is `system:admin` in the groups `system:masters` and
    /// `system:authenticated`.
    #[must_use]
    pub fn user(mut self, user: UserInfo) -> Self {
        self.user = user;
        self
    }

    /// Decides what users may do, where somebody asks: by access reviews and by `authorizer` in
    /// expressions. By default everything is allowed. Requests are made whatever it says.
    ///
    /// ```
    /// use billhook::webhook::AuthorizationDecision;
    /// use billhook_apiserver::Server;
    ///
    /// let builder = Server::builder().authorizer(|user, request| {
    ///     AuthorizationDecision::new(request.verb == "get" || user.username == "alice")
    /// });
    /// ```
    #[must_use]
    pub fn authorizer(
        mut self,
        decide: impl Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.authorizer = Authorizer::new(decide);
        self
    }

    /// Takes the UIDs, times and name suffixes of new objects from elsewhere, for tests.
    #[must_use]
    pub fn server_fields(
        mut self,
        server_fields: impl Fn() -> ServerFields + Send + Sync + 'static,
    ) -> Self {
        self.new_objects = Some(Arc::new(server_fields));
        self
    }

    /// Takes the times of managed fields, and those that ages in tables end at, from elsewhere, for
    /// tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        self.clock = Clock(Some(Arc::new(clock)));
        self
    }

    /// Reaches webhooks by a caller, such as `HttpsCaller` of `billhook-webhook-client`; by default
    /// none can be reached.
    #[must_use]
    pub fn webhooks(mut self, caller: impl WebhookCaller + 'static) -> Self {
        self.webhooks.set_caller(caller);
        self
    }

    /// Reviews requests in this process where a webhook configuration names a service. The
    /// configuration is an object of the server like any other, and counts from its creation on.
    ///
    /// ```
    /// use billhook_admission::billhook::webhook::Operation;
    /// use billhook_admission::{AdmissionRequest, AdmissionResponse};
    /// use billhook_apiserver::Server;
    ///
    /// let builder = Server::builder().admission_service(
    ///     "shop",
    ///     "checker",
    ///     |request: &AdmissionRequest| match request.operation {
    ///         Operation::Delete => AdmissionResponse::deny(request, "nothing is deleted here"),
    ///         _ => AdmissionResponse::allow(request),
    ///     },
    /// );
    /// ```
    #[must_use]
    pub fn admission_service(
        mut self,
        namespace: &str,
        name: &str,
        handler: impl Fn(&AdmissionRequest) -> AdmissionResponse + Send + Sync + 'static,
    ) -> Self {
        self.webhooks.add_handler(namespace, name, handler);
        self
    }

    /// Converts objects in this process where a definition names a service for its conversion
    /// webhook.
    ///
    /// ```
    /// use billhook_apiserver::Server;
    /// use serde_json::Value;
    ///
    /// let builder = Server::builder().conversion_service(
    ///     "shop",
    ///     "converter",
    ///     |object: &Value, api_version: &str| {
    ///         let mut object = object.clone();
    ///         object["apiVersion"] = api_version.into();
    ///         Ok(object)
    ///     },
    /// );
    /// ```
    #[must_use]
    pub fn conversion_service(
        mut self,
        namespace: &str,
        name: &str,
        converter: impl Converter + 'static,
    ) -> Self {
        self.webhooks.add_converter(namespace, name, converter);
        self
    }

    /// Lets objects be created in namespaces that do not exist (RE-141).
    #[must_use]
    pub fn any_namespace(mut self) -> Self {
        self.has_namespaces = false;
        self
    }

    /// Takes its time with definitions, as a server of a cluster does, for tests of clients that
    /// have to wait: names are accepted and a definition is established some milliseconds after it
    /// is created; the first lists and watches of its objects are refused with 429; objects that
    /// are created within two seconds of it are created two seconds later; a definition that is
    /// deleted stays for some milliseconds. By default all this is done when a request is answered.
    ///
    /// Definitions that are given to the builder or loaded are established at once. Requests must
    /// be made in a tokio runtime.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use tower_service::Service as _;
    ///
    /// let mut server = Server::builder().settle_like_a_server().build();
    /// let definition = serde_json::json!({
    ///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    ///     "metadata": {"name": "foos.example.com"},
    ///     "spec": {"group": "example.com", "scope": "Cluster",
    ///         "names": {"plural": "foos", "kind": "Foo"},
    ///         "versions": [{"name": "v1", "served": true, "storage": true,
    ///             "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    /// let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    /// let request = http::Request::post(definitions).body(definition.to_string())?;
    /// assert_eq!(server.call(request).await?.status(), 201);
    /// let request = http::Request::get("/apis/example.com/v1/foos").body(String::new())?;
    /// assert_eq!(server.call(request).await?.status(), 404, "not yet");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn settle_like_a_server(mut self) -> Self {
        self.settles_like_a_server = true;
        self
    }

    /// Takes deleted definitions and their objects away after the answer to `DELETE`, as a server
    /// does: a client that then watches the definition from resource version 0 sees that it is
    /// deleted, and until then its condition `Terminating` (LC-53). It takes 100 milliseconds.
    ///
    /// By default all is done when `DELETE` is answered, so that tests in the same process need
    /// neither wait nor run anything beside them; `billhook serve` does it in the background, for
    /// clients that wait for the end. [`ServerBuilder::settle_like_a_server`] includes it. Requests
    /// must be made in a tokio runtime.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use tower_service::Service as _;
    ///
    /// let definition = serde_json::json!({
    ///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    ///     "metadata": {"name": "foos.example.com"},
    ///     "spec": {"group": "example.com", "scope": "Cluster",
    ///         "names": {"plural": "foos", "kind": "Foo"},
    ///         "versions": [{"name": "v1", "served": true, "storage": true,
    ///             "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    /// let builder = Server::builder().definition(&definition)?;
    /// let mut server = builder.finalize_definitions_in_background().build();
    /// let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
    /// let request = http::Request::delete(path).body(String::new())?;
    /// assert_eq!(server.call(request).await?.status(), 200);
    /// let request = http::Request::get(path).body(String::new())?;
    /// assert_eq!(server.call(request).await?.status(), 200, "not yet");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn finalize_definitions_in_background(mut self) -> Self {
        self.finalizes_in_background = true;
        self
    }

    /// Collects garbage, as the controller manager of a cluster does: objects whose owners are all
    /// gone are deleted; deletions with the policies `Foreground` and `Orphan` come to their end.
    /// It is done when a request is answered, and looks at the objects that the request has to do
    /// with. By default the finalizers of these policies stay until a
    /// client removes them, as on an API server alone (RE-114).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    ///
    /// let server = Server::builder().collect_garbage().build();
    /// let owned = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  ownerReferences:\n  - \
    ///     {apiVersion: v1, kind: Secret, name: gone, uid: 1d4f}";
    /// server.load_text(owned).await?;
    /// assert!(!server.dump().await?.contains("name: a"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn collect_garbage(mut self) -> Self {
        self.collects_garbage = true;
        self
    }

    /// Builds the server.
    pub fn build(self) -> Server {
        let ServerBuilder {
            kubernetes,
            definitions: documents,
            user,
            authorizer,
            new_objects,
            clock,
            webhooks,
            has_namespaces,
            settles_like_a_server,
            finalizes_in_background,
            collects_garbage,
        } = self;
        let chain = Chain::new(webhooks).kubernetes(kubernetes);
        let chain = chain.authorizer(Arc::new(authorizer.clone()));
        let configured = RwLock::new(Configured::new(chain.clone()));
        let settings = Settings {
            features: Features::of(kubernetes),
            user,
            authorizer,
            new_objects,
            clock,
            chain,
            has_namespaces,
            settles_like_a_server,
            finalizes_in_background,
            collects_garbage,
            budgets: Budgets::default(),
        };
        let shared = Shared {
            settings: Arc::new(settings),
            storage: MemoryStorage::default(),
            catalog: RwLock::new(own_resources(kubernetes)),
            lives: Lives::default(),
            configured,
            links: Mutex::default(),
            settling: tokio::sync::Mutex::default(),
        };
        let shared = Arc::new(shared);
        at_once(kinds::create_initial(&shared));
        for document in documents {
            at_once(definitions::create(&shared, &document));
        }
        Server { shared }
    }
}
