//! The webhooks of the mutating stage, one after the other (DI-10 to DI-15, DI-26 to DI-34).

use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, DecisionReason, Match};
use billhook_apimachinery::Status;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::semantically_equal;

use super::call::{Call, HookError};
use super::context::Context;
use super::failure::Failure;
use super::idempotence::check_idempotence;
use super::matching::{candidates, decide};
use super::reinvocation::Reinvocation;
use super::status::denied;
use billhook_policy::RequestObjects;

use crate::audit::{AuditAnnotations, AuditLevel};
use crate::edition::EDITIONS;
use crate::object_model::{State, mutating_conversion_failed, patched_kind};
use crate::observe::{CallOutcome, CallSpan, CallStart};
use crate::patch::{JsonPatch, logged};
use crate::review::Verified;
use crate::stage::Stage;
use crate::trace::Action;

const STAGE: Stage = Stage::Mutating;

/// Runs the mutating webhooks over a request (DI-10 to DI-15).
pub(super) async fn run_webhooks(
    context: &mut Context<'_>,
    request: &mut AdmissionAttributes,
    reinvocation: &mut Reinvocation,
) -> Result<(), Status> {
    reinvocation.start_round(request.object.as_ref());
    let result = run_round(context, request, reinvocation).await;
    reinvocation.end_round(request.object.as_ref());
    result
}

async fn run_round(
    context: &mut Context<'_>,
    request: &mut AdmissionAttributes,
    reinvocation: &mut Reinvocation,
) -> Result<(), Status> {
    let chain = context.chain;
    let candidates = candidates(chain, STAGE, request, context.log.is_tracing);
    if candidates.is_empty() {
        return Ok(());
    }
    // Webhooks are matched against the request with the object as it is now.
    let mut view = request.clone();
    let state = State::new(request, &*chain.model);
    let mut seen = state.revision();
    let mut round = Round { context, reinvocation, state };
    for (index, hook) in candidates {
        round.visit(hook, index, &view).await?;
        if let Some(object) = round.state.current()
            && round.state.revision() != seen
        {
            view.object = Some(object.clone());
            seen = round.state.revision();
        }
    }
    let written = round.state.write_back().await;
    let Round { context, state, .. } = round;
    context.keep_replaced(state.replaced);
    written.map_err(|error| Status::unexpected(error.to_string()))
}

/// One round of the mutating webhooks.
struct Round<'r, 'c> {
    context: &'r mut Context<'c>,
    reinvocation: &'r mut Reinvocation,
    state: State<'r>,
}

/// The effect of a webhook on the object.
#[derive(Debug, Default)]
struct Applied {
    /// Whether the object differs from before (DI-32).
    changed: bool,
    /// The text of the patch, if one was applied.
    patch: Option<Vec<u8>>,
}

impl Round<'_, '_> {
    /// Calls a webhook if it matches and is not left out.
    async fn visit(
        &mut self,
        hook: &CompiledWebhook,
        index: usize,
        view: &AdmissionAttributes,
    ) -> Result<(), Status> {
        let round = self.reinvocation.round();
        let state = &mut self.state;
        let convert = async |matched: &Match| objects(state, matched).await;
        let decided = decide(self.context, hook, view, (STAGE, round), convert).await?;
        let decided = decided.and_then(|matched| match self.reinvocation.skips(hook.key()) {
            true => Err(DecisionReason::ReinvocationNotNeeded),
            false => Ok(matched),
        });
        let matched = match decided {
            Ok(matched) => matched,
            Err(reason) => {
                let skipped = Action::skipped(hook, STAGE, round, reason);
                self.context.log.step(skipped, Duration::ZERO);
                return Ok(());
            }
        };
        let changed = self.call(&Place { hook, index, round }, &matched).await?;
        if self.context.options.check_idempotence && changed.is_some() {
            self.check_idempotence(hook, &matched).await;
        }
        if changed == Some(true) {
            self.reinvocation.note_change();
        }
        if hook.webhook().reinvocation_policy.as_deref() == Some("IfNeeded") {
            self.reinvocation.note_call(hook.key());
        }
        Ok(())
    }

    async fn check_idempotence(&mut self, hook: &CompiledWebhook, matched: &Match) {
        let Ok(objects) = self.state.bring_to(&matched.kind).await else { return };
        if objects.object.is_none() {
            return;
        }
        let request = &*self.state.request;
        let finding = check_idempotence(self.context, hook, matched, request, objects).await;
        if let Some(finding) = finding {
            self.context.log.not_idempotent(finding);
        }
    }

    /// Calls a webhook and applies its patch. Returns whether the object changed; nothing if the
    /// call failed, which is ignored.
    async fn call(&mut self, place: &Place<'_>, matched: &Match) -> Result<Option<bool>, Status> {
        let hook = place.hook;
        let (chain, deadline) = (self.context.chain, self.context.deadline);
        let objects = objects(&mut self.state, matched).await?;
        let before = objects.object.clone();
        let request = &*self.state.request;
        let start = CallStart::new(hook, STAGE, request.operation);
        chain.watch().call_started(&start);
        let began = deadline.now();
        let call = Call {
            stage: STAGE,
            hook,
            matched,
            request,
            objects,
            remaining: deadline.remaining(),
            cancellation: deadline.cancellation,
        };
        let uid = (chain.uids)();
        let span = CallSpan::new(STAGE, hook, request, &uid);
        let result = match span.run(call.exchange(chain, uid)).await {
            Ok(answer) => {
                span.completed();
                self.use_answer(hook, answer, matched)
            }
            Err(error) => Err(error),
        };
        if result.as_ref().is_ok_and(|applied| applied.patch.is_some()) {
            span.patched();
        }
        let took = deadline.since(began);
        let failure = Failure::of(hook, result.as_ref().err());
        place.annotate(&result, &failure, &mut self.context.log.annotations);
        failure.report(chain, start, took);
        let action = Action::called(hook, STAGE, place.round, failure.result);
        self.context.log.step_with(action, took, before.as_ref(), self.state.current());
        match failure.status {
            Some(status) => Err(status),
            // A failed call that is ignored does not help if the time is over (DI-13).
            None if failure.outcome == CallOutcome::FailedOpen && deadline.is_over() => {
                Err(Status::timeout())
            }
            None => Ok(result.ok().map(|applied| applied.changed)),
        }
    }

    /// Steps 7 to 11 of DI-20.
    fn use_answer(
        &mut self,
        hook: &CompiledWebhook,
        answer: Verified,
        matched: &Match,
    ) -> Result<Applied, HookError> {
        self.context.note_answer(hook, &answer);
        if !answer.allowed {
            return Err(HookError::Rejected(denied(hook.name(), answer.status)));
        }
        if answer.patch.is_empty() {
            return Ok(Applied::default());
        }
        let patch = JsonPatch::from_slice(&answer.patch)
            .map_err(|error| self.undecodable_patch(&error.to_string()))?;
        if patch.is_empty() {
            return Ok(Applied::default());
        }
        let Some(before) = self.state.current() else {
            return Err(HookError::internal(&format!(
                "admission webhook \"{}\" attempted to modify the object, which is not supported \
                 for this operation",
                hook.name()
            )));
        };
        if answer.patch_type != "JSONPatch" {
            let reason = format!("unsupported patch type \"{}\"", answer.patch_type);
            let code = denied(hook.name(), answer.status).code;
            return Err(HookError::Calling { reason, code });
        }
        let mut patched =
            patch.apply(before).map_err(|error| HookError::internal(&error.to_string()))?;
        let model = &*self.context.chain.model;
        let kind = patched_kind(&mut patched, &matched.kind, model);
        let kind = kind.map_err(|error| HookError::internal(&error))?;
        let changed = !semantically_equal(before, &patched);
        let defaulted = model.apply_defaults(&mut patched, &kind);
        self.state.set(patched);
        defaulted.map_err(|error| HookError::internal(&error.to_string()))?;
        Ok(Applied { changed, patch: Some(answer.patch) })
    }

    /// DI-26, KV-92.
    fn undecodable_patch(&self, error: &str) -> HookError {
        if !EDITIONS.of(self.context.chain.kubernetes).undecodable_patch_is_failed_call {
            return HookError::internal(error);
        }
        HookError::unusable(format!("received undecodable patch in webhook response: {error}"))
    }
}

/// The objects of a request in the version that a webhook matched.
async fn objects(state: &mut State<'_>, matched: &Match) -> Result<RequestObjects, Status> {
    state.bring_to(&matched.kind).await.map_err(|error| mutating_conversion_failed(&error))
}

/// Where a webhook stands in a round.
struct Place<'p> {
    hook: &'p CompiledWebhook,
    index: usize,
    round: u8,
}

impl Place<'_> {
    fn key(&self, prefix: &str) -> String {
        format!("{prefix}/round_{}_index_{}", self.round, self.index)
    }

    /// Adds the annotations of a call, whatever became of it (OB-31, OB-32).
    fn annotate(
        &self,
        result: &Result<Applied, HookError>,
        failure: &Failure,
        annotations: &mut AuditAnnotations,
    ) {
        let applied = result.as_ref().ok();
        if let Some(patch) = applied.and_then(|applied| applied.patch.as_ref()) {
            let key = self.key("patch.webhook.admission.k8s.io");
            annotations.add(&key, &self.patch_annotation(patch), AuditLevel::Request);
        }
        let mutated = applied.is_some_and(|applied| applied.changed);
        let value = format!("{},\"mutated\":{mutated}}}", self.names());
        let key = self.key("mutation.webhook.admission.k8s.io");
        annotations.add(&key, &value, AuditLevel::Metadata);
        if failure.outcome == CallOutcome::FailedOpen && !failure.is_cancelled {
            let key = self.key("failed-open.mutation.webhook.admission.k8s.io");
            annotations.add(&key, self.hook.name(), AuditLevel::Metadata);
        }
    }

    /// The beginning of a JSON object with the names of the webhook and its configuration.
    fn names(&self) -> String {
        let text = |text: &str| compact_json(&text.into());
        let (configuration, webhook) = (self.hook.configuration(), self.hook.name());
        format!("{{\"configuration\":{},\"webhook\":{}", text(configuration), text(webhook))
    }

    fn patch_annotation(&self, patch: &[u8]) -> String {
        let operations = logged(patch);
        format!("{},\"patch\":{operations},\"patchType\":\"JSONPatch\"}}", self.names())
    }
}
