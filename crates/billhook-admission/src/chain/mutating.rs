//! The webhooks of the mutating stage, one after the other (DI-10 to DI-15, DI-26 to DI-34), and
//! what is remembered for the repetition (DI-40 to DI-46).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::value::DeepValue;

use super::builder::Chain;
use super::call::{Call, HookError};
use super::failure::Failure;
use crate::audit::AuditLevel;
use crate::object_model::{State, mutating_conversion_failed};
use crate::object_model::{check_patched, semantically_equal};
use crate::observe::{CallEnd, CallOutcome, CallStart};
use crate::observe::{CallSpan, call_ended};
use crate::options::Deadline;
use crate::patch::JsonPatch;
use crate::review::SharedObject;
use crate::review::Verified;
use crate::stage::Stage;
use crate::trace::{Action, Record};
use billhook::webhook::{AdmissionAttributes, CompiledWebhook, DecisionReason, Match};
use billhook_apimachinery::Status;

/// What one mutating pass tells the next (section 6 of the rules).
#[derive(Debug, Default)]
pub(crate) struct Reinvocation {
    /// Whether a webhook changed the object.
    pub(crate) is_requested: bool,
    /// The pass is the repetition.
    pub(crate) is_repetition: bool,
    previously_invoked: BTreeSet<String>,
    reinvoke: BTreeSet<String>,
    last_output: Option<DeepValue>,
}

impl Reinvocation {
    pub(crate) fn round(&self) -> u8 {
        u8::from(self.is_repetition)
    }

    /// The webhook stage of the repetition begins (DI-41).
    fn start_repetition(&mut self, object: Option<&DeepValue>) {
        let is_same = match (object, &self.last_output) {
            (Some(object), Some(last)) => semantically_equal(object, last),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.reinvoke.append(&mut self.previously_invoked);
        }
    }

    /// A webhook changed the object (DI-43).
    fn note_change(&mut self) {
        self.reinvoke.append(&mut self.previously_invoked);
        self.is_requested = true;
    }
}

/// What a webhook did to the object.
#[derive(Debug, Default)]
struct Applied {
    /// Whether the object differs from before (DI-32).
    changed: bool,
    /// The patch, if one was applied.
    patch: Option<JsonPatch>,
}

impl Chain {
    /// Runs the mutating webhooks over a request (DI-10 to DI-15).
    pub(crate) async fn mutating_webhooks(
        &self,
        request: &mut AdmissionAttributes,
        reinvocation: &mut Reinvocation,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Status> {
        if reinvocation.is_repetition {
            reinvocation.start_repetition(request.object.as_ref());
        }
        let result = self.mutating_pass(request, reinvocation, deadline, record).await;
        reinvocation.last_output = request.object.clone();
        result
    }

    async fn mutating_pass(
        &self,
        request: &mut AdmissionAttributes,
        reinvocation: &mut Reinvocation,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Status> {
        let candidates = self.candidates(Stage::Mutating, request, record.is_tracing);
        if candidates.is_empty() {
            return Ok(());
        }
        // What webhooks are matched against: the request with the object as it is now.
        let mut view = request.clone();
        let options = request.options.clone().map(Arc::new);
        let mut state = State::new(request, &*self.model);
        let mut seen = state.revision();
        for (index, hook) in candidates {
            let round = reinvocation.round();
            let skipped = |reason| Action::skipped(hook, Stage::Mutating, round, reason);
            let matched = match self.decide_mutating(hook, &view, &mut state)? {
                Ok(matched) => matched,
                Err(reason) => {
                    record.step(skipped(reason), Duration::ZERO);
                    continue;
                }
            };
            if reinvocation.is_repetition && !reinvocation.reinvoke.contains(hook.key()) {
                record.step(skipped(DecisionReason::ReinvocationNotNeeded), Duration::ZERO);
                continue;
            }
            let place = Place { hook, index, round, options: options.clone() };
            let changed =
                self.call_mutating(&place, &matched, &mut state, deadline, record).await?;
            if record.checks_idempotence
                && changed.is_some()
                && let Ok(versioned) = state.bring_to(&matched.kind)
                && versioned.object.is_some()
            {
                let versioned = versioned.clone();
                let request = &*state.request;
                let check = self.check_idempotence(hook, &matched, request, versioned, deadline);
                record.findings.extend(check.await);
            }
            if changed == Some(true) {
                reinvocation.note_change();
            }
            if let Some(object) = state.current()
                && state.revision() != seen
            {
                view.object = Some(object.clone());
                seen = state.revision();
            }
            if hook.webhook().reinvocation_policy.as_deref() == Some("IfNeeded") {
                reinvocation.previously_invoked.insert(hook.key().to_owned());
            }
        }
        state.write_back().map_err(|error| Status::internal_error(&error))
    }

    /// Whether a webhook is called for the object as it is now; the reason if it is not.
    fn decide_mutating(
        &self,
        hook: &CompiledWebhook,
        view: &AdmissionAttributes,
        state: &mut State<'_>,
    ) -> Result<Result<Match, DecisionReason>, Status> {
        self.decide(hook, view, Stage::Mutating, |matched| {
            let versioned =
                state.bring_to(&matched.kind).map_err(|e| mutating_conversion_failed(&e))?;
            Ok((versioned.object.clone(), versioned.old_object.clone()))
        })
    }

    /// Calls a webhook and applies its patch. Gives whether the object changed; nothing if the
    /// call failed, which is ignored.
    async fn call_mutating(
        &self,
        place: &Place<'_>,
        matched: &Match,
        state: &mut State<'_>,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<Option<bool>, Status> {
        let hook = place.hook;
        let versioned =
            state.bring_to(&matched.kind).map_err(|error| mutating_conversion_failed(&error))?;
        let (object, old_object) = (versioned.object.clone(), versioned.old_object.clone());
        let start = CallStart {
            hook: hook.name(),
            configuration: hook.configuration(),
            stage: Stage::Mutating,
            operation: state.request.operation,
        };
        self.observer.call_started(&start);
        let began = deadline.now();
        let call = Call {
            stage: Stage::Mutating,
            hook,
            matched,
            request: state.request,
            object: object.clone(),
            old_object,
            options: place.options.clone(),
            remaining: deadline.remaining(),
            cancellation: deadline.cancellation,
        };
        let uid = (self.uids)();
        let span = CallSpan::new(&call, &uid);
        let result = match span.run(call.exchange(self, uid)).await {
            Ok(answer) => {
                span.completed();
                self.use_answer(hook, answer, matched, state, record)
            }
            Err(error) => Err(error),
        };
        if result.as_ref().is_ok_and(|applied| applied.patch.is_some()) {
            span.patched();
        }
        let took = deadline.now().saturating_duration_since(began);
        place.annotate(&result, record);
        let failure = Failure::of(hook, result.as_ref().err());
        call_ended(hook, start.stage, start.operation, &failure, took);
        self.observer.call_finished(&CallEnd {
            call: start,
            took,
            outcome: failure.outcome,
            code: failure.code,
            is_cancelled: failure.is_cancelled,
        });
        let action = Action::called(hook, Stage::Mutating, place.round, failure.result);
        record.step_with(action, took, object.as_deref(), state.current());
        match failure.status {
            // A failed call that is ignored does not help if the time is over (DI-13).
            None if failure.outcome == CallOutcome::FailedOpen => {
                if !failure.is_cancelled {
                    let key = place.key("failed-open.mutation.webhook.admission.k8s.io");
                    record.annotations.add(&key, hook.name(), AuditLevel::Metadata);
                }
                if deadline.is_over() { Err(Status::timeout()) } else { Ok(None) }
            }
            None => Ok(result.ok().map(|applied| applied.changed)),
            Some(status) => Err(status),
        }
    }

    /// Steps 7 to 11 of DI-20.
    fn use_answer(
        &self,
        hook: &CompiledWebhook,
        answer: Verified,
        matched: &Match,
        state: &mut State<'_>,
        record: &mut Record,
    ) -> Result<Applied, HookError> {
        self.note_answer(hook, &answer, record);
        if !answer.allowed {
            return Err(HookError::Rejected(super::status::denied(hook.name(), answer.status)));
        }
        if answer.patch.is_empty() {
            return Ok(Applied::default());
        }
        let patch = JsonPatch::from_slice(&answer.patch).map_err(|error| {
            HookError::unusable(format!("received undecodable patch in webhook response: {error}"))
        })?;
        if patch.is_empty() {
            return Ok(Applied::default());
        }
        let Some(before) = state.current() else {
            return Err(HookError::internal(&format!(
                "admission webhook \"{}\" attempted to modify the object, which is not supported \
                 for this operation",
                hook.name()
            )));
        };
        if answer.patch_type != "JSONPatch" {
            let reason = format!("unsupported patch type \"{}\"", answer.patch_type);
            let code = super::status::denied(hook.name(), answer.status).code;
            return Err(HookError::Calling { reason, code });
        }
        let patched =
            patch.apply(before).map_err(|error| HookError::internal(&error.to_string()))?;
        let mut patched = DeepValue::from(patched);
        check_patched(&patched, &matched.kind).map_err(|error| HookError::internal(&error))?;
        let changed = !semantically_equal(before, &patched);
        let defaulted = self.model.default(&mut patched, &matched.kind);
        let object: SharedObject = Arc::new(patched);
        state.set(object);
        defaulted.map_err(|error| HookError::internal(&error))?;
        Ok(Applied { changed, patch: Some(patch) })
    }
}

/// Where a webhook stands in a pass.
struct Place<'p> {
    hook: &'p CompiledWebhook,
    index: usize,
    round: u8,
    options: Option<SharedObject>,
}

impl Place<'_> {
    fn key(&self, prefix: &str) -> String {
        format!("{prefix}/round_{}_index_{}", self.round, self.index)
    }

    /// The annotations of a call, whatever became of it (OB-31, OB-32).
    fn annotate(&self, result: &Result<Applied, HookError>, record: &mut Record) {
        let applied = result.as_ref().ok();
        if let Some(patch) = applied.and_then(|applied| applied.patch.as_ref()) {
            let key = self.key("patch.webhook.admission.k8s.io");
            let value = self.patch_annotation(patch);
            record.annotations.add(&key, &value, AuditLevel::Request);
        }
        let mutated = applied.is_some_and(|applied| applied.changed);
        let value = format!("{},\"mutated\":{mutated}}}", self.names());
        let key = self.key("mutation.webhook.admission.k8s.io");
        record.annotations.add(&key, &value, AuditLevel::Metadata);
    }

    /// The beginning of a JSON object that says who it is about.
    fn names(&self) -> String {
        let text = |text: &str| billhook_apimachinery::print::compact_json(&text.into());
        format!(
            "{{\"configuration\":{},\"webhook\":{}",
            text(self.hook.configuration()),
            text(self.hook.name())
        )
    }

    fn patch_annotation(&self, patch: &JsonPatch) -> String {
        let operations: Vec<String> =
            patch.operations().map(billhook_apimachinery::print::compact_json).collect();
        let operations = operations.join(",");
        format!("{},\"patch\":[{operations}],\"patchType\":\"JSONPatch\"}}", self.names())
    }
}
