//! The admission policies of both stages (PO-24).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr;
use std::time::{Duration, Instant};

use billhook::apply::MergeSchema;
use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, Status};
use billhook_policy::{
    EvaluatedExpression, PolicyCheck, PolicyConditions, PolicyContext, PolicyObjects,
    PolicyObserver, PolicyRecord, PolicyReinvocation,
};
use serde_json::Value;

use super::builder::Chain;
use super::context::Context;
use super::idempotence::of_policy;
use crate::audit::AuditLevel;
use crate::object_model::ObjectModel;
use crate::stage::Stage;
use crate::trace::Action;

/// The objects of a chain as policies see them; those of the request in other kinds are converted
/// before.
struct Objects<'c> {
    model: &'c dyn ObjectModel,
    converted: BTreeMap<GroupVersionKind, Converted>,
    request: Originals<'c>,
}

/// The new and the old object of a request.
#[derive(Clone, Copy, Default)]
struct Originals<'c> {
    object: Option<&'c DeepValue>,
    old_object: Option<&'c DeepValue>,
}

/// The same in another kind, or the texts of errors.
struct Converted {
    object: Option<Result<DeepValue, String>>,
    old_object: Option<Result<DeepValue, String>>,
}

impl<'c> Objects<'c> {
    fn new(model: &'c dyn ObjectModel) -> Self {
        Objects { model, converted: BTreeMap::new(), request: Originals::default() }
    }

    /// Converts the objects of a request into some kinds.
    async fn converted(
        mut self,
        request: &'c AdmissionAttributes,
        kinds: BTreeSet<GroupVersionKind>,
    ) -> Self {
        let (object, old_object) = (request.object.as_ref(), request.old_object.as_ref());
        self.request = Originals { object, old_object };
        let model = self.model;
        for kind in kinds {
            let convert = async |object: Option<&DeepValue>| match object {
                Some(object) => {
                    Some(model.convert(object, &kind).await.map_err(|error| error.to_string()))
                }
                None => None,
            };
            let (old_object, object) = (convert(old_object).await, convert(object).await);
            self.converted.insert(kind, Converted { object, old_object });
        }
        self
    }
}

impl PolicyObjects for Objects<'_> {
    fn convert(&self, object: &Value, to: &GroupVersionKind) -> Result<DeepValue, String> {
        let is = |known: Option<&DeepValue>| known.is_some_and(|known| ptr::eq(&**known, object));
        let converted = self.converted.get(to);
        let found = match converted {
            Some(converted) if is(self.request.object) => converted.object.clone(),
            Some(converted) if is(self.request.old_object) => converted.old_object.clone(),
            _ => None,
        };
        found.unwrap_or_else(|| Err(format!("no conversion to {} is known", to.api_version())))
    }

    fn apply_defaults(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String> {
        self.model.apply_defaults(object, kind).map_err(|error| error.to_string())
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        self.model.merge_schema(kind)
    }

    fn check(&self, object: &Value, kind: &GroupVersionKind) -> Result<(), String> {
        self.model.check_readable(object, kind).map_err(|error| error.to_string())
    }
}

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

fn policy_context<'c>(context: &Context<'c>, objects: &'c Objects<'c>) -> PolicyContext<'c> {
    PolicyContext::new(context.cluster, &context.chain.equivalents, objects)
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
    let objects = Objects::new(&*chain.model);
    let kinds = policies.mutating_kinds(request, &policy_context(context, &objects));
    let objects = objects.converted(request, kinds).await;
    let (outcome, expressions) = {
        let watch = Watch::new(context, Stage::Mutating, request.operation);
        let policy_context = policy_context(context, &objects)
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
    let objects = Objects::new(&*chain.model);
    let kinds = policies.validating_kinds(request, &policy_context(context, &objects));
    let objects = objects.converted(request, kinds).await;
    let watch = Watch::new(context, Stage::Validating, request.operation);
    let outcome = policies.validate(request, &policy_context(context, &objects).observer(&watch));
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
