//! Building a server.

mod limits;
mod logs;
mod users;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use billhook::{
    CrdError, CrdOptions, CustomResourceDefinition, Definition, KubernetesVersion, Time,
};
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, Chain, Converter, ServerFields, WebhookCaller,
};
use billhook_apimachinery::UserInfo;
use billhook_kinds::{SecurityDefaults, ServiceRanges};
use serde_json::Value;

use crate::audit::AuditLog;
use crate::background::Background;
use crate::budget::Budgets;
use crate::clock::Clock;
use crate::controllers::{CONTROLLERS, create_definition, create_initial};
use crate::edition::EDITIONS;
use crate::future::finish;
use crate::measures::Measures;
use crate::own::own_resources;
use crate::permissions::{AuthorizationMode, Decide, Permissions, Recorder, master};
use crate::plugins::SERVICE_ACCOUNT;
use crate::pod_logs::PodLogs;
use crate::presence::Presence;
use crate::request_log::Log;
use crate::resources::WatchCaches;
use crate::server::Server;
use crate::shared::{Configured, Settings, Shared};
use crate::storage::{Backend, Storage};
use crate::tokens::{KnownTokens, ServiceAccountTokens};
use crate::webhooks::Webhooks;

impl Server {
    /// Begins to build a server.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }
}

/// Builds a [`Server`].
pub struct ServerBuilder {
    kubernetes: KubernetesVersion,
    definitions: Vec<Value>,
    user: UserInfo,
    authorization: AuthorizationMode,
    answers: Option<Arc<Decide>>,
    answers_decide: bool,
    recorder: Option<Recorder>,
    new_objects: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    clock: Clock,
    webhooks: Webhooks,
    has_namespaces: bool,
    settles_like_a_server: bool,
    finalizes_in_background: bool,
    collects_garbage: bool,
    disabled_plugins: Vec<String>,
    pod_security: SecurityDefaults,
    has_controllers: bool,
    has_namespace_controller: bool,
    service_ranges: ServiceRanges,
    bootstraps: bool,
    presence: Option<Presence>,
    tokens: ServiceAccountTokens,
    known_tokens: KnownTokens,
    log: Log,
    audit: Option<Arc<AuditLog>>,
    measures: Option<Arc<dyn Measures>>,
    request_time: Duration,
    watch_time: Duration,
    refuses_privileged: bool,
    disabled_versions: Vec<String>,
    streams_lists: Option<bool>,
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
            user: master(),
            authorization: AuthorizationMode::default(),
            answers: None,
            answers_decide: false,
            recorder: None,
            new_objects: None,
            clock: Clock::default(),
            webhooks: Webhooks::default(),
            has_namespaces: true,
            settles_like_a_server: false,
            finalizes_in_background: false,
            collects_garbage: false,
            disabled_plugins: vec![SERVICE_ACCOUNT.to_owned()],
            pod_security: SecurityDefaults::default(),
            has_controllers: true,
            has_namespace_controller: true,
            service_ranges: ServiceRanges::default(),
            bootstraps: false,
            presence: None,
            tokens: ServiceAccountTokens::default(),
            known_tokens: KnownTokens::default(),
            log: Log::default(),
            audit: None,
            measures: None,
            request_time: Duration::from_secs(60),
            watch_time: Duration::from_secs(30 * 60),
            refuses_privileged: false,
            disabled_versions: Vec::new(),
            streams_lists: None,
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

    /// Serves the resources of a definition, given as a document; it takes the place of one of the same
    /// name that was given before. Fails if a server would refuse it.
    pub fn definition(mut self, document: &Value) -> Result<Self, CrdError> {
        let options = CrdOptions::default().kubernetes(self.kubernetes);
        CustomResourceDefinition::with_options(document, &options)?;
        if let Ok(definition) = Definition::new(document.clone(), self.kubernetes)
            && let Some(error) = definition.validate_create().errors().first()
        {
            return Err(error.clone().into());
        }
        let name = |document: &Value| document.pointer("/metadata/name").cloned();
        self.definitions.retain(|given| name(given) != name(document));
        self.definitions.push(document.clone());
        Ok(self)
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

    /// Takes the time from elsewhere, for tests: in objects, their managed fields, logs and tokens, and for
    /// ages in tables. What [`ServerBuilder::server_fields`] gives counts more.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook::Time;
    /// use billhook_apiserver::Server;
    ///
    /// let time = Time::parse("2026-02-03T04:05:06Z")?;
    /// let server = Server::builder().clock(move || time).build();
    /// server.load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}").await?;
    /// assert!(server.dump().await?.contains("creationTimestamp: \"2026-02-03T04:05:06Z\""));
    /// # Ok(()) }
    /// ```
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
    /// configuration is an object of the server like any other, and counts from its creation on. With
    /// the feature `kube` of billhook-admission, requests and responses convert from and to those of
    /// kube. A handler that has to wait is a [`WebhookCaller`] ([`ServerBuilder::webhooks`]).
    ///
    /// ```
    /// use billhook::webhook::Operation;
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

    /// Delays definitions as a server of a cluster does, for tests of clients that have to wait:
    /// names are accepted and a definition is established some milliseconds after it
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

    /// Takes deleted definitions and their objects away 100 milliseconds after the answer to
    /// `DELETE`, so that a client that then watches from resource version 0 sees the end (LC-53), as
    /// `billhook serve` does. By default all is done before the answer: tests in the same process
    /// need not wait. Requests must be made in a tokio runtime.
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

    /// Creates the objects that a cluster begins with beside its namespaces, such as the priority
    /// classes of the system (BK-680).
    #[must_use]
    pub fn bootstrap(mut self) -> Self {
        self.bootstraps = true;
        self
    }

    /// Says where the server is reached, in objects that a cluster begins with ([`ServerBuilder::bootstrap`]).
    /// Without it, the Service `kubernetes` leads nowhere.
    #[must_use]
    pub fn presence(mut self, presence: Presence) -> Self {
        self.presence = Some(presence);
        self
    }

    /// Leaves out what an API server alone does not do: namespaces that are being deleted stay, and
    /// the expressions of policies are not checked after they are written (BK-600).
    #[must_use]
    pub fn without_controllers(mut self) -> Self {
        self.has_controllers = false;
        self
    }

    /// Leaves namespaces that are being deleted to a controller that makes requests, such as that of
    /// billhook-control-plane.
    #[must_use]
    pub fn without_namespace_controller(mut self) -> Self {
        self.has_namespace_controller = false;
        self
    }

    /// Sets the addresses and ports that services get; `10.0.0.0/24` and 30000 to 32767 by default.
    #[must_use]
    pub fn service_ranges(mut self, ranges: ServiceRanges) -> Self {
        self.service_ranges = ranges;
        self
    }

    /// Switches an admission plugin off, by the name that kube-apiserver has for it: those of
    /// built-in kinds (BK-560), of webhooks and of policies are on by default. A name that is not
    /// known switches nothing off.
    #[must_use]
    pub fn without_admission_plugin(mut self, name: &str) -> Self {
        self.disabled_plugins.push(name.to_owned());
        self
    }

    /// Lets pods have their service accounts, with tokens in a volume, as the admission plugin ServiceAccount
    /// does (BK-565). It is off by default, as in most servers for tests. The account `default` need not
    /// be there yet; others have to.
    #[must_use]
    pub fn give_service_accounts(mut self) -> Self {
        self.disabled_plugins.retain(|name| name != SERVICE_ACCOUNT);
        self
    }

    /// Says whether watches may ask for the existing objects, the gate `WatchList` (WA-10); if nothing
    /// is said, as servers of the version do by default.
    #[must_use]
    pub fn stream_lists(mut self, allowed: bool) -> Self {
        self.streams_lists = Some(allowed);
        self
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn measures(mut self, measures: Arc<dyn Measures>) -> Self {
        self.measures = Some(measures);
        self
    }

    /// Returns the backend as the server uses it.
    pub(crate) fn measured(&self, backend: impl Backend) -> Arc<dyn Backend> {
        let backend = Arc::new(backend);
        match &self.measures {
            Some(measures) => measures.measured(backend),
            None => backend,
        }
    }

    /// Builds the server, in memory.
    pub fn build(self) -> Server {
        let (shared, documents) = self.assemble(Storage::default());
        // In memory nothing but a refusal can happen.
        drop(finish(create_initial(&shared)));
        if shared.settings.bootstraps {
            // What belongs to the initial objects, such as the address of a service.
            finish(shared.resume());
        }
        for document in documents {
            drop(finish(create_definition(&shared, &document)));
        }
        Server::of(shared)
    }

    /// Returns the parts of a server over a storage, and the definitions that are to be created.
    pub(crate) fn assemble(self, storage: Storage) -> (Arc<Shared>, Vec<Value>) {
        let ServerBuilder {
            kubernetes,
            definitions: documents,
            user,
            authorization,
            answers,
            answers_decide,
            recorder,
            new_objects,
            clock,
            webhooks,
            has_namespaces,
            settles_like_a_server,
            finalizes_in_background,
            collects_garbage,
            disabled_plugins,
            pod_security,
            has_controllers,
            has_namespace_controller,
            service_ranges,
            bootstraps,
            presence,
            tokens,
            known_tokens,
            log,
            audit,
            measures,
            request_time,
            watch_time,
            refuses_privileged,
            disabled_versions,
            streams_lists,
        } = self;
        let chain = Chain::new(webhooks).kubernetes(kubernetes);
        let chain = match &measures {
            Some(measures) => chain.observer(measures.observer()),
            None => chain,
        };
        let configured = RwLock::new(Configured::new(chain.clone()));
        let catalog = own_resources(kubernetes, refuses_privileged, &disabled_versions);
        let settings = Settings {
            kubernetes,
            edition: EDITIONS.of(kubernetes).switched(streams_lists),
            user,
            new_objects,
            clock,
            chain,
            has_namespaces,
            settles_like_a_server,
            finalizes_in_background,
            collects_garbage,
            disabled_plugins,
            pod_security,
            disabled_versions,
            has_controllers,
            has_namespace_controller: has_controllers && has_namespace_controller,
            service_ranges,
            bootstraps,
            presence,
            tokens,
            known_tokens,
            pod_logs: PodLogs::default(),
            log,
            audit,
            measures,
            request_time,
            watch_time,
            budgets: Budgets::default(),
        };
        let permissions =
            Arc::new(Permissions::new(authorization, answers, answers_decide, recorder));
        let shared = Shared {
            settings: Arc::new(settings),
            permissions: Arc::clone(&permissions),
            asked_by_expressions: permissions,
            storage,
            catalog: RwLock::new(catalog),
            watch_caches: WatchCaches::default(),
            configured,
            links: Mutex::default(),
            settling: tokio::sync::Mutex::default(),
            background: Background::default(),
            is_recovering: AtomicBool::default(),
            is_undone: AtomicBool::default(),
            allocated_by_services: Mutex::default(),
            released_by_services: Mutex::default(),
            allocating: tokio::sync::Mutex::default(),
            controllers: &CONTROLLERS,
        };
        (shared.share(), documents)
    }
}
