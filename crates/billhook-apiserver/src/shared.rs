//! The parts of a server.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use billhook::webhook::Authorizer;
use billhook::{DeepValue, Time};
use billhook_admission::{Accepted, Allocator, Chain, ServerFields};
use billhook_apimachinery::{KubernetesVersion, Status, UserInfo};
use billhook_decode::{Document, ObjectView, read_json};
use billhook_kinds::{AllocatedByServices, SecurityDefaults, ServiceRanges};
use billhook_policy::PolicySet;

use crate::admission_configuration::{Configures, policies, webhook_configurations};
use crate::audit::AuditLog;
use crate::background::Background;
use crate::budget::Budgets;
use crate::clock::Clock;
use crate::edition::Edition;
use crate::future::BoxFuture;
use crate::links::Links;
use crate::measures::Measures;
use crate::permissions::Permissions;
use crate::pod_logs::PodLogs;
use crate::presence::Presence;
use crate::request::Request;
use crate::request_log::Log;
use crate::resources::{Catalog, Resource, Served, WatchCaches};
use crate::storage::{Collection, Object, Observer, Range, Storage};
use crate::tokens::{KnownTokens, Objects, ServiceAccountTokens, authenticate};

/// Everything that requests share.
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) storage: Storage,
    pub(crate) permissions: Arc<Permissions>,
    /// The same, for expressions.
    pub(crate) asked_by_expressions: Arc<dyn Authorizer>,
    pub(crate) catalog: RwLock<Catalog>,
    pub(crate) watch_caches: WatchCaches,
    /// The chain of clients' writes.
    pub(crate) configured: RwLock<Configured>,
    /// The links that the garbage collector knows, if there is one.
    pub(crate) links: Mutex<Links>,
    /// Held by the one that works on definitions or on the status of policies.
    pub(crate) settling: tokio::sync::Mutex<()>,
    pub(crate) background: Background,
    /// Whether work is done again that writes may have left undone.
    pub(crate) is_recovering: AtomicBool,
    /// Whether own work was refused or cut short, and not taken up since.
    pub(crate) is_undone: AtomicBool,
    /// The addresses and ports of the services that are stored.
    pub(crate) allocated_by_services: Mutex<AllocatedByServices>,
    /// The objects that services had and that are to be removed.
    pub(crate) released_by_services: Mutex<Vec<(Collection, String)>>,
    /// Held by the write of an object that is given what no two may have.
    pub(crate) allocating: tokio::sync::Mutex<()>,
    /// The parts of the server that act upon writes, in their order.
    pub(crate) controllers: &'static [&'static dyn Controller],
}

/// A part of the server that does something about writes.
pub(crate) trait Controller: fmt::Debug + Send + Sync {
    /// Whether it is concerned with the writes of a resource.
    fn watches(&self, group: &str, plural: &str) -> bool;

    /// Adds to the chain of a client's write what may refuse it.
    fn guard(&self, _server: &Arc<Shared>, _resource: &Resource, chain: Chain) -> Chain {
        chain
    }

    /// Adds plugins to the chain of what is sent to subresources of a resource and not stored.
    fn guard_unstored(&self, _server: &Arc<Shared>, _resource: &Resource, chain: Chain) -> Chain {
        chain
    }

    /// Returns what gives the objects of a resource what no two of them may have, if anything does.
    /// Their writes then come one after the other.
    fn allocator(&self, _server: &Arc<Shared>, _resource: &Resource) -> Option<Arc<dyn Allocator>> {
        None
    }

    /// Takes over a change as soon as it is stored, by any writer.
    fn take_over(&self, _server: &Shared, _change: &Change<'_>) {}

    /// Returns what is to be done about a client's write before it is answered, if anything.
    fn after<'w>(&self, _server: &'w Arc<Shared>, _written: &Written<'w>) -> Option<Work<'w>> {
        None
    }

    /// Returns how to go on with what waits until objects are gone, when some are, if anything does.
    fn go_on<'w>(&self, _server: &'w Arc<Shared>) -> Option<Work<'w>> {
        None
    }

    /// Returns how to do what writes may have left undone, if anything does: a server was killed
    /// after a write, or the write of a controller has failed.
    fn resume<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        self.go_on(server)
    }
}

/// The work of a controller.
pub(crate) type Work<'w> = BoxFuture<'w, ()>;

/// A change that is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'c> {
    pub(crate) collection: &'c Collection,
    pub(crate) key: &'c str,
    /// The object before it; `None` if it was created.
    pub(crate) before: Option<&'c Object>,
}

/// A client's write, and its outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'w> {
    pub(crate) resource: &'w Resource,
    /// The namespace in the path, if there is one.
    pub(crate) namespace: Option<&'w str>,
    /// `None` if it was refused.
    pub(crate) accepted: Option<&'w Accepted>,
}

impl<'w> Written<'w> {
    /// The name of the object, if the write was accepted.
    pub(crate) fn name(&self) -> Option<&'w str> {
        self.accepted?.metadata("name")?.as_str()
    }
}

/// The settings of a server, which do not change while it runs and which its forks share.
pub(crate) struct Settings {
    pub(crate) kubernetes: KubernetesVersion,
    pub(crate) edition: Edition,
    /// The user who makes the requests that impersonate no other (RE-142).
    pub(crate) user: UserInfo,
    /// The source of UIDs, times and name suffixes, if it is not that of every write path.
    pub(crate) new_objects: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    /// The clock of managed fields and of ages.
    pub(crate) clock: Clock,
    /// The chain of the server's own writes: without webhooks, but with the way to them.
    pub(crate) chain: Chain,
    /// Whether namespaces must exist (RE-141).
    pub(crate) has_namespaces: bool,
    /// Whether there are the objects that a cluster begins with, beside namespaces.
    pub(crate) bootstraps: bool,
    /// The server as its objects show it, if it is reached at an address.
    pub(crate) presence: Option<Presence>,
    /// Whether the controllers of a cluster are there that are no part of its API server.
    pub(crate) has_controllers: bool,
    /// Whether namespaces that are being deleted are emptied.
    pub(crate) has_namespace_controller: bool,
    /// The addresses and ports that services get.
    pub(crate) service_ranges: ServiceRanges,
    /// The levels of security of namespaces that ask for none.
    pub(crate) pod_security: SecurityDefaults,
    /// The names of the admission plugins that are switched off.
    pub(crate) disabled_plugins: Vec<String>,
    /// The versions of groups that are not served.
    pub(crate) disabled_versions: Vec<String>,
    /// Where the records of requests go.
    pub(crate) log: Log,
    /// The audit log, if there is one.
    pub(crate) audit: Option<Arc<AuditLog>>,
    /// The metrics of the server, if it has any.
    pub(crate) measures: Option<Arc<dyn Measures>>,
    /// How tokens of service accounts are made and read.
    pub(crate) tokens: ServiceAccountTokens,
    pub(crate) known_tokens: KnownTokens,
    /// The logs of pods, if something simulates them.
    pub(crate) pod_logs: PodLogs,
    /// Whether definitions take the time that they take elsewhere.
    pub(crate) settles_like_a_server: bool,
    /// Whether deleted definitions go after the answer to the deletion.
    pub(crate) finalizes_in_background: bool,
    /// Whether objects go with their owners.
    pub(crate) collects_garbage: bool,
    /// How long a request other than a watch may take.
    pub(crate) request_time: Duration,
    /// How long a watch lasts that names no time.
    pub(crate) watch_time: Duration,
    /// The memory that requests hold for as long as their clients like.
    pub(crate) budgets: Budgets,
}

impl Settings {
    /// Returns what a server gives an object that is created now.
    pub(crate) fn server_fields(&self) -> ServerFields {
        match &self.new_objects {
            Some(new) => new(),
            None => ServerFields::random_at(self.clock.now()),
        }
    }
}

/// The chain with the webhooks and policies that are stored.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) chain: Arc<Chain>,
    /// Whether policies were written that it does not have yet.
    is_outdated: bool,
}

impl Configured {
    pub(crate) fn new(chain: Chain) -> Self {
        Configured { chain: Arc::new(chain), is_outdated: false }
    }
}

fn is_policy(resource: &Resource) -> bool {
    let definition = &resource.definition;
    let configures = Configures::of(definition.group(), &definition.names().plural);
    configures == Some(Configures::Policies)
}

impl Shared {
    /// Shares the server, which acts upon the changes of its storage from here on.
    pub(crate) fn share(self) -> Arc<Self> {
        let shared = Arc::new(self);
        let observer: Weak<dyn Observer> = Arc::<Shared>::downgrade(&shared);
        shared.storage.observe(observer);
        shared
    }

    pub(crate) fn released_by_services(&self) -> MutexGuard<'_, Vec<(Collection, String)>> {
        self.released_by_services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn allocated_by_services(&self) -> MutexGuard<'_, AllocatedByServices> {
        self.allocated_by_services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what gives the objects of a resource what no two of them may have.
    pub(crate) fn allocator(self: &Arc<Self>, resource: &Resource) -> Option<Arc<dyn Allocator>> {
        let (group, plural) = (resource.definition.group(), &resource.definition.names().plural);
        let mut controllers = self.controllers.iter().filter(|it| it.watches(group, plural));
        controllers.find_map(|controller| controller.allocator(self, resource))
    }

    /// Returns an object of a built-in kind, by its key: the name, after the namespace and a slash
    /// if it has one.
    pub(crate) fn read_object(&self, group: &str, resource: &str, key: &str) -> Option<DeepValue> {
        let stored = self.storage.get(&Collection::new(group, resource), key)?;
        read_json(&stored.text).ok().map(Document::into_value)
    }

    /// Returns the objects of a built-in kind whose keys begin so.
    pub(crate) fn read_objects(&self, group: &str, resource: &str, prefix: &str) -> Vec<DeepValue> {
        self.read_objects_if(group, resource, prefix, |_| true)
    }

    /// Returns those of the objects that a condition is true of, which sees them before they are read.
    pub(crate) fn read_objects_if(
        &self,
        group: &str,
        resource: &str,
        prefix: &str,
        condition: impl Fn(ObjectView<'_>) -> bool,
    ) -> Vec<DeepValue> {
        let collection = Collection::new(group, resource);
        let found = self.storage.list(&collection, Range::of_prefix(prefix)).objects;
        let found = found.iter().filter(|object| condition(ObjectView::of_checked(&object.text)));
        let objects = found.filter_map(|object| read_json(&object.text).ok());
        objects.map(Document::into_value).collect()
    }

    pub(crate) fn catalog(&self) -> Catalog {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controllers of a resource.
    fn controllers(&self, group: &str, plural: &str) -> impl Iterator<Item = &dyn Controller> {
        let all = self.controllers.iter().copied();
        all.filter(move |controller| controller.watches(group, plural))
    }

    /// Adds to the chain of a client's write to a resource all that may refuse it.
    pub(crate) fn guard(self: &Arc<Self>, resource: &Resource, chain: Chain) -> Chain {
        let definition = &resource.definition;
        self.controllers(definition.group(), &definition.names().plural)
            .fold(chain, |chain, controller| controller.guard(self, resource, chain))
    }

    /// Returns a chain with the plugins for what is sent to subresources of a resource and not stored.
    pub(crate) fn guard_unstored(self: &Arc<Self>, resource: &Resource, chain: Chain) -> Chain {
        let definition = &resource.definition;
        self.controllers(definition.group(), &definition.names().plural)
            .fold(chain, |chain, controller| controller.guard_unstored(self, resource, chain))
    }

    /// Hands a change to those that take it over.
    pub(crate) fn take_over(&self, change: &Change<'_>) {
        let (group, plural) = change.collection.parts();
        self.controllers(group, plural).for_each(|controller| controller.take_over(self, change));
    }

    /// Does what is to be done about a client's write before it is answered.
    pub(crate) async fn after(self: &Arc<Self>, written: &Written<'_>) {
        let definition = &written.resource.definition;
        for controller in self.controllers(definition.group(), &definition.names().plural) {
            if let Some(work) = controller.after(self, written) {
                work.await;
            }
        }
        // What was refused may not be refused any more.
        let configures = Configures::of(definition.group(), &definition.names().plural).is_some();
        let is_undone = || {
            self.is_undone.swap(false, Ordering::AcqRel)
                || self.is_recovering.load(Ordering::Acquire)
        };
        if configures && is_undone() {
            self.resume().await;
        }
    }

    /// Goes on with what waits until objects are gone.
    pub(crate) async fn go_on(self: &Arc<Self>) {
        for controller in self.controllers {
            if let Some(work) = controller.go_on(self) {
                work.await;
            }
        }
    }

    /// Does what writes may have left undone.
    pub(crate) async fn resume(self: &Arc<Self>) {
        for controller in self.controllers {
            if let Some(work) = controller.resume(self) {
                work.await;
            }
        }
    }

    /// Takes over all that is stored.
    pub(crate) fn take_over_all(&self) {
        for (collection, objects) in self.storage.objects() {
            for object in objects {
                self.take_over(&Change { collection: &collection, key: &object.key, before: None });
            }
        }
    }

    /// Fails if the server is not what its answers say any more.
    pub(crate) fn check(&self) -> Result<(), Status> {
        self.background.check()?;
        match self.storage.broken() {
            Some(why) => Err(Status::internal_error(why)),
            None => Ok(()),
        }
    }

    /// Returns the user of a token, and the audiences among those asked for that it is for. Tokens that
    /// are not of service accounts are for the audiences of the server.
    pub(crate) fn authenticate(
        &self,
        token: &str,
        audiences: &[String],
    ) -> Option<(UserInfo, Vec<String>)> {
        if let Some(user) = self.settings.known_tokens.user(token) {
            let own = self.settings.tokens.own_audiences();
            let both: Vec<_> = audiences.iter().filter(|it| own.contains(it)).cloned().collect();
            return (!both.is_empty()).then(|| (user.clone(), both));
        }
        let find = |plural: &str, key: &str| self.read_object("", plural, key);
        let objects = Objects { find: &find, now: self.now() };
        authenticate(&self.settings.tokens, &objects, token, audiences)
    }

    /// Returns the user of a request.
    pub(crate) fn user_of<'u>(&'u self, request: &'u Request) -> &'u UserInfo {
        request.user.as_ref().unwrap_or(&self.settings.user)
    }

    /// Finds the resource that a part of URLs names in a version, with its lists and watches.
    pub(crate) fn find(&self, group: &str, plural: &str, version: &str) -> Option<Served> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let resource = catalog.find_in(group, plural, version)?;
        // While the catalog cannot change, they are those of this resource.
        let cache = self.watch_caches.of(&resource);
        Some(Served { resource, cache })
    }

    pub(crate) fn configured(&self) -> Configured {
        self.configured.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the chain of clients' writes to a resource.
    pub(crate) fn chain_of(&self, resource: &Resource) -> Chain {
        let configured = self.configured();
        // No policy is asked about policies (PO-21), so that a thousand of them are written without
        // a thousand compilations each.
        if !configured.is_outdated || is_policy(resource) {
            return Chain::clone(&configured.chain);
        }
        let mut configured = self.configured.write().unwrap_or_else(PoisonError::into_inner);
        if configured.is_outdated {
            let (kubernetes, disabled) =
                (self.settings.kubernetes, &self.settings.disabled_plugins);
            let policies = policies(&self.storage, disabled);
            let policies = PolicySet::for_kubernetes(kubernetes, policies);
            *configured = Configured::new(Chain::clone(&configured.chain).policies(policies));
        }
        Chain::clone(&configured.chain)
    }

    /// Takes over the webhook configurations or the policies, of which one was written.
    pub(crate) fn configure(&self, part: Configures) {
        let mut configured = self.configured.write().unwrap_or_else(PoisonError::into_inner);
        match part {
            Configures::Policies => configured.is_outdated = true,
            Configures::Webhooks => {
                // What is stored by now counts, in whatever order writes come here.
                let settings = &self.settings;
                let configurations = webhook_configurations(
                    &self.storage,
                    settings.kubernetes,
                    &settings.disabled_plugins,
                );
                let chain = Chain::clone(&configured.chain).webhooks(&configurations);
                configured.chain = Arc::new(chain);
            }
        }
    }

    /// The time that the server writes into objects.
    pub(crate) fn now(&self) -> Time {
        match &self.settings.new_objects {
            Some(new) => Time::parse(&new().creation_timestamp).unwrap_or_default(),
            None => self.settings.clock.now(),
        }
    }
}
