//! The whole write path of a custom resource: decoding, the chain, validation, storage (DI-03).

use std::fmt;
use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, ApiResource, EquivalentResources};
use billhook::{CrdVersion, CustomResourceDefinition, Time, scale};
use billhook_apimachinery::Status;
use billhook_apimachinery::value::DeepValue;
use billhook_policy::Cluster;

use super::attempt::{Attempt, Attempted};
use super::body::{IncomingRequest, read_stored};
use super::deprecation::deprecation_warning;
use super::own_objects::OwnObjects;
use super::request::ObjectRequest;
use super::server_fields::ServerFields;
use super::storage;
use super::store::{Store, StoredObject};
use super::strategy::{Allocator, Strategy};
use super::write::Accepted;
use crate::audit::Warnings;
use crate::chain::{Chain, ChainOutcome, Run};
use crate::futures::block_on;
use crate::object_model::{Converter, CustomResources};
use crate::time::now;
use crate::trace::RequestOutcome;

/// How often a change is tried for an object that others change at the same time; a server tries
/// until the time of the request is over.
const MAX_ATTEMPTS: usize = 100;

/// The outcome of a request for an object: what is stored and returned.
pub type AdmissionOutcome = RequestOutcome<Accepted>;

/// The write path of the resources of one definition, in process: returns what a
/// server would store and return for a request, or the status it would answer with.
///
/// ```
/// use billhook::CustomResourceDefinition;
/// use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, Unreachable};
///
/// # let definition = CustomResourceDefinition::from_value(&serde_json::json!({
/// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
/// #   "spec": {"group": "example.com", "scope": "Namespaced",
/// #     "names": {"plural": "foos", "kind": "Foo"},
/// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
/// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
/// #         "properties": {"size": {"type": "integer", "default": 1, "maximum": 3}}}}}}}]}}))?;
/// let admission = Admission::new(definition, Chain::new(Unreachable));
/// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo",
///     "metadata": {"name": "x"}, "spec": {}}"#;
/// let outcome = admission.admit_blocking(&ObjectRequest::create("v1", body), &MemoryCluster::new());
/// assert_eq!(outcome.result?.into_returned().unwrap()["spec"]["size"], 1);
///
/// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo",
///     "metadata": {"name": "x"}, "spec": {"size": 4}}"#;
/// let outcome = admission.admit_blocking(&ObjectRequest::create("v1", body), &MemoryCluster::new());
/// assert_eq!(outcome.field_errors.first().unwrap().field().to_string(), "spec.size");
/// assert_eq!(
///     outcome.result.unwrap_err().to_string(),
///     "Foo.example.com \"x\" is invalid: spec.size: Invalid value: 4: spec.size in body should \
///      be less than or equal to 3",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Admission {
    definition: CustomResourceDefinition,
    model: CustomResources,
    chain: Chain,
    store: Option<Arc<dyn Store>>,
    strategy: Option<Arc<dyn Strategy>>,
    allocator: Option<Arc<dyn Allocator>>,
    registry: Arc<str>,
    server_fields: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("definition", &self.definition.name())
            .finish_non_exhaustive()
    }
}

impl Admission {
    /// The write path of a definition through a chain, which learns of the definition's versions
    /// and defaults.
    pub fn new(definition: CustomResourceDefinition, chain: Chain) -> Self {
        let mut equivalents = EquivalentResources::new();
        equivalents.register_definition(&definition);
        let mut model = CustomResources::new(definition.clone()).caller(chain.caller());
        if let Some(watcher) = chain.watcher() {
            model = model.observer(Arc::clone(watcher));
        }
        let chain = chain.equivalents(equivalents).model(model.clone());
        Admission {
            definition,
            model,
            chain,
            store: None,
            strategy: None,
            allocator: None,
            registry: "/registry".into(),
            server_fields: None,
            clock: Arc::new(now),
        }
    }

    /// The write path through another chain, which learns of the same versions and defaults. A clone
    /// with another chain costs little, where configurations come and go (DI-08).
    #[must_use]
    pub fn chain(mut self, chain: Chain) -> Self {
        self.chain = chain.objects_of(&self.chain);
        self
    }

    /// The write path with objects that are converted by something else than their definition says.
    /// Without it, the caller of the chain calls the conversion webhook of a definition that has
    /// one.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.model = self.model.converter(converter);
        self.chain = self.chain.model(self.model.clone());
        self
    }

    /// The write path with another source of the server's fields of new objects, for tests.
    #[must_use]
    pub fn server_fields(
        mut self,
        server_fields: impl Fn() -> ServerFields + Send + Sync + 'static,
    ) -> Self {
        self.server_fields = Some(Arc::new(server_fields));
        self
    }

    /// The write path with another clock for managed fields, and for the times of objects unless
    /// [`Admission::server_fields`] gives them; for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The write path with a place where objects are kept. Without one, nothing is written, and all
    /// that is stored is what requests bring along.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// The write path with another place in storage, which some errors tell: where a whole API
    /// server has `/registry`, one of custom resources alone has
    /// `/registry/apiextensions.kubernetes.io` (RE-72).
    #[must_use]
    pub fn registry(mut self, registry: &str) -> Self {
        self.registry = registry.into();
        self
    }

    /// The write path of a resource that has rules beside those of its definition.
    #[must_use]
    pub fn strategy(mut self, strategy: Arc<dyn Strategy>) -> Self {
        self.model = self.model.typed(strategy.is_typed().then(|| strategy.record()));
        self.chain = self
            .chain
            .model(OwnObjects { model: self.model.clone(), strategy: Arc::clone(&strategy) });
        if let Some(equivalents) = strategy.equivalents() {
            self.chain = self.chain.equivalents(equivalents);
        }
        self.strategy = Some(strategy);
        self
    }

    /// The write path of a resource whose objects are given what no two of them may have.
    #[must_use]
    pub fn allocator(mut self, allocator: Arc<dyn Allocator>) -> Self {
        self.allocator = Some(allocator);
        self
    }

    /// Takes a request through decoding, the chain, validation and storage, in a cluster.
    pub async fn admit(&self, request: &ObjectRequest, cluster: &dyn Cluster) -> AdmissionOutcome {
        let mut run = Run::new(&self.chain, cluster, &request.options);
        // In a box, it is not copied from one enclosing future to the next.
        let mut result = Box::pin(self.take_through(request, &mut run)).await;
        // The server does not wait for the failure of a request whose time is over (RE-22). What was
        // written is.
        if result.is_err() && run.context.deadline.has_passed() {
            result = Err(Status::request_timeout());
        }
        run.conclude(result)
    }

    /// Takes an object that is not stored through the chain: one that is sent to a subresource, or the options
    /// of a connection (AR-36, AR-37). The rest of the request is in `request`; `prepare` checks the object
    /// between the stages.
    pub async fn admit_unstored(
        &self,
        attributes: AdmissionAttributes,
        request: &ObjectRequest,
        cluster: &dyn Cluster,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status> + Send,
    ) -> ChainOutcome {
        self.chain.run(request.attributes(attributes), cluster, &request.options, prepare).await
    }

    /// [`Admission::admit`] for callers of webhooks that never wait for anything, such as webhooks
    /// in the same process. It blocks the thread.
    pub fn admit_blocking(
        &self,
        request: &ObjectRequest,
        cluster: &dyn Cluster,
    ) -> AdmissionOutcome {
        block_on(self.admit(request, cluster))
    }

    async fn take_through(
        &self,
        request: &ObjectRequest,
        run: &mut Run<'_>,
    ) -> Result<Accepted, Status> {
        let version = self.served_version(&request.version)?;
        self.check_conversion()?;
        if let Some(text) = deprecation_warning(&version) {
            run.context.log.warnings.add(&text);
        }
        let resource = ApiResource::of_version(&version);
        if !request.subresource.is_none_or(|subresource| subresource.is_enabled(&version)) {
            let name = request.stored.name().unwrap_or_default();
            return Err(Status::not_found(&resource.resource, &name));
        }
        let incoming = IncomingRequest {
            model: &self.model,
            registry: &self.registry,
            strategy: self.strategy.as_deref(),
            allocator: self.allocator.as_deref(),
            version: &version,
            resource: &resource,
            request,
        };
        let random = || ServerFields::random_at((self.clock)());
        let mut fresh = None;
        for _ in 0..MAX_ATTEMPTS {
            let attempt = Attempt {
                incoming,
                stored: fresh.as_ref().unwrap_or(&request.stored),
                store: self.store.as_deref(),
                server_fields: self.server_fields.as_deref().unwrap_or(&random),
                now: (self.clock)(),
            };
            match attempt.run(run).await? {
                Attempted::Accepted(accepted) => return Ok(accepted),
                Attempted::Changed(stored) => fresh = Some(stored),
            }
            if run.context.deadline.is_over() {
                break;
            }
        }
        Err(Status::timeout())
    }

    /// Checks whether the resource can be served: a server answers no request for one whose
    /// conversion webhook has an unusable URL or certificates (CX-33). Writes check it themselves.
    ///
    /// # Errors
    ///
    /// The status that the client gets.
    pub fn check_conversion(&self) -> Result<(), Status> {
        self.model.check_conversion()
    }

    /// The objects, and their rules if they have some of their own.
    fn objects(&self) -> (&CustomResources, Option<&dyn Strategy>) {
        (&self.model, self.strategy.as_deref())
    }

    /// The version of a name, if it is served (RP-92).
    fn served_version(&self, name: &str) -> Result<CrdVersion, Status> {
        let version = self.definition.version(name).filter(CrdVersion::is_served);
        let version = version.filter(|_| self.definition.is_established());
        version.ok_or_else(Status::resource_not_found)
    }

    /// Returns a stored object in a version, as a `GET` does (RP-50).
    ///
    /// # Errors
    ///
    /// If the object cannot be decoded or converted.
    pub async fn read(&self, version: &str, stored: &StoredObject) -> Result<DeepValue, Status> {
        let version = self.definition.version(version).ok_or_else(Status::resource_not_found)?;
        read_stored(self.objects(), &version, stored).await.map(|(object, _)| object)
    }

    /// Returns the place in the text of a stored object where [`Admission::read`] puts the member
    /// `resourceVersion` of its metadata, before another one, if it changes nothing else. So text
    /// can be read without a tree. `None` says nothing about the object: read it.
    pub fn revision_place(&self, version: &str, stored: &[u8]) -> Option<usize> {
        storage::revision_place(&self.model, &self.definition.version(version)?, stored)
    }

    /// [`Admission::read`] for conversions that never wait for anything. It blocks the thread.
    ///
    /// # Errors
    ///
    /// As for [`Admission::read`].
    pub fn read_blocking(&self, version: &str, stored: &StoredObject) -> Result<DeepValue, Status> {
        block_on(self.read(version, stored))
    }

    /// Returns the `scale` subresource of a stored object, as a `GET` does (RP-76).
    ///
    /// # Errors
    ///
    /// If the version has no `scale`, or the object cannot be decoded or converted.
    pub async fn read_scale(
        &self,
        version: &str,
        stored: &StoredObject,
    ) -> Result<DeepValue, Status> {
        let version = self.served_version(version)?;
        let scale = version.scale().ok_or_else(|| {
            let resource = ApiResource::of_version(&version).resource;
            Status::not_found(&resource, &stored.name().unwrap_or_default())
        })?;
        let (object, _) = read_stored(self.objects(), &version, stored).await?;
        scale::returned(scale, &object)
    }
}
