//! Running a mutating policy on its own output: one that is idempotent changes nothing more (DI-47).

use billhook_apimachinery::value::{DeepValue, semantically_equal};

use super::{PolicyReinvocation, Run, Tuple, Versioned};
use crate::activation::Shared;
use crate::context::PolicyContext;
use crate::set::{PolicySet, is_selected};

/// A mutating policy that changes its own output, or fails on it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyRepetition {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding.
    pub binding: String,
    /// `<namespace>/<name>` of the parameter; empty if absent.
    pub parameter: String,
    /// The object that the policy left, in the kind that it matched.
    pub once: DeepValue,
    /// The object that it left when it ran on that.
    pub twice: DeepValue,
    /// Why it failed on its own output, if it did.
    pub error: Option<String>,
}

/// Runs a tuple on its own output, if that still matches. Nothing of it stays.
pub(super) fn repeat(
    tuple: &Tuple<'_>,
    versioned: &Versioned,
    set: &PolicySet,
    shared: &Shared<'_>,
) -> Option<PolicyRepetition> {
    let once = DeepValue::clone(versioned.objects.object.as_ref()?);
    let context = PolicyContext { observer: None, ..*shared.context };
    let mut request = shared.request.clone();
    request.object = Some(once.clone());
    if !is_selected(&tuple.policy.head, tuple.binding, &request, &context) {
        return None;
    }
    let shared = Shared::new(set, shared.request, &context).ok()?;
    let mut state = PolicyReinvocation::default();
    let mut run = Run::new(&mut state);
    let mut again = versioned.clone();
    let error = match run.process(tuple, &mut again, &shared) {
        Ok(_) => run.records.iter().find_map(|record| record.verdict.error()).map(str::to_owned),
        Err(status) => Some(status.message),
    };
    let twice = DeepValue::clone(again.objects.object.as_ref()?);
    (error.is_some() || !semantically_equal(&once, &twice)).then(|| PolicyRepetition {
        policy: tuple.policy.head.name.clone(),
        binding: tuple.binding.name.clone(),
        parameter: tuple.params.key(),
        once,
        twice,
        error,
    })
}
