//! The admission policies of both stages (PO-24).

use std::cell::RefCell;
use std::time::{Duration, Instant};

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, Status};
use billhook_policy::{
    ConvertedObjects, EvaluatedExpression, ObjectModel, PolicyCheck, PolicyConditions,
    PolicyContext, PolicyObserver, PolicyRecord, PolicyReinvocation,
};
use serde_json::Value;

use super::builder::Chain;
use super::context::Context;
use super::idempotence::of_policy;
use crate::audit::AuditLevel;
use crate::stage::Stage;
use crate::trace::Action;

/// Tells the observer of a chain of the policies of a stage.
struct Watch<'c> {
    chain: &'c Chain,
    stage: Stage,
    operation: Operation,
    clock: &'c (dyn Fn() -> Instant + Send + Sync),
    began: Instant,
    /// The expressions that were evaluated, if they are asked for.
    expressions: Option<RefCell<Vec<EvaluatedExpression>>>,
}

impl<'c> Watch<'c> {
    fn new(context: &Context<'c>, stage: Stage, operation: Operation) -> Self {
        let clock = context.deadline.clock;
        let expressions = context.options.expressions.then(RefCell::default);
        Watch { chain: context.chain, stage, operation, clock, began: clock(), expressions }
    }

    fn into_expressions(self) -> Vec<EvaluatedExpression> {
        self.expressions.map(RefCell::into_inner).unwrap_or_default()
    }
}

impl PolicyObserver for Watch<'_> {
    fn now(&self) -> Duration {
        (self.clock)().saturating_duration_since(self.began)
    }

    fn checked(&self, check: &PolicyCheck<'_>) {
        self.chain.watch().policy_checked(self.stage, check);
    }

    fn conditions_evaluated(&self, end: &PolicyConditions<'_>) {
        self.chain.watch().policy_conditions_evaluated(self.operation, end);
    }

    fn wants_expressions(&self) -> bool {
        self.expressions.is_some()
    }

    fn expression_evaluated(&self, expression: EvaluatedExpression) {
        if let Some(expressions) = &self.expressions {
            expressions.borrow_mut().push(expression);
        }
    }
}

fn policy_context<'c>(context: &Context<'c>) -> PolicyContext<'c> {
    PolicyContext::new(context.cluster, &context.chain.equivalents, &*context.chain.model)
}

/// Runs the mutating policies over a request.
pub(super) async fn mutate(
    context: &mut Context<'_>,
    request: &mut AdmissionAttributes,
    reinvocation: &mut PolicyReinvocation,
    round: u8,
) -> Result<(), Status> {
    let chain = context.chain;
    let Some(policies) = chain.policy_set() else { return Ok(()) };
    let began = context.begin();
    let kinds = policies.mutating_kinds(request, &policy_context(context));
    let converted = ConvertedObjects::of(request, kinds, &*chain.model).await;
    let (outcome, expressions) = {
        let watch = Watch::new(context, Stage::Mutating, request.operation);
        let policy_context = policy_context(context)
            .converted(&converted)
            .observer(&watch)
            .check_idempotence(context.options.check_idempotence);
        let outcome = policies.mutate(request, &policy_context, reinvocation);
        (outcome, watch.into_expressions())
    };
    context.log.expressions.extend(expressions);
    note(context, Stage::Mutating, round, outcome.records);
    for repetition in outcome.repetitions {
        context.log.not_idempotent(of_policy(repetition));
    }
    let object = match outcome.object {
        Some(object) => Some(back(object, &request.kind, &*chain.model).await?),
        None => None,
    };
    reinvocation.end_pass(object.as_ref().or(request.object.as_ref()));
    if let Some(object) = object {
        let took = context.since(began);
        let action = Action::Policies { stage: Stage::Mutating, round };
        context.log.step_with(action, took, request.object.as_ref(), Some(&object));
        context.replace_object(request, object);
    }
    outcome.result
}

/// Returns an object in the version of the request (PO-63, PO-87).
async fn back(
    object: DeepValue,
    kind: &GroupVersionKind,
    model: &dyn ObjectModel,
) -> Result<DeepValue, Status> {
    if object.get("apiVersion").and_then(Value::as_str) == Some(&kind.api_version()) {
        return Ok(object);
    }
    let converted = model.convert(&object, kind).await;
    converted.map_err(|error| Status::internal_error(&format!("failed to convert object: {error}")))
}

/// Runs the validating policies over a request.
pub(super) async fn validate(
    context: &mut Context<'_>,
    request: &AdmissionAttributes,
) -> Result<(), Status> {
    let chain = context.chain;
    let Some(policies) = chain.policy_set() else { return Ok(()) };
    let kinds = policies.validating_kinds(request, &policy_context(context));
    let converted = ConvertedObjects::of(request, kinds, &*chain.model).await;
    let watch = Watch::new(context, Stage::Validating, request.operation);
    let policy_context = policy_context(context).converted(&converted).observer(&watch);
    let outcome = policies.validate(request, &policy_context);
    let expressions = watch.into_expressions();
    context.log.expressions.extend(expressions);
    note(context, Stage::Validating, 0, outcome.records);
    for (key, value) in &outcome.annotations {
        context.log.annotations.add(key, value, AuditLevel::Metadata);
    }
    for warning in &outcome.warnings {
        context.log.warnings.add(warning);
    }
    outcome.result
}

fn note(context: &mut Context<'_>, stage: Stage, round: u8, records: Vec<PolicyRecord>) {
    for record in records {
        context.log.step(Action::Policy { stage, round, record }, Duration::ZERO);
    }
}
