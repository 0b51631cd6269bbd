//! The webhooks of the validating stage, all at the same time (DI-60 to DI-69).

use std::collections::BTreeMap;
use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Match};
use billhook_apimachinery::{GroupVersionKind, Status};

use super::call::{Call, HookError};
use super::context::Context;
use super::failure::Failure;
use super::matching::{candidates, decide};
use super::status::denied;
use billhook_policy::{BoxFuture, ObjectModel, RequestObjects};

use crate::audit::AuditLevel;
use crate::futures::Running;
use crate::object_model::Versioned;
use crate::observe::{CallOutcome, CallSpan, CallStart};
use crate::review::Verified;
use crate::stage::Stage;
use crate::trace::Action;

const STAGE: Stage = Stage::Validating;

/// A webhook that is to be called, with the objects in the version it matched.
struct Matched<'h> {
    hook: &'h CompiledWebhook,
    matched: Match,
    objects: RequestObjects,
}

/// The result of a call, and how long it took.
type Called = (Result<Verified, HookError>, Duration);

/// A call that is over.
struct End {
    /// The answer, if there is a usable one.
    answer: Option<Verified>,
    failure: Failure,
    took: Duration,
}

/// Runs the validating webhooks over the final object. The errors are in the order they arrived;
/// the first one is the request's.
pub(super) async fn run_webhooks(
    context: &mut Context<'_>,
    request: &AdmissionAttributes,
) -> Result<(), Vec<Status>> {
    let matched = match_webhooks(context, request).await.map_err(|error| vec![error])?;
    if matched.is_empty() {
        return Ok(());
    }
    if context.deadline.is_over() {
        return Err(vec![Status::timeout()]);
    }
    let mut running = Running::new(start_calls(context, request, &matched));
    let mut ended: Vec<(usize, &Matched<'_>, End)> = Vec::with_capacity(matched.len());
    while let Some((position, output)) = running.next().await {
        let Some(each) = matched.get(position) else { continue };
        let (result, took) =
            output.unwrap_or_else(|panic| (Err(HookError::Panicked(panic)), Duration::ZERO));
        let end = End::of(each.hook, result, took);
        end.failure.report(context.chain, each.start(request), took);
        ended.push((position, each, end));
    }
    if context.chain.results_in_hook_order {
        ended.sort_by_key(|(position, ..)| *position);
    }
    let take = |(position, each, end)| take_result(context, position, each, end);
    let errors: Vec<Status> = ended.into_iter().filter_map(take).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Phase 1: decides which webhooks are called, and converts the objects to all versions they want
/// (DI-60).
async fn match_webhooks<'h>(
    context: &mut Context<'h>,
    request: &AdmissionAttributes,
) -> Result<Vec<Matched<'h>>, Status> {
    let chain = context.chain;
    let mut versions: BTreeMap<GroupVersionKind, RequestObjects> = BTreeMap::new();
    let mut found = Vec::new();
    for (_, hook) in candidates(chain, STAGE, request, context.log.is_tracing) {
        let convert = async |matched: &Match| {
            convert_once(&mut versions, request, matched, &*chain.model).await
        };
        match decide(context, hook, request, (STAGE, 0), convert).await? {
            Ok(matched) => {
                let objects = convert_once(&mut versions, request, &matched, &*chain.model).await?;
                found.push(Matched { hook, matched, objects });
            }
            Err(reason) => {
                let skipped = Action::skipped(hook, STAGE, 0, reason);
                context.log.step(skipped, Duration::ZERO);
            }
        }
    }
    Ok(found)
}

/// The objects in the version that a webhook matched, converted once for each version.
async fn convert_once(
    versions: &mut BTreeMap<GroupVersionKind, RequestObjects>,
    request: &AdmissionAttributes,
    matched: &Match,
    model: &dyn ObjectModel,
) -> Result<RequestObjects, Status> {
    if let Some(objects) = versions.get(&matched.kind) {
        return Ok(objects.clone());
    }
    let versioned = Versioned::of(request, &matched.kind, model)
        .await
        .map_err(|error| Status::internal_error(&error.to_string()))?;
    versions.insert(versioned.kind, versioned.objects.clone());
    Ok(versioned.objects)
}

/// Phase 2: the calls, which run when they are polled.
fn start_calls<'c>(
    context: &Context<'c>,
    request: &'c AdmissionAttributes,
    matched: &'c [Matched<'c>],
) -> Vec<BoxFuture<'c, Called>> {
    let (chain, deadline) = (context.chain, context.deadline);
    let start = |each: &'c Matched<'c>| -> BoxFuture<'c, Called> {
        let call = Call {
            stage: STAGE,
            hook: each.hook,
            matched: &each.matched,
            request,
            objects: each.objects.clone(),
            remaining: deadline.remaining(),
            cancellation: deadline.cancellation,
        };
        chain.watch().call_started(&each.start(request));
        let uid = (chain.uids)();
        Box::pin(async move {
            let began = deadline.now();
            let span = CallSpan::new(STAGE, each.hook, request, &uid);
            let result = span.run(call.exchange(chain, uid)).await;
            if result.is_ok() {
                span.completed();
            }
            (result, deadline.since(began))
        })
    };
    matched.iter().map(start).collect()
}

/// Phase 3: logs the result of a call; the error if the request fails for it.
fn take_result(
    context: &mut Context<'_>,
    position: usize,
    each: &Matched<'_>,
    end: End,
) -> Option<Status> {
    let hook = each.hook;
    let End { answer, failure, took } = end;
    if let Some(answer) = &answer {
        context.note_answer(hook, answer);
    }
    if failure.outcome == CallOutcome::FailedOpen && !failure.is_cancelled {
        let key =
            format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{position}");
        context.log.annotations.add(&key, hook.name(), AuditLevel::Metadata);
    }
    context.log.step(Action::called(hook, STAGE, 0, failure.result), took);
    failure.status
}

impl End {
    /// The consequences of the end of a call (DI-67).
    fn of(hook: &CompiledWebhook, result: Result<Verified, HookError>, took: Duration) -> Self {
        let (answer, error) = match result {
            Ok(answer) if answer.allowed => (Some(answer), None),
            Ok(mut answer) => {
                let status = denied(hook.name(), answer.status.take());
                (Some(answer), Some(HookError::Rejected(status)))
            }
            Err(error) => (None, Some(error)),
        };
        let failure = Failure::of(hook, error.as_ref());
        End { answer, failure, took }
    }
}

impl<'h> Matched<'h> {
    fn start(&self, request: &AdmissionAttributes) -> CallStart<'h> {
        CallStart::new(self.hook, STAGE, request.operation)
    }
}
