//! A chain: the webhooks and plugins that requests go through, and what it needs to call them
//! (DI-01 to DI-08).

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use billhook::KubernetesVersion;
use billhook::webhook::{
    Authorizer, CelConditions, ConfigurationKind, EquivalentResources, MatchConditions,
    WebhookConfiguration, WebhookSet,
};
use billhook_policy::{ObjectModel, PolicySet, UnknownObjects};

use super::plugin::Plugin;
use crate::observe::Observer;
use crate::options::{Deadline, RequestOptions};
use crate::review::WebhookCaller;
use crate::stage::Stage;

/// An admission chain: plugins of the same process and webhooks, through which requests go.
///
/// It knows of the objects only what its [`ObjectModel`] tells; the
/// [`Admission`](crate::Admission) of a definition puts decoding before it and storage after it.
///
/// A chain does not change; where configurations come and go, a clone gets the new ones, and shares
/// the caller with its connections, plugins and everything else (DI-08):
///
/// ```
/// use billhook_admission::{Chain, MemoryCluster, RequestOptions, Unreachable};
/// use billhook::{GroupVersionKind, GroupVersionResource};
/// use billhook::webhook::{AdmissionAttributes, WebhookConfiguration};
/// use serde_json::json;
///
/// let configuration = WebhookConfiguration::from_yaml("
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingWebhookConfiguration
/// metadata: {name: nodes}
/// webhooks:
/// - name: nodes.example.com
///   clientConfig: {url: 'https://nobody-there'}
///   rules: [{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [nodes]}]
///   sideEffects: None
///   admissionReviewVersions: [v1]
/// ")?;
/// let node = || {
///     AdmissionAttributes::create(
///         GroupVersionKind::new("", "v1", "Node"),
///         GroupVersionResource::new("", "v1", "nodes"),
///         json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}),
///     )
/// };
/// let (cluster, options) = (MemoryCluster::new(), RequestOptions::default());
/// let chain = Chain::new(Unreachable);
/// let outcome = chain.run_blocking(node(), &cluster, &options, |_, _| Ok(()));
/// assert!(outcome.result.is_ok());
///
/// let chain = chain.clone().webhooks(&[configuration]);
/// let outcome = chain.run_blocking(node(), &cluster, &options, |_, _| Ok(()));
/// assert_eq!(
///     outcome.result.unwrap_err().to_string(),
///     "Internal error occurred: failed calling webhook \"nodes.example.com\": could not get REST \
///      client: no webhook can be reached",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Chain {
    pub(super) caller: Arc<dyn WebhookCaller>,
    pub(super) model: Arc<dyn ObjectModel>,
    observer: Option<Arc<dyn Observer>>,
    pub(super) uids: Arc<dyn Fn() -> String + Send + Sync>,
    pub(super) results_in_hook_order: bool,
    pub(super) reads_yaml: bool,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// In order; the webhook stages stand between those before and those after them.
    pub(super) plugins: Vec<Arc<dyn Plugin>>,
    pub(super) late_plugins: Vec<Arc<dyn Plugin>>,
    mutating: Option<Arc<WebhookSet>>,
    validating: Option<Arc<WebhookSet>>,
    pub(super) equivalents: Arc<EquivalentResources>,
    /// The evaluator for the version of the server; another one may be set.
    own_conditions: Arc<CelConditions>,
    pub(super) kubernetes: KubernetesVersion,
    conditions: Option<Arc<dyn MatchConditions + Send + Sync>>,
    policies: PolicySet,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

struct Unobserved;

impl Observer for Unobserved {}

impl Chain {
    /// A chain without webhooks and plugins, which reaches webhooks by a caller.
    pub fn new(caller: impl WebhookCaller + 'static) -> Self {
        Chain {
            caller: Arc::new(caller),
            model: Arc::new(UnknownObjects),
            observer: None,
            uids: Arc::new(|| uuid::Uuid::new_v4().to_string()),
            results_in_hook_order: false,
            reads_yaml: true,
            clock: Arc::new(Instant::now),
            plugins: Vec::new(),
            late_plugins: Vec::new(),
            mutating: None,
            validating: None,
            equivalents: Arc::default(),
            own_conditions: Arc::default(),
            kubernetes: KubernetesVersion::default(),
            conditions: None,
            policies: PolicySet::default(),
        }
    }

    /// The chain with the webhooks of both stages; those it had are replaced.
    #[must_use]
    pub fn webhooks(mut self, configurations: &[WebhookConfiguration]) -> Self {
        let set = |kind| Arc::new(WebhookSet::new(kind, configurations.iter().cloned()));
        self.mutating = Some(set(ConfigurationKind::Mutating));
        self.validating = Some(set(ConfigurationKind::Validating));
        self
    }

    /// The chain that reads answers in YAML or, to be stricter than a server, in JSON only
    /// (AR-51). By default it reads both.
    #[must_use]
    pub fn yaml_answers(mut self, accept: bool) -> Self {
        self.reads_yaml = accept;
        self
    }

    /// The chain without the webhooks of a stage (DI-02).
    #[must_use]
    pub fn without(mut self, stage: Stage) -> Self {
        match stage {
            Stage::Mutating => self.mutating = None,
            Stage::Validating => self.validating = None,
        }
        self
    }

    /// The chain with one more plugin before the webhooks.
    #[must_use]
    pub fn plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.plugins.push(Arc::new(plugin));
        self
    }

    /// The chain with one more plugin after the webhooks, such as a quota.
    #[must_use]
    pub fn late_plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.late_plugins.push(Arc::new(plugin));
        self
    }

    /// The chain for objects of which it knows versions and defaults.
    #[must_use]
    pub fn model(mut self, model: impl ObjectModel + 'static) -> Self {
        self.model = Arc::new(model);
        self
    }

    /// The chain with the resources that are equivalent.
    #[must_use]
    pub fn equivalents(mut self, equivalents: EquivalentResources) -> Self {
        self.equivalents = Arc::new(equivalents);
        self
    }

    /// The chain with another evaluator of match conditions, which does not ask the authorizer of
    /// the cluster.
    #[must_use]
    pub fn conditions(mut self, conditions: impl MatchConditions + Send + Sync + 'static) -> Self {
        self.conditions = Some(Arc::new(conditions));
        self
    }

    /// The chain with admission policies, which run before the webhooks of their stage (PO-24);
    /// those it had are replaced.
    #[must_use]
    pub fn policies(mut self, policies: PolicySet) -> Self {
        self.policies = policies;
        self
    }

    /// Whether a webhook, a policy or a plugin may read `metadata.managedFields`.
    pub(crate) fn sees_owners(&self) -> bool {
        let mut webhooks = self.mutating.iter().chain(&self.validating);
        let mut plugins = self.plugins.iter().chain(&self.late_plugins);
        webhooks.any(|webhooks| !webhooks.hooks().is_empty())
            || !self.policies.is_empty()
            || plugins.any(|plugin| plugin.sees_owners())
    }

    /// The chain of a server of another version (KV-30, KV-92). Configurations, definitions and an
    /// evaluator of match conditions of the caller's own have a version of their own.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self.own_conditions = Arc::new(CelConditions::new().kubernetes(kubernetes));
        self
    }

    /// Registers an observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The chain with another clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The chain with another source for the UIDs of calls, for tests; random by default (AR-10).
    #[must_use]
    pub fn uids(mut self, uids: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.uids = Arc::new(uids);
        self
    }

    /// The chain that takes the results of validating webhooks in the order of the webhooks and
    /// not as they arrive: the error that the client gets (DI-66), warnings (AR-86), annotations
    /// and steps are then the same every time. An [`Observer`] still sees calls as they end.
    #[must_use]
    pub fn results_in_hook_order(mut self, in_order: bool) -> Self {
        self.results_in_hook_order = in_order;
        self
    }

    /// The chain with what another one knows of objects.
    pub(crate) fn objects_of(mut self, other: &Chain) -> Self {
        self.model = Arc::clone(&other.model);
        self.equivalents = Arc::clone(&other.equivalents);
        self
    }

    /// The observer of the chain, if it has one.
    pub(crate) fn watcher(&self) -> Option<&Arc<dyn Observer>> {
        self.observer.as_ref()
    }

    /// The observer of what happens.
    pub(super) fn watch(&self) -> &dyn Observer {
        self.observer.as_deref().unwrap_or(&Unobserved)
    }

    /// The way to webhooks.
    pub(crate) fn caller(&self) -> Arc<dyn WebhookCaller> {
        Arc::clone(&self.caller)
    }

    /// The policies, unless there are none that could have an effect.
    pub(super) fn policy_set(&self) -> Option<&PolicySet> {
        Some(&self.policies).filter(|policies| !policies.is_empty())
    }

    pub(super) fn match_conditions(&self) -> &dyn MatchConditions {
        match &self.conditions {
            Some(conditions) => &**conditions,
            None => &*self.own_conditions,
        }
    }

    /// Returns the evaluator of match conditions for one request, unless it is that of the chain.
    pub(super) fn request_conditions(
        &self,
        authorizer: Option<&Arc<dyn Authorizer>>,
    ) -> Option<Box<dyn MatchConditions + Send + Sync + '_>> {
        match (&self.conditions, authorizer) {
            (None, Some(authorizer)) => {
                let conditions = self.own_conditions.of_request();
                Some(Box::new(conditions.authorizer(Arc::clone(authorizer))))
            }
            _ => self.match_conditions().for_request(),
        }
    }

    /// The webhooks of a stage, unless the chain is without them.
    pub(super) fn webhooks_of(&self, stage: Stage) -> Option<&WebhookSet> {
        match stage {
            Stage::Mutating => self.mutating.as_deref(),
            Stage::Validating => self.validating.as_deref(),
        }
    }

    pub(crate) fn deadline<'d>(&'d self, options: &'d RequestOptions) -> Deadline<'d> {
        let cancellation = &options.cancellation;
        Deadline { at: options.deadline, clock: &*self.clock, cancellation }
    }
}
