//! Requests that are matched, and the decisions for them.

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, Trace, TraceStep};
use serde_json::Value;

use crate::identity::Identity;
use crate::problem::{Place, Problem};

/// A request, or the reason that it cannot be made.
pub(super) struct Subject {
    pub(super) place: Place,
    pub(super) identity: Identity,
    pub(super) request: Result<AdmissionAttributes, Box<Problem>>,
}

/// A webhook and what was decided for it.
pub(super) struct Decided<'h> {
    pub(super) hook: &'h CompiledWebhook,
    pub(super) trace: Trace,
}

/// Whether a webhook is meant by a name: its own, or one with that of its configuration.
pub(super) fn is_named(hook: &CompiledWebhook, name: &str) -> bool {
    let with_configuration =
        || name.split_once('/').is_some_and(|it| it == (hook.configuration(), hook.name()));
    hook.name() == name || hook.key() == name || with_configuration()
}

/// Returns the steps of a decision for programs, each also as text.
pub(super) fn steps(trace: &Trace) -> Value {
    let step = |step: &TraceStep| {
        let mut value = serde_json::to_value(step).unwrap_or_default();
        if let Value::Object(members) = &mut value {
            members.insert("text".to_owned(), Value::from(step.to_string()));
        }
        value
    };
    trace.steps().iter().map(step).collect()
}
