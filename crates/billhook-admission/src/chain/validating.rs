//! The webhooks of the validating stage, all at the same time (DI-60 to DI-69).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::builder::Chain;
use super::call::{Call, HookError};
use super::failure::Failure;
use crate::audit::AuditLevel;
use crate::futures::BoxFuture;
use crate::futures::Running;
use crate::object_model::Versioned;
use crate::observe::{CallEnd, CallOutcome, CallStart};
use crate::observe::{CallSpan, call_ended};
use crate::options::Deadline;
use crate::review::Verified;
use crate::stage::Stage;
use crate::trace::{Action, Record};
use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Match};
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::Status;

/// A webhook that is to be called.
struct Matched<'h> {
    hook: &'h CompiledWebhook,
    matched: Match,
}

/// What came of a call, and how long it took.
type Called = (Result<Verified, HookError>, Duration);

/// A call that is over.
struct End {
    /// The answer, if there is a usable one.
    answer: Option<Verified>,
    failure: Failure,
    took: Duration,
}

impl Chain {
    /// Runs the validating webhooks over the final object. The errors are in the order they
    /// arrived; the first one is the request's.
    pub(crate) async fn validating_webhooks(
        &self,
        request: &AdmissionAttributes,
        deadline: Deadline<'_>,
        record: &mut Record,
    ) -> Result<(), Vec<Status>> {
        let mut versions = BTreeMap::new();
        let matched = self.match_validating(request, &mut versions, record).map_err(|e| vec![e])?;
        if matched.is_empty() {
            return Ok(());
        }
        if deadline.is_over() {
            return Err(vec![Status::timeout()]);
        }
        let options = request.options.clone().map(Arc::new);
        let mut calls: Vec<BoxFuture<'_, Called>> = Vec::with_capacity(matched.len());
        for each in &matched {
            let versioned = versions.get(&each.matched.kind);
            let call = Call {
                stage: Stage::Validating,
                hook: each.hook,
                matched: &each.matched,
                request,
                object: versioned.and_then(|versioned| versioned.object.clone()),
                old_object: versioned.and_then(|versioned| versioned.old_object.clone()),
                options: options.clone(),
                remaining: deadline.remaining(),
                cancellation: deadline.cancellation,
            };
            self.observer.call_started(&each.start(request));
            let uid = (self.uids)();
            calls.push(Box::pin(async move {
                let began = deadline.now();
                let span = CallSpan::new(&call, &uid);
                let result = span.run(call.exchange(self, uid)).await;
                if result.is_ok() {
                    span.completed();
                }
                (result, deadline.now().saturating_duration_since(began))
            }));
        }
        let mut running = Running::new(calls);
        let mut ended: Vec<(usize, &Matched<'_>, End)> = Vec::with_capacity(matched.len());
        while let Some((position, output)) = running.next().await {
            let Some(each) = matched.get(position) else { continue };
            let (result, took) =
                output.unwrap_or_else(|panic| (Err(HookError::Panicked(panic)), Duration::ZERO));
            ended.push((position, each, self.call_ended(each, result, took, request)));
        }
        if self.results_in_hook_order {
            ended.sort_by_key(|(position, ..)| *position);
        }
        let take = |(position, each, end)| self.take_result(position, each, end, record);
        let errors: Vec<Status> = ended.into_iter().filter_map(take).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Phase 1: which webhooks are called, and the objects in all versions they want (DI-60).
    fn match_validating<'h>(
        &'h self,
        request: &AdmissionAttributes,
        versions: &mut BTreeMap<GroupVersionKind, Versioned>,
        record: &mut Record,
    ) -> Result<Vec<Matched<'h>>, Status> {
        let mut found = Vec::new();
        for (_, hook) in self.candidates(Stage::Validating, request, record.is_tracing) {
            let mut convert = |matched: &Match| -> Result<_, Status> {
                if !versions.contains_key(&matched.kind) {
                    let versioned = Versioned::of(request, &matched.kind, &*self.model)
                        .map_err(|error| Status::internal_error(&error))?;
                    versions.insert(matched.kind.clone(), versioned);
                }
                let versioned = versions.get(&matched.kind);
                Ok(versioned.map(|v| (v.object.clone(), v.old_object.clone())).unwrap_or_default())
            };
            match self.decide(hook, request, Stage::Validating, &mut convert)? {
                Ok(matched) => {
                    convert(&matched)?;
                    found.push(Matched { hook, matched });
                }
                Err(reason) => {
                    let skipped = Action::skipped(hook, Stage::Validating, 0, reason);
                    record.step(skipped, Duration::ZERO);
                }
            }
        }
        Ok(found)
    }

    /// One call is over: what it means for the request (DI-67), and who watches is told.
    fn call_ended(
        &self,
        each: &Matched<'_>,
        result: Result<Verified, HookError>,
        took: Duration,
        request: &AdmissionAttributes,
    ) -> End {
        let hook = each.hook;
        let (answer, error) = match result {
            Ok(answer) if answer.allowed => (Some(answer), None),
            Ok(mut answer) => {
                let status = super::status::denied(hook.name(), answer.status.take());
                (Some(answer), Some(HookError::Rejected(status)))
            }
            Err(error) => (None, Some(error)),
        };
        let failure = Failure::of(hook, error.as_ref());
        call_ended(hook, Stage::Validating, request.operation, &failure, took);
        self.observer.call_finished(&CallEnd {
            call: each.start(request),
            took,
            outcome: failure.outcome,
            code: failure.code,
            is_cancelled: failure.is_cancelled,
        });
        End { answer, failure, took }
    }

    /// Notes what one call left behind; the error if the request fails for it.
    fn take_result(
        &self,
        position: usize,
        each: &Matched<'_>,
        end: End,
        record: &mut Record,
    ) -> Option<Status> {
        let hook = each.hook;
        let End { answer, failure, took } = end;
        if let Some(answer) = &answer {
            self.note_answer(hook, answer, record);
        }
        if failure.outcome == CallOutcome::FailedOpen && !failure.is_cancelled {
            let key =
                format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{position}");
            record.annotations.add(&key, hook.name(), AuditLevel::Metadata);
        }
        record.step(Action::called(hook, Stage::Validating, 0, failure.result), took);
        failure.status
    }
}

impl Matched<'_> {
    fn start(&self, request: &AdmissionAttributes) -> CallStart<'_> {
        CallStart {
            hook: self.hook.name(),
            configuration: self.hook.configuration(),
            stage: Stage::Validating,
            operation: request.operation,
        }
    }
}
