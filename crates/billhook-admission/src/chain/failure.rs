//! What a failed call means for the request (DI-13, DI-67, DI-70, OB-17).

use super::call::HookError;
use crate::observe::CallOutcome;
use crate::stage::Stage;
use crate::trace::HookResult;
use billhook::webhook::CompiledWebhook;
use billhook_apimachinery::Status;

/// The consequences of a call.
pub(crate) struct Failure {
    pub(crate) outcome: CallOutcome,
    pub(crate) code: i32,
    /// What the request fails with; none if it goes on.
    pub(crate) status: Option<Status>,
    pub(crate) result: HookResult,
    /// Whether that is because the client went away (OB-20).
    pub(crate) is_cancelled: bool,
}

impl Failure {
    /// The consequences of an error; of none if the call succeeded.
    pub(crate) fn of(hook: &CompiledWebhook, error: Option<&HookError>) -> Self {
        let is_ignored = hook.webhook().ignores_failures();
        let failed = |reason: &str, code: i32, status: Status| match is_ignored {
            true => Failure {
                outcome: CallOutcome::FailedOpen,
                code,
                status: None,
                result: HookResult::FailedOpen(reason.to_owned()),
                is_cancelled: false,
            },
            false => Failure {
                outcome: CallOutcome::FailedClosed,
                code,
                result: HookResult::FailedClosed(reason.to_owned()),
                status: Some(status),
                is_cancelled: false,
            },
        };
        match error {
            None => Failure {
                outcome: CallOutcome::Allowed,
                code: 200,
                status: None,
                result: HookResult::Allowed,
                is_cancelled: false,
            },
            Some(HookError::Calling { reason, code }) => {
                failed(reason, *code, super::status::webhook_failed(hook.name(), reason))
            }
            Some(HookError::Cancelled) => {
                let reason = "failed to call webhook: context canceled";
                let status = super::status::webhook_failed(hook.name(), reason);
                Failure { is_cancelled: true, ..failed(reason, 503, status) }
            }
            Some(HookError::Panicked(text)) => {
                let plugin = Stage::Validating.plugin_name();
                let text = format!("{plugin}/{} has panicked: {text}", hook.name());
                failed(&text, 500, Status::internal_error(&text))
            }
            Some(HookError::Rejected(status)) => Failure {
                outcome: CallOutcome::Rejected,
                code: status.code,
                result: HookResult::Rejected(status.message.clone()),
                status: Some(status.clone()),
                is_cancelled: false,
            },
            Some(HookError::Engine(status)) => Failure {
                outcome: CallOutcome::EngineError,
                code: 0,
                result: HookResult::Unusable(status.message.clone()),
                status: Some(status.clone()),
                is_cancelled: false,
            },
        }
    }
}
