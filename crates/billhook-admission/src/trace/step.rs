//! The steps that a request takes.

use std::time::Duration;

use billhook::webhook::{CompiledWebhook, DecisionReason};
use billhook_apimachinery::value::DeepValue;
use billhook_policy::PolicyRecord;
use serde_json::Value;

use super::difference::{FieldDifference, differences};
use crate::stage::Stage;

/// One step on the way of a request, in the order they were taken.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The action.
    pub action: Action,
    /// How long it took.
    pub took: Duration,
    /// The changes to the object, if a trace was asked for: the first thousand differences, or
    /// fewer if they are deep. For a webhook they are in the version that it was shown.
    pub changes: Vec<FieldDifference>,
}

impl Step {
    /// A step that made one object of another.
    pub(crate) fn changing(
        action: Action,
        took: Duration,
        before: &Value,
        after: Option<&DeepValue>,
    ) -> Self {
        let changes = after.map(|after| differences(before, after)).unwrap_or_default();
        Step { action, took, changes }
    }
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The body was decoded (RP-10).
    Decode,
    /// A plugin ran.
    #[non_exhaustive]
    Plugin {
        /// The name of the plugin.
        name: String,
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
        /// Why it refused the request.
        error: Option<String>,
    },
    /// A policy was evaluated.
    #[non_exhaustive]
    Policy {
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
        /// Its fate.
        record: PolicyRecord,
    },
    /// The mutating policies changed the object, all of them together.
    #[non_exhaustive]
    Policies {
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
    },
    /// A webhook was called.
    #[non_exhaustive]
    Webhook {
        /// The name of its configuration.
        configuration: String,
        /// Its name.
        hook: String,
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
        /// The result.
        result: HookResult,
    },
    /// A webhook was left out.
    #[non_exhaustive]
    Skipped {
        /// The name of its configuration.
        configuration: String,
        /// Its name.
        hook: String,
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
        /// Why.
        reason: DecisionReason,
    },
    /// Nobody could tell whether a webhook is called, which refuses the request (WM-80).
    #[non_exhaustive]
    MatchFailed {
        /// The name of its configuration.
        configuration: String,
        /// Its name.
        hook: String,
        /// The stage.
        stage: Stage,
        /// 0, or 1 in the repetition.
        round: u8,
        /// Why.
        reason: DecisionReason,
        /// The message for the client.
        error: String,
    },
    /// The object was prepared and validated (DI-03).
    Validate,
    /// The object was encoded for storage.
    Store,
    /// The store refused the write because it holds something else. For a generated name another
    /// one follows (AR-31), and for a change another attempt with what is stored now (AR-32).
    WriteRefused {
        /// The name of the object.
        name: String,
    },
}

impl Action {
    pub(crate) fn called(
        hook: &CompiledWebhook,
        stage: Stage,
        round: u8,
        result: HookResult,
    ) -> Self {
        Action::Webhook {
            configuration: hook.configuration().to_owned(),
            hook: hook.name().to_owned(),
            stage,
            round,
            result,
        }
    }

    pub(crate) fn skipped(
        hook: &CompiledWebhook,
        stage: Stage,
        round: u8,
        reason: DecisionReason,
    ) -> Self {
        Action::Skipped {
            configuration: hook.configuration().to_owned(),
            hook: hook.name().to_owned(),
            stage,
            round,
            reason,
        }
    }

    pub(crate) fn match_failed(
        hook: &CompiledWebhook,
        (stage, round): (Stage, u8),
        reason: DecisionReason,
        error: &str,
    ) -> Self {
        Action::MatchFailed {
            configuration: hook.configuration().to_owned(),
            hook: hook.name().to_owned(),
            stage,
            round,
            reason,
            error: error.to_owned(),
        }
    }
}

/// The result of calling a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookResult {
    /// It allows the request.
    Allowed,
    /// It denies the request; the message.
    Rejected(String),
    /// The call failed, which is ignored; why.
    FailedOpen(String),
    /// The call failed, which refuses the request; why.
    FailedClosed(String),
    /// Its answer cannot be used; why.
    Unusable(String),
    /// It is not called, as it may have side effects and the request is a dry run (DI-22); the message.
    NotForDryRuns(String),
}
