//! The chain: plugins and webhooks in their order, twice if a webhook changed the object, then
//! validation (DI-01 to DI-08, DI-40 to DI-49).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::conditions::Remembering;
use super::idempotence::IdempotenceFinding;
use super::mutating::Reinvocation;
use super::plugin::{Plugin, PluginRequest};
use super::run::Passage;
use crate::audit::Warnings;
use crate::audit::{AuditAnnotations, AuditLevel};
use crate::object_model::{ObjectModel, UnknownObjects};
use crate::observe::conditions_failed;
use crate::observe::{CallStart, ConditionsEnd, Observer, StepEnd};
use crate::options::Deadline;
use crate::options::RequestOptions;
use crate::review::SharedObject;
use crate::review::Verified;
use crate::review::WebhookCaller;
use crate::stage::Stage;
use crate::trace::{Action, Record, Step};
use billhook::webhook::{
    AdmissionAttributes, CelConditions, CompiledWebhook, ConditionInput, ConfigurationKind,
    Decision, DecisionReason, EquivalentResources, Match, MatchConditions, MatchContext,
    NamespaceLabels, Namespaces, WebhookConfiguration, WebhookSet,
};
use billhook_apimachinery::Status;

/// An admission chain: plugins of the same process and webhooks, through which requests go.
///
/// It knows nothing of the objects themselves but what its [`ObjectModel`] tells; the
/// [`Admission`](crate::Admission) of a definition puts decoding before it and storage behind it.
///
/// A chain does not change; where configurations come and go, a clone gets the new ones, and shares
/// the caller with its connections, plugins and everything else (DI-08):
///
/// ```
/// use billhook_admission::{Chain, RequestOptions, Unreachable};
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
/// let options = RequestOptions::default();
/// let chain = Chain::new(Unreachable);
/// let outcome = chain.run_blocking(node(), &options, |_, _| Ok(()));
/// assert!(outcome.result.is_ok());
///
/// let chain = chain.clone().webhooks(&[configuration]);
/// let outcome = chain.run_blocking(node(), &options, |_, _| Ok(()));
/// assert_eq!(
///     outcome.result.unwrap_err().to_string(),
///     "Internal error occurred: failed calling webhook \"nodes.example.com\": could not get REST \
///      client: no webhook can be reached",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Chain {
    pub(crate) caller: Arc<dyn WebhookCaller>,
    pub(crate) model: Arc<dyn ObjectModel>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) uids: Arc<dyn Fn() -> String + Send + Sync>,
    pub(crate) results_in_hook_order: bool,
    pub(crate) reads_yaml: bool,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// In order; the webhook stages stand between those before and those behind them.
    plugins: Vec<Arc<dyn Plugin>>,
    late_plugins: Vec<Arc<dyn Plugin>>,
    mutating: Option<WebhookSet>,
    validating: Option<WebhookSet>,
    namespaces: Arc<dyn Namespaces + Send + Sync>,
    equivalents: EquivalentResources,
    conditions: Arc<dyn MatchConditions + Send + Sync>,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

struct Unobserved;

impl Observer for Unobserved {}

/// What became of a request in the chain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChainOutcome {
    /// The request with its final object, or the status the client gets.
    pub result: Result<AdmissionAttributes, Status>,
    /// The warnings for the client.
    pub warnings: Warnings,
    /// What goes to the audit log.
    pub annotations: AuditAnnotations,
    /// What was done, if a trace was asked for.
    pub steps: Vec<Step>,
    /// All errors of the validating webhooks, of which the client gets the first (DI-66).
    pub validating_errors: Vec<Status>,
    /// The mutating webhooks that are not idempotent, if that was to be checked.
    pub findings: Vec<IdempotenceFinding>,
}

impl Chain {
    /// A chain without webhooks and plugins, which reaches webhooks by a caller.
    pub fn new(caller: impl WebhookCaller + 'static) -> Self {
        Chain {
            caller: Arc::new(caller),
            model: Arc::new(UnknownObjects),
            observer: Arc::new(Unobserved),
            uids: Arc::new(|| uuid::Uuid::new_v4().to_string()),
            results_in_hook_order: false,
            reads_yaml: false,
            clock: Arc::new(Instant::now),
            plugins: Vec::new(),
            late_plugins: Vec::new(),
            mutating: None,
            validating: None,
            namespaces: Arc::new(BTreeMap::<String, NamespaceLabels>::new()),
            equivalents: EquivalentResources::new(),
            conditions: Arc::new(CelConditions::new()),
        }
    }

    /// The chain with the webhooks of both stages; those it had are replaced.
    #[must_use]
    pub fn webhooks(mut self, configurations: &[WebhookConfiguration]) -> Self {
        let set = |kind| WebhookSet::new(kind, configurations.iter().cloned());
        self.mutating = Some(set(ConfigurationKind::Mutating));
        self.validating = Some(set(ConfigurationKind::Validating));
        self
    }

    /// The chain that reads answers in YAML too, as a server does; by default they must be JSON
    /// (AR-51).
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

    /// The chain with one more plugin behind the webhooks, such as a quota.
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

    /// The chain with the namespaces that there are; none by default.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl Namespaces + Send + Sync + 'static) -> Self {
        self.namespaces = Arc::new(namespaces);
        self
    }

    /// The chain with the resources that are equivalent.
    #[must_use]
    pub fn equivalents(mut self, equivalents: EquivalentResources) -> Self {
        self.equivalents = equivalents;
        self
    }

    /// The chain with another evaluator of match conditions than one without an authorizer.
    #[must_use]
    pub fn conditions(mut self, conditions: impl MatchConditions + Send + Sync + 'static) -> Self {
        self.conditions = Arc::new(conditions);
        self
    }

    /// The chain with somebody who watches.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
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

    /// Takes a request through both stages. Between them `prepare` finishes the object: it may
    /// generate a name, set what the server sets, and validate.
    pub async fn run(
        &self,
        mut request: AdmissionAttributes,
        options: &RequestOptions,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status> + Send,
    ) -> ChainOutcome {
        let mut passage = Passage::new(self, options);
        let result = passage.through(&mut request, prepare).await;
        let (record, validating_errors) = passage.finish();
        let Record { warnings, annotations, steps, findings, .. } = record;
        let result = result.map(|()| request);
        ChainOutcome { result, warnings, annotations, steps, validating_errors, findings }
    }

    pub(crate) fn deadline<'d>(&'d self, options: &'d RequestOptions) -> Deadline<'d> {
        let cancellation = &options.cancellation;
        Deadline { at: options.deadline, clock: &*self.clock, cancellation }
    }

    pub(crate) fn stage_finished(
        &self,
        stage: Stage,
        request: &AdmissionAttributes,
        deadline: Deadline<'_>,
        began: Instant,
        rejected: bool,
    ) {
        let took = deadline.now().saturating_duration_since(began);
        let end = StepEnd { stage, operation: request.operation, took, rejected };
        self.observer.stage_finished(&end);
    }

    /// All that may change the object, and once more if a webhook did (DI-40).
    pub(crate) async fn mutating_stage(
        &self,
        request: &mut AdmissionAttributes,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Status> {
        let mut reinvocation = Reinvocation::default();
        self.mutating_chain(request, &mut reinvocation, deadline, record).await?;
        if reinvocation.is_requested {
            reinvocation.is_repetition = true;
            self.mutating_chain(request, &mut reinvocation, deadline, record).await?;
        }
        Ok(())
    }

    async fn mutating_chain(
        &self,
        request: &mut AdmissionAttributes,
        reinvocation: &mut Reinvocation,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Status> {
        for plugin in &self.plugins {
            self.run_plugin(
                &**plugin,
                Stage::Mutating,
                request,
                reinvocation.round(),
                deadline,
                record,
            )?;
        }
        let began = deadline.now();
        let result = self.mutating_webhooks(request, reinvocation, deadline, record).await;
        self.webhooks_finished(Stage::Mutating, request, deadline, began, result.is_err());
        result?;
        for plugin in &self.late_plugins {
            self.run_plugin(
                &**plugin,
                Stage::Mutating,
                request,
                reinvocation.round(),
                deadline,
                record,
            )?;
        }
        Ok(())
    }

    pub(crate) async fn validating_stage(
        &self,
        request: &mut AdmissionAttributes,
        deadline: Deadline<'_>,
        record: &mut Record,
        errors: &mut Vec<Status>,
    ) -> Result<(), Status> {
        for plugin in &self.plugins {
            self.run_plugin(&**plugin, Stage::Validating, request, 0, deadline, record)?;
        }
        let began = deadline.now();
        let result = self.validating_webhooks(request, deadline, record).await;
        self.webhooks_finished(Stage::Validating, request, deadline, began, result.is_err());
        if let Err(found) = result {
            errors.extend(found);
            if let Some(first) = errors.first() {
                return Err(first.clone());
            }
        }
        for plugin in &self.late_plugins {
            self.run_plugin(&**plugin, Stage::Validating, request, 0, deadline, record)?;
        }
        Ok(())
    }

    fn run_plugin(
        &self,
        plugin: &dyn Plugin,
        stage: Stage,
        request: &mut AdmissionAttributes,
        round: u8,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Status> {
        if !plugin.has_stage(stage) || !plugin.handles(request.operation) {
            return Ok(());
        }
        let began = deadline.now();
        let mut seen = PluginRequest {
            attributes: request,
            changed: None,
            is_reinvocation: round > 0,
            warnings: &mut record.warnings,
            annotations: &mut record.annotations,
        };
        let result = match stage {
            Stage::Mutating => plugin.mutate(&mut seen),
            Stage::Validating => plugin.validate(&mut seen),
        };
        let changed = seen.changed.filter(|_| stage == Stage::Mutating);
        let took = deadline.now().saturating_duration_since(began);
        let end = StepEnd { stage, operation: request.operation, took, rejected: result.is_err() };
        self.observer.plugin_finished(plugin.name(), &end);
        let error = result.as_ref().err().map(|status| status.message.clone());
        let action = Action::Plugin { name: plugin.name().to_owned(), stage, round, error };
        record.step_with(
            action,
            took,
            request.object.as_ref().filter(|_| changed.is_some()),
            changed.as_ref(),
        );
        if changed.is_some() {
            request.object = changed;
        }
        result
    }

    /// [`Chain::run`] for callers of webhooks that never wait for anything, such as webhooks in
    /// the same process. It blocks the thread.
    pub fn run_blocking(
        &self,
        request: AdmissionAttributes,
        options: &RequestOptions,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status> + Send,
    ) -> ChainOutcome {
        crate::futures::block_on(self.run(request, options, prepare))
    }

    /// The webhooks of a stage that may be called, with their positions; all of them if nothing
    /// is to be left unsaid.
    pub(crate) fn candidates(
        &self,
        stage: Stage,
        request: &AdmissionAttributes,
        all: bool,
    ) -> Vec<(usize, &CompiledWebhook)> {
        let set = self.webhooks_of(stage).filter(|_| !request.is_exempt());
        let Some(set) = set else { return Vec::new() };
        if all {
            return set.hooks().iter().enumerate().collect();
        }
        let positions = set.candidates(request, &self.equivalents);
        let hook = |position: usize| Some((position, set.hooks().get(position)?));
        positions.into_iter().filter_map(hook).collect()
    }

    /// Whether a webhook is called for a request, with the objects that `convert` gives for its
    /// match conditions; the reason if it is not (WM-05, WM-71).
    pub(crate) fn decide(
        &self,
        hook: &CompiledWebhook,
        request: &AdmissionAttributes,
        stage: Stage,
        convert: impl FnOnce(&Match) -> Result<(Option<SharedObject>, Option<SharedObject>), Status>,
    ) -> Result<Result<Match, DecisionReason>, Status> {
        let context = MatchContext::new(&*self.namespaces, &self.equivalents);
        let (configuration, operation) = (hook.configuration(), request.operation);
        let start = CallStart { hook: hook.name(), configuration, stage, operation };
        let mut decision = hook.decide(request, &context);
        if let Decision::NotEvaluated(matched) = decision {
            let (object, old_object) = convert(&matched)?;
            let input = ConditionInput::new(request, &matched).converted(
                object.as_ref().map(|object| &***object),
                old_object.as_ref().map(|object| &***object),
            );
            let conditions = Remembering::new(&*self.conditions);
            let began = (self.clock)();
            decision = hook.decide_conditions(&conditions, &input);
            let took = (self.clock)().saturating_duration_since(began);
            if let Some(results) = conditions.into_results() {
                let results = results.as_deref().map_err(String::as_str);
                self.observer.conditions_evaluated(&ConditionsEnd { call: start, took, results });
            }
        }
        match decision {
            Decision::Called(matched) | Decision::NotEvaluated(matched) => Ok(Ok(matched)),
            Decision::Rejected(reason, status) => {
                if reason == DecisionReason::MatchConditionError {
                    conditions_failed(hook, operation, &status.message);
                }
                Err(status)
            }
            Decision::Skipped(reason) => {
                if matches!(
                    reason,
                    DecisionReason::MatchConditionFalse
                        | DecisionReason::MatchConditionErrorIgnored
                ) {
                    self.observer.excluded_by_conditions(&start);
                }
                Ok(Err(reason))
            }
        }
    }

    /// The audit annotations and warnings of an answer, whether it allows or denies (AR-93).
    pub(crate) fn note_answer(
        &self,
        hook: &CompiledWebhook,
        answer: &Verified,
        record: &mut Record,
    ) {
        for (key, value) in &answer.audit_annotations {
            let key = format!("{}/{key}", hook.name());
            record.annotations.add(&key, value, AuditLevel::Metadata);
        }
        for warning in &answer.warnings {
            record.warnings.add(warning);
        }
    }

    /// The webhooks of a stage are one plugin of the server (OB-11).
    fn webhooks_finished(
        &self,
        stage: Stage,
        request: &AdmissionAttributes,
        deadline: Deadline<'_>,
        began: Instant,
        rejected: bool,
    ) {
        if self.webhooks_of(stage).is_some() {
            let took = deadline.now().saturating_duration_since(began);
            let end = StepEnd { stage, operation: request.operation, took, rejected };
            self.observer.plugin_finished(stage.plugin_name(), &end);
        }
    }

    fn webhooks_of(&self, stage: Stage) -> Option<&WebhookSet> {
        match stage {
            Stage::Mutating => self.mutating.as_ref(),
            Stage::Validating => self.validating.as_ref(),
        }
    }
}
