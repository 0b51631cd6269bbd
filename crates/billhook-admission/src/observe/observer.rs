//! The events of a request on its way through the chain, from which metrics are made
//! (OB-02 to OB-23).

use std::time::Duration;

use billhook::webhook::{CompiledWebhook, ConditionResult, Operation};
use billhook_policy::{PolicyCheck, PolicyConditions};

use crate::stage::Stage;

/// Watches requests on their way. Metrics are one observer, the progress display of a command is
/// another.
///
/// Its methods are called while the request waits: they should be quick. New methods will have
/// defaults.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use billhook_admission::{CallEnd, Chain, Observer, Unreachable};
///
/// /// The time that requests have waited for webhooks.
/// #[derive(Default)]
/// struct Waited(AtomicU64);
///
/// impl Observer for Waited {
///     fn call_finished(&self, call: &CallEnd<'_>) {
///         self.0.fetch_add(call.took.as_millis() as u64, Ordering::Relaxed);
///     }
/// }
///
/// let waited = Arc::new(Waited::default());
/// let chain = Chain::new(Unreachable).observer(waited.clone());
/// # let _ = chain;
/// ```
pub trait Observer: Send + Sync {
    /// A webhook is about to be called.
    fn call_started(&self, call: &CallStart<'_>) {
        let _ = call;
    }

    /// A call is over (OB-17).
    fn call_finished(&self, call: &CallEnd<'_>) {
        let _ = call;
    }

    /// The match conditions of a webhook were evaluated (OB-06, OB-08).
    fn conditions_evaluated(&self, end: &ConditionsEnd<'_>) {
        let _ = end;
    }

    /// A webhook was left out because of its match conditions (OB-07).
    fn excluded_by_conditions(&self, call: &CallStart<'_>) {
        let _ = call;
    }

    /// An expression of an admission policy led to something (PO-95).
    fn policy_checked(&self, stage: Stage, check: &PolicyCheck<'_>) {
        let _ = (stage, check);
    }

    /// The match conditions of an admission policy were evaluated (PO-96).
    fn policy_conditions_evaluated(&self, operation: Operation, end: &PolicyConditions<'_>) {
        let _ = (operation, end);
    }

    /// A plugin has run in a stage; the webhooks of a stage count as one plugin, of the name
    /// [`Stage::plugin_name`] (OB-11).
    fn plugin_finished(&self, plugin: &str, end: &StepEnd) {
        let _ = (plugin, end);
    }

    /// The conversion of an object or a list by a webhook, or a converter in its place, is over
    /// (CX-50).
    fn conversion_finished(&self, end: &ConversionEnd<'_>) {
        let _ = end;
    }

    /// A whole stage is over, with the repetition if there was one (OB-09).
    fn stage_finished(&self, end: &StepEnd) {
        let _ = end;
    }
}

/// A call that begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallStart<'c> {
    /// The name of the webhook.
    pub hook: &'c str,
    /// The name of its configuration.
    pub configuration: &'c str,
    /// The stage.
    pub stage: Stage,
    /// The operation of the request.
    pub operation: Operation,
}

impl<'c> CallStart<'c> {
    pub(crate) fn new(hook: &'c CompiledWebhook, stage: Stage, operation: Operation) -> Self {
        CallStart { hook: hook.name(), configuration: hook.configuration(), stage, operation }
    }
}

/// A call that is over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallEnd<'c> {
    /// The call.
    pub call: CallStart<'c>,
    /// How long it took, from building the review to the applied patch.
    pub took: Duration,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The status code: 200 if it was allowed, that of the refusal or failure, 0 for an error of
    /// the chain itself (OB-17).
    pub code: i32,
    /// Whether the webhook could not be asked because the client of the request went away (OB-20).
    pub is_cancelled: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The webhook lets the request go on.
    Allowed,
    /// The webhook refuses the request.
    Rejected,
    /// The webhook could not be asked, and the request fails for that.
    FailedClosed,
    /// The webhook could not be asked, and the request goes on.
    FailedOpen,
    /// The chain itself failed, for instance because a patch does not apply.
    EngineError,
}

impl CallOutcome {
    /// Whether the request fails (OB-17).
    pub fn is_rejected(self) -> bool {
        !matches!(self, CallOutcome::Allowed | CallOutcome::FailedOpen)
    }
}

/// Match conditions that were evaluated.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConditionsEnd<'c> {
    /// Whose conditions they are.
    pub call: CallStart<'c>,
    /// How long the evaluation took.
    pub took: Duration,
    /// The result of each of them, or the error that ended the evaluation.
    pub results: Result<&'c [ConditionResult], &'c str>,
}

/// A conversion that is over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConversionEnd<'c> {
    /// The name of the definition.
    pub definition: &'c str,
    /// The version of the object or the list, such as `v1`.
    pub from: &'c str,
    /// The version that it is converted to.
    pub to: &'c str,
    /// How long it took.
    pub took: Duration,
    /// How it ended.
    pub outcome: ConversionOutcome,
}

/// How a conversion ended (CX-51).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConversionOutcome {
    /// There is nothing to convert but the version: the object has no more than its type (CX-20).
    OnlyType,
    /// The objects are in the version, perhaps without asking the webhook.
    Converted,
    /// The definition has no known version of reviews (CX-23).
    NoReviewVersion,
    /// The webhook could not be asked or its answer not be read (CX-40).
    CallFailed,
    /// The answer is not one to the review, or says that the conversion failed (CX-41).
    MalformedResponse,
    /// The answer has too few or too many objects (CX-42).
    PartialResponse,
    /// One of the converted objects is refused (CX-43 to CX-45).
    InvalidObject,
}

/// A plugin or a stage that is over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StepEnd {
    /// The stage.
    pub stage: Stage,
    /// The operation of the request.
    pub operation: Operation,
    /// How long it took.
    pub took: Duration,
    /// Whether it refused the request.
    pub rejected: bool,
}
