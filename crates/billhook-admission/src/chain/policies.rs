//! The admission policies of both stages (PO-24).

use std::time::Duration;

use billhook::apply::MergeSchema;
use billhook::webhook::AdmissionAttributes;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, Status};
use billhook_policy::{PolicyContext, PolicyObjects, PolicyRecord, PolicyReinvocation};
use serde_json::Value;

use super::builder::Chain;
use super::context::Context;
use crate::audit::AuditLevel;
use crate::object_model::ObjectModel;
use crate::stage::Stage;
use crate::trace::Action;

/// The objects of a chain as policies see them.
struct Objects<'c>(&'c dyn ObjectModel);

impl PolicyObjects for Objects<'_> {
    fn convert(&self, object: &Value, to: &GroupVersionKind) -> Result<DeepValue, String> {
        self.0.convert(object, to).map_err(|error| error.to_string())
    }

    fn apply_defaults(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String> {
        self.0.apply_defaults(object, kind).map_err(|error| error.to_string())
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        self.0.merge_schema(kind)
    }

    fn check(&self, object: &Value, kind: &GroupVersionKind) -> Result<(), String> {
        self.0.check_readable(object, kind).map_err(|error| error.to_string())
    }
}

fn policy_context<'c>(chain: &'c Chain, objects: &'c Objects<'c>) -> PolicyContext<'c> {
    let context =
        PolicyContext::new(&*chain.namespaces, &chain.equivalents, objects, &*chain.policy_cluster);
    match &chain.authorizer {
        Some(authorizer) => context.authorizer(authorizer),
        None => context,
    }
}

/// Runs the mutating policies over a request.
pub(super) fn mutate(
    context: &mut Context<'_>,
    request: &mut AdmissionAttributes,
    reinvocation: &mut PolicyReinvocation,
    round: u8,
) -> Result<(), Status> {
    let chain = context.chain;
    let Some(policies) = chain.policy_set() else { return Ok(()) };
    let began = context.deadline.now();
    let objects = Objects(&*chain.model);
    let outcome = policies.mutate(request, &policy_context(chain, &objects), reinvocation);
    let took = context.deadline.since(began);
    note(context, Stage::Mutating, round, outcome.records);
    if let Some(object) = outcome.object {
        let action = Action::Policies { stage: Stage::Mutating, round };
        context.log.step_with(action, took, request.object.as_ref(), Some(&object));
        request.object = Some(object);
    }
    outcome.result
}

/// Runs the validating policies over a request.
pub(super) fn validate(
    context: &mut Context<'_>,
    request: &AdmissionAttributes,
) -> Result<(), Status> {
    let chain = context.chain;
    let Some(policies) = chain.policy_set() else { return Ok(()) };
    let objects = Objects(&*chain.model);
    let outcome = policies.validate(request, &policy_context(chain, &objects));
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
