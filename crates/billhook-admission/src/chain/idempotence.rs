//! Checking that mutating webhooks and policies are idempotent (DI-47): each is run once more on its
//! own output.

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Match};
use billhook_apimachinery::value::DeepValue;
use billhook_policy::{PolicyRepetition, RequestObjects};

use super::builder::Chain;
use super::call::{Call, HookError};
use super::context::Context;
use super::status::denied;
use crate::object_model::patched_kind;
use crate::patch::JsonPatch;
use crate::review::Verified;
use crate::stage::Stage;
use crate::trace::{FieldDifference, IdempotenceFinding, Mutator, differences};

/// Calls a webhook on its own output. Nothing of the second call stays: no change, no warning, no
/// annotation.
pub(super) async fn check_idempotence(
    context: &Context<'_>,
    hook: &CompiledWebhook,
    matched: &Match,
    request: &AdmissionAttributes,
    objects: RequestObjects,
) -> Option<IdempotenceFinding> {
    let chain = context.chain;
    let output = objects.object.clone();
    let call = Call {
        stage: Stage::Mutating,
        hook,
        matched,
        request,
        objects,
        remaining: context.deadline.remaining(),
        cancellation: context.deadline.cancellation,
    };
    let (changes, error) = match call.exchange(chain, (chain.uids)()).await {
        Err(HookError::Calling { reason, .. }) => (Vec::new(), Some(reason)),
        Err(HookError::Engine(status)) => (Vec::new(), Some(status.message)),
        Err(_) => (Vec::new(), None),
        Ok(answer) if !answer.allowed => {
            (Vec::new(), Some(denied(hook.name(), answer.status).message))
        }
        Ok(answer) => match changes(chain, &answer, output.as_ref(), matched) {
            Ok(changes) => (changes, None),
            Err(error) => (Vec::new(), Some(error)),
        },
    };
    (error.is_some() || !changes.is_empty()).then(|| IdempotenceFinding {
        mutator: Mutator::Webhook {
            configuration: hook.configuration().to_owned(),
            hook: hook.name().to_owned(),
        },
        changes,
        error,
    })
}

/// The finding about a policy that is not idempotent.
pub(super) fn of_policy(repetition: PolicyRepetition) -> IdempotenceFinding {
    let PolicyRepetition { policy, binding, parameter, once, twice, error, .. } = repetition;
    IdempotenceFinding {
        mutator: Mutator::Policy { policy, binding, parameter },
        changes: differences(&once, &twice),
        error,
    }
}

/// The changes that an answer makes to the output of the first call.
fn changes(
    chain: &Chain,
    answer: &Verified,
    output: Option<&DeepValue>,
    matched: &Match,
) -> Result<Vec<FieldDifference>, String> {
    let Some(output) = output.filter(|_| !answer.patch.is_empty()) else { return Ok(Vec::new()) };
    let patch = JsonPatch::from_slice(&answer.patch).map_err(|error| error.to_string())?;
    let mut patched = patch.apply(output).map_err(|error| error.to_string())?;
    let kind = patched_kind(&mut patched, &matched.kind, &*chain.model)?;
    let defaulted = chain.model.apply_defaults(&mut patched, &kind);
    defaulted.map_err(|error| error.to_string())?;
    Ok(differences(output, &patched))
}
