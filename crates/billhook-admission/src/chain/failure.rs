//! The consequences of a failed call for the request (DI-13, DI-67, DI-70, OB-17).

use std::time::Duration;

use billhook::webhook::CompiledWebhook;
use billhook_apimachinery::Status;

use super::builder::Chain;
use super::call::HookError;
use super::status::webhook_failed;
use crate::observe::{CallEnd, CallOutcome, CallStart, call_ended};
use crate::stage::Stage;
use crate::trace::HookResult;

/// The consequences of a call.
pub(super) struct Failure {
    pub(super) outcome: CallOutcome,
    code: i32,
    /// The status that the request fails with; none if it goes on.
    pub(super) status: Option<Status>,
    pub(super) result: HookResult,
    /// Whether that is because the client went away (OB-20).
    pub(super) is_cancelled: bool,
}

impl Failure {
    /// The consequences of an error; of none if the call succeeded.
    pub(super) fn of(hook: &CompiledWebhook, error: Option<&HookError>) -> Self {
        match error {
            None => Self::new(CallOutcome::Allowed, 200, None, HookResult::Allowed),
            Some(HookError::Calling { reason, code }) => {
                Self::calling(hook, reason, *code, webhook_failed(hook.name(), reason))
            }
            Some(HookError::Cancelled) => {
                let reason = "failed to call webhook: context canceled";
                let failure = Self::calling(hook, reason, 503, webhook_failed(hook.name(), reason));
                Failure { is_cancelled: true, ..failure }
            }
            Some(HookError::Panicked(text)) => {
                let plugin = Stage::Validating.plugin_name();
                let text = format!("{plugin}/{} has panicked: {text}", hook.name());
                Self::calling(hook, &text, 500, Status::internal_error(&text))
            }
            Some(HookError::Rejected(status)) => {
                let result = HookResult::Rejected(status.message.clone());
                Self::new(CallOutcome::Rejected, status.code, Some(status.clone()), result)
            }
            Some(HookError::Engine(status)) => {
                let result = HookResult::Unusable(status.message.clone());
                Self::new(CallOutcome::EngineError, 0, Some(status.clone()), result)
            }
            Some(HookError::DryRun(status)) => {
                let result = HookResult::NotForDryRuns(status.message.clone());
                Self::new(CallOutcome::EngineError, 0, Some(status.clone()), result)
            }
        }
    }

    /// The webhook could not be asked: its failure policy decides.
    fn calling(hook: &CompiledWebhook, reason: &str, code: i32, status: Status) -> Self {
        let reason = reason.to_owned();
        if hook.webhook().ignores_failures() {
            Self::new(CallOutcome::FailedOpen, code, None, HookResult::FailedOpen(reason))
        } else {
            let result = HookResult::FailedClosed(reason);
            Self::new(CallOutcome::FailedClosed, code, Some(status), result)
        }
    }

    fn new(outcome: CallOutcome, code: i32, status: Option<Status>, result: HookResult) -> Self {
        Failure { outcome, code, status, result, is_cancelled: false }
    }

    /// Tells observers and the log of the process how a call ended.
    pub(super) fn report(&self, chain: &Chain, call: CallStart<'_>, took: Duration) {
        let Failure { outcome, code, is_cancelled, .. } = *self;
        let end = CallEnd { call, took, outcome, code, is_cancelled };
        call_ended(&end, &self.result);
        chain.watch().call_finished(&end);
    }
}
