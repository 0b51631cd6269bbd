//! One request on its way through a chain: the mutating stage, what is done between the stages, and
//! the validating stage, each of which may be taken again (DI-03, DI-04, DI-40, AR-31, AR-32).

use std::sync::Arc;
use std::time::Instant;

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::Status;
use billhook_policy::{Cluster, PolicyReinvocation};

use super::builder::Chain;
use super::context::Context;
use super::plugin::{Plugin, PluginRequest};
use super::reinvocation::Reinvocation;
use super::{mutating, policies, validating};
use crate::audit::{AuditAnnotations, Warnings};
use crate::futures::block_on;
use crate::observe::{StepEnd, request_ended};
use crate::options::RequestOptions;
use crate::stage::Stage;
use crate::trace::{Action, RequestOutcome};

/// The outcome of a request in a chain: the request with its final object.
pub type ChainOutcome = RequestOutcome<AdmissionAttributes>;

impl Chain {
    /// Takes a request through both stages. Between them `prepare` finishes the object: it may
    /// generate a name, set what the server sets, and validate.
    pub async fn run(
        &self,
        mut request: AdmissionAttributes,
        cluster: &dyn Cluster,
        options: &RequestOptions,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status> + Send,
    ) -> ChainOutcome {
        let mut run = Run::new(self, cluster, options);
        let result = run.through(&mut request, prepare).await;
        run.conclude(result.map(|()| request))
    }

    /// [`Chain::run`] for callers of webhooks that never wait for anything, such as webhooks in
    /// the same process. It blocks the thread.
    pub fn run_blocking(
        &self,
        request: AdmissionAttributes,
        cluster: &dyn Cluster,
        options: &RequestOptions,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status> + Send,
    ) -> ChainOutcome {
        block_on(self.run(request, cluster, options, prepare))
    }
}

/// A request on its way.
pub(crate) struct Run<'c> {
    pub(crate) context: Context<'c>,
}

/// A stage that has begun.
struct Begun {
    stage: Stage,
    at: Option<Instant>,
    /// Each stage has annotations of its own (DI-04).
    earlier: AuditAnnotations,
}

impl<'c> Run<'c> {
    pub(crate) fn new(
        chain: &'c Chain,
        cluster: &'c dyn Cluster,
        options: &'c RequestOptions,
    ) -> Self {
        Run { context: Context::new(chain, cluster, options) }
    }

    /// Whether a trace, a webhook, a policy or a plugin may read `metadata.managedFields`.
    pub(crate) fn sees_owners(&self) -> bool {
        self.context.log.is_tracing || self.context.chain.sees_owners()
    }

    async fn through(
        &mut self,
        request: &mut AdmissionAttributes,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status>,
    ) -> Result<(), Status> {
        self.mutate(request).await?;
        self.prepare(request, prepare)?;
        self.validate(request).await
    }

    /// The mutating stage, with a second round if a webhook changed the object (DI-10 to DI-49).
    pub(crate) async fn mutate(&mut self, request: &mut AdmissionAttributes) -> Result<(), Status> {
        if request.operation == Operation::Connect && request.dry_run {
            return Err(Status::bad_request("dryRun is not supported"));
        }
        let begun = self.begin(Stage::Mutating);
        let mut reinvocation = Reinvocation::default();
        let mut of_policies = PolicyReinvocation::default();
        let mut result = self.mutating_round(request, &mut reinvocation, &mut of_policies).await;
        if result.is_ok() && (reinvocation.is_requested || of_policies.is_requested()) {
            reinvocation.is_repetition = true;
            of_policies.begin_second_pass();
            result = self.mutating_round(request, &mut reinvocation, &mut of_policies).await;
        }
        self.end(begun, request.operation, result)
    }

    async fn mutating_round(
        &mut self,
        request: &mut AdmissionAttributes,
        reinvocation: &mut Reinvocation,
        of_policies: &mut PolicyReinvocation,
    ) -> Result<(), Status> {
        let (chain, round) = (self.context.chain, reinvocation.round());
        self.run_plugins(&chain.plugins, Stage::Mutating, request, round).await?;
        policies::mutate(&mut self.context, request, of_policies, round).await?;
        let began = self.context.begin();
        let result = mutating::run_webhooks(&mut self.context, request, reinvocation).await;
        self.webhooks_finished(Stage::Mutating, request.operation, began, result.is_err());
        result?;
        self.run_plugins(&chain.late_plugins, Stage::Mutating, request, round).await
    }

    /// Prepares the object between the stages and validates it (DI-03).
    pub(crate) fn prepare(
        &mut self,
        request: &mut AdmissionAttributes,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let began = self.context.begin();
        let log = &mut self.context.log;
        let before = if log.is_tracing { request.object.clone() } else { None };
        let prepared = prepare(request, &mut log.warnings);
        let took = self.context.since(began);
        if let Some(object) = &request.object {
            self.context.log.step_with(Action::Validate, took, before.as_ref(), Some(object));
        }
        prepared
    }

    /// The validating stage (DI-60 to DI-69).
    pub(crate) async fn validate(
        &mut self,
        request: &mut AdmissionAttributes,
    ) -> Result<(), Status> {
        let begun = self.begin(Stage::Validating);
        let result = self.validating_round(request).await;
        self.end(begun, request.operation, result)
    }

    async fn validating_round(&mut self, request: &mut AdmissionAttributes) -> Result<(), Status> {
        let chain = self.context.chain;
        self.run_plugins(&chain.plugins, Stage::Validating, request, 0).await?;
        policies::validate(&mut self.context, request).await?;
        let began = self.context.begin();
        let result = validating::run_webhooks(&mut self.context, request).await;
        self.webhooks_finished(Stage::Validating, request.operation, began, result.is_err());
        if let Err(found) = result {
            let errors = &mut self.context.log.validating_errors;
            errors.extend(found);
            if let Some(first) = errors.first() {
                return Err(first.clone());
            }
        }
        self.run_plugins(&chain.late_plugins, Stage::Validating, request, 0).await
    }

    fn begin(&mut self, stage: Stage) -> Begun {
        let earlier = std::mem::take(&mut self.context.log.annotations);
        Begun { stage, at: self.context.begin(), earlier }
    }

    fn end(
        &mut self,
        begun: Begun,
        operation: Operation,
        result: Result<(), Status>,
    ) -> Result<(), Status> {
        let end = self.step_end(begun.stage, operation, begun.at, result.is_err());
        self.context.chain.watch().stage_finished(&end);
        self.context.log.continue_annotations(begun.earlier);
        result
    }

    fn step_end(
        &self,
        stage: Stage,
        operation: Operation,
        began: Option<Instant>,
        rejected: bool,
    ) -> StepEnd {
        StepEnd { stage, operation, took: self.context.since(began), rejected }
    }

    /// The webhooks of a stage are one plugin of the server (OB-11).
    fn webhooks_finished(
        &self,
        stage: Stage,
        operation: Operation,
        began: Option<Instant>,
        rejected: bool,
    ) {
        if self.context.chain.webhooks_of(stage).is_some() {
            let end = self.step_end(stage, operation, began, rejected);
            self.context.chain.watch().plugin_finished(stage.plugin_name(), &end);
        }
    }

    async fn run_plugins(
        &mut self,
        plugins: &[Arc<dyn Plugin>],
        stage: Stage,
        request: &mut AdmissionAttributes,
        round: u8,
    ) -> Result<(), Status> {
        for plugin in plugins {
            if plugin.has_stage(stage) && plugin.handles(request.operation) {
                self.run_plugin(&**plugin, stage, request, round).await?;
            }
        }
        Ok(())
    }

    async fn run_plugin(
        &mut self,
        plugin: &dyn Plugin,
        stage: Stage,
        request: &mut AdmissionAttributes,
        round: u8,
    ) -> Result<(), Status> {
        let began = self.context.begin();
        let log = &mut self.context.log;
        let is_mutating = stage == Stage::Mutating;
        let mut seen = PluginRequest {
            attributes: request,
            is_changed: false,
            keeps_object: !is_mutating || log.is_tracing || plugin.sees_owners(),
            before: None,
            is_reinvocation: round > 0,
            warnings: &mut log.warnings,
            annotations: &mut log.annotations,
        };
        let mut result = match is_mutating {
            true => plugin.mutate(&mut seen),
            false => plugin.validate(&mut seen),
        };
        let (is_changed, mut before) = (seen.is_changed, seen.before);
        if is_changed && !is_mutating {
            request.object = before.take();
        }
        if !is_mutating
            && result.is_ok()
            && let Some(reservation) = plugin.reserve(request)
        {
            result = reservation.await;
        }
        let end = self.step_end(stage, request.operation, began, result.is_err());
        self.context.chain.watch().plugin_finished(plugin.name(), &end);
        let error = result.as_ref().err().map(|status| status.message.clone());
        let action = Action::Plugin { name: plugin.name().to_owned(), stage, round, error };
        let object = request.object.as_ref();
        self.context.log.step_with(action, end.took, before.as_ref(), object);
        if is_changed && is_mutating {
            self.context.is_changed = true;
            self.context.keep_replaced(before);
        }
        result
    }

    /// Ends the request.
    pub(crate) fn conclude<T>(self, result: Result<T, Status>) -> RequestOutcome<T> {
        request_ended(&self.context.log);
        self.context.log.conclude(result)
    }
}
