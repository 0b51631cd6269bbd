//! Which webhooks a request goes to, and how the evaluation of their match conditions is watched
//! (WM-05, WM-71, OB-06 to OB-08).

use std::cell::RefCell;
use std::time::Duration;

use billhook::webhook::{
    AdmissionAttributes, CompiledWebhook, ConditionInput, ConditionResult, ConditionsError,
    Decision, DecisionReason, Match, MatchCondition, MatchConditions, MatchContext,
};
use billhook_apimachinery::Status;

use super::builder::Chain;
use super::context::Context;
use billhook_policy::RequestObjects;

use crate::observe::{CallStart, ConditionsEnd, conditions_failed};
use crate::stage::Stage;
use crate::trace::Action;

/// Returns the webhooks of a stage that may be called, with their positions; all of them if a
/// trace is to list each webhook that is left out.
pub(super) fn candidates<'c>(
    chain: &'c Chain,
    stage: Stage,
    request: &AdmissionAttributes,
    all: bool,
) -> Vec<(usize, &'c CompiledWebhook)> {
    let set = chain.webhooks_of(stage).filter(|_| !request.is_exempt());
    let Some(set) = set else { return Vec::new() };
    if all {
        return set.hooks().iter().enumerate().collect();
    }
    let positions = set.candidates(request, &chain.equivalents);
    let hook = |position: usize| Some((position, set.hooks().get(position)?));
    positions.into_iter().filter_map(hook).collect()
}

/// Decides whether a webhook is called for a request, with the objects that `convert` returns for
/// its match conditions; the reason if it is not (WM-05, WM-71).
pub(super) async fn decide(
    context: &mut Context<'_>,
    hook: &CompiledWebhook,
    request: &AdmissionAttributes,
    (stage, round): (Stage, u8),
    convert: impl AsyncFnOnce(&Match) -> Result<RequestObjects, Status>,
) -> Result<Result<Match, DecisionReason>, Status> {
    let chain = context.chain;
    let start = CallStart::new(hook, stage, request.operation);
    let found = hook.decide(request, &MatchContext::new(context.cluster, &chain.equivalents));
    let decision = match found {
        Decision::NotEvaluated(matched) => {
            let objects = convert(&matched).await?;
            let input = ConditionInput::new(request, &matched)
                .converted(objects.object.as_deref(), objects.old_object.as_deref());
            decide_conditions(context, hook, start, &input)
        }
        decided => decided,
    };
    match decision {
        Decision::Called(matched) | Decision::NotEvaluated(matched) => Ok(Ok(matched)),
        Decision::Rejected(reason, status) => {
            if reason == DecisionReason::MatchConditionError {
                conditions_failed(&start, &status.message);
            }
            let failed = Action::match_failed(hook, (stage, round), reason, &status.message);
            context.log.step(failed, Duration::ZERO);
            Err(status)
        }
        Decision::Skipped(reason) => {
            if matches!(
                reason,
                DecisionReason::MatchConditionFalse | DecisionReason::MatchConditionErrorIgnored
            ) {
                chain.watch().excluded_by_conditions(&start);
            }
            Ok(Err(reason))
        }
    }
}

fn decide_conditions(
    context: &Context<'_>,
    hook: &CompiledWebhook,
    call: CallStart<'_>,
    input: &ConditionInput<'_>,
) -> Decision {
    let conditions = Remembering { inner: context.match_conditions(), results: RefCell::default() };
    let began = context.deadline.now();
    let decision = hook.decide_conditions(&conditions, input);
    let took = context.deadline.since(began);
    if let Some(results) = conditions.results.into_inner() {
        let results = results.map_err(|error| error.to_string());
        let results = results.as_deref().map_err(String::as_str);
        let end = ConditionsEnd { call, took, results };
        context.chain.watch().conditions_evaluated(&end);
    }
    decision
}

type Results = Result<Vec<ConditionResult>, ConditionsError>;

/// An evaluator whose last results are remembered.
struct Remembering<'c> {
    inner: &'c dyn MatchConditions,
    results: RefCell<Option<Results>>,
}

impl MatchConditions for Remembering<'_> {
    fn evaluate(&self, conditions: &[MatchCondition], input: &ConditionInput<'_>) -> Results {
        let results = self.inner.evaluate(conditions, input);
        *self.results.borrow_mut() = Some(results.clone());
        results
    }
}
