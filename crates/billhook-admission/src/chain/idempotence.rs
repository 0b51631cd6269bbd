//! Checking that mutating webhooks are idempotent (DI-47): each is asked once more about what it
//! made itself.

use std::sync::Arc;

use billhook_apimachinery::value::DeepValue;

use super::builder::Chain;
use super::call::{Call, HookError};
use crate::object_model::Versioned;
use crate::object_model::check_patched;
use crate::options::Deadline;
use crate::patch::JsonPatch;
use crate::stage::Stage;
use crate::trace::{Difference, differences};
use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Match};

/// A mutating webhook that does not leave its own output alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IdempotenceFinding {
    /// The name of its configuration.
    pub configuration: String,
    /// Its name.
    pub hook: String,
    /// What the second call changed.
    pub changes: Vec<Difference>,
    /// Why the second call came to nothing, if it failed or was refused.
    pub error: Option<String>,
}

impl Chain {
    /// Calls a webhook on its own output. Nothing of the second call stays: no change, no warning,
    /// no annotation.
    pub(crate) async fn check_idempotence(
        &self,
        hook: &CompiledWebhook,
        matched: &Match,
        request: &AdmissionAttributes,
        versioned: Versioned,
        deadline: Deadline<'_>,
    ) -> Option<IdempotenceFinding> {
        let output = versioned.object.clone();
        let call = Call {
            stage: Stage::Mutating,
            hook,
            matched,
            request,
            object: versioned.object,
            old_object: versioned.old_object,
            options: request.options.clone().map(Arc::new),
            remaining: deadline.remaining(),
            cancellation: deadline.cancellation,
        };
        let answer = call.exchange(self, (self.uids)()).await;
        let (changes, error) = match (answer, output) {
            (Err(HookError::Calling { reason, .. }), _) => (Vec::new(), Some(reason)),
            (Err(HookError::Engine(status)), _) => (Vec::new(), Some(status.message)),
            (Ok(answer), _) if !answer.allowed => {
                (Vec::new(), Some(super::status::denied(hook.name(), answer.status).message))
            }
            (Ok(answer), Some(output)) if !answer.patch.is_empty() => {
                match self.patched(&answer.patch, &output, matched) {
                    Ok(again) => (differences(&output, &again), None),
                    Err(error) => (Vec::new(), Some(error)),
                }
            }
            _ => (Vec::new(), None),
        };
        (error.is_some() || !changes.is_empty()).then(|| IdempotenceFinding {
            configuration: hook.configuration().to_owned(),
            hook: hook.name().to_owned(),
            changes,
            error,
        })
    }

    fn patched(
        &self,
        patch: &[u8],
        object: &DeepValue,
        matched: &Match,
    ) -> Result<DeepValue, String> {
        let patch = JsonPatch::from_slice(patch).map_err(|error| error.to_string())?;
        let patched = patch.apply(object).map_err(|error| error.to_string())?;
        let mut patched = DeepValue::from(patched);
        check_patched(&patched, &matched.kind)?;
        self.model.default(&mut patched, &matched.kind)?;
        Ok(patched)
    }
}
