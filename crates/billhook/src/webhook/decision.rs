//! The decision for a webhook and a request (WM-09, WM-95).

use std::fmt;

use billhook_apimachinery::Status;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use serde::Serialize;

use super::attributes::AdmissionAttributes;

/// The selection of a webhook's rules (WM-09): how the request is presented to the webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The resource; another one than the request's if it matched as an equivalent.
    pub resource: GroupVersionResource,
    /// The subresource, which is always the request's.
    pub subresource: String,
    /// The kind of the objects that the webhook gets.
    pub kind: GroupVersionKind,
}

impl Match {
    /// The selection of a request as it is: its own resource and kind.
    pub fn own(request: &AdmissionAttributes) -> Self {
        Match {
            resource: request.resource.clone(),
            subresource: request.subresource.clone(),
            kind: request.kind.clone(),
        }
    }
}

/// Whether a webhook is called for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is called.
    Called(Match),
    /// It is not called, and the request goes on.
    Skipped(DecisionReason),
    /// The whole request is refused, whatever the webhook's failure policy is (WM-07).
    Rejected(DecisionReason, Status),
    /// It is called if its match conditions hold, which were not evaluated.
    NotEvaluated(Match),
}

impl Decision {
    /// Whether the request goes on without the webhook.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Decision::Skipped(_))
    }

    /// The selection of the webhook's rules, if the decision depends on it.
    pub fn matched(&self) -> Option<&Match> {
        match self {
            Decision::Called(matched) | Decision::NotEvaluated(matched) => Some(matched),
            Decision::Skipped(_) | Decision::Rejected(..) => None,
        }
    }

    /// Why the webhook is not called, or the request refused.
    pub fn reason(&self) -> Option<DecisionReason> {
        match self {
            Decision::Skipped(reason) | Decision::Rejected(reason, _) => Some(*reason),
            Decision::Called(_) | Decision::NotEvaluated(_) => None,
        }
    }
}

/// Why a webhook is not called, or the request refused (WM-95). The codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum DecisionReason {
    /// The request is for a kind of admission configuration (WM-03).
    ExemptKind,
    /// The labels of the namespace don't match (WM-14).
    NamespaceSelectorMismatch,
    /// The labels of neither object match (WM-21).
    ObjectSelectorMismatch,
    /// A rule excludes the request (PO-26).
    ExcludedByRule,
    /// No rule is for the request, and the resource has no equivalents (WM-30).
    NoRuleMatched,
    /// A rule is for an equivalent of the resource, but the match policy is `Exact` (WM-45).
    EquivalentNotTried,
    /// No rule is for the request, nor for an equivalent of the resource (WM-50).
    NoEquivalentMatched,
    /// A match condition is false (WM-72).
    MatchConditionFalse,
    /// A match condition failed, and the failure policy is `Ignore` (WM-80).
    MatchConditionErrorIgnored,
    /// A match condition failed, and the failure policy is `Fail` (WM-80).
    MatchConditionError,
    /// The mutating webhook need not be called again (DI-42).
    ReinvocationNotNeeded,
    /// The namespace does not exist (WM-16).
    NamespaceNotFound,
    /// The namespace cannot be looked up (WM-16).
    NamespaceError,
    /// A selector of the webhook cannot be parsed (WM-12, WM-20).
    SelectorUnparsable,
    /// The kind of the matched resource is not known (WM-52).
    UnknownKind,
    /// An object cannot be converted to the matched kind (WM-54).
    ConversionFailed,
}

impl DecisionReason {
    /// All reasons.
    pub const ALL: &[DecisionReason] = &[
        DecisionReason::ExemptKind,
        DecisionReason::NamespaceSelectorMismatch,
        DecisionReason::ObjectSelectorMismatch,
        DecisionReason::ExcludedByRule,
        DecisionReason::NoRuleMatched,
        DecisionReason::EquivalentNotTried,
        DecisionReason::NoEquivalentMatched,
        DecisionReason::MatchConditionFalse,
        DecisionReason::MatchConditionErrorIgnored,
        DecisionReason::MatchConditionError,
        DecisionReason::ReinvocationNotNeeded,
        DecisionReason::NamespaceNotFound,
        DecisionReason::NamespaceError,
        DecisionReason::SelectorUnparsable,
        DecisionReason::UnknownKind,
        DecisionReason::ConversionFailed,
    ];

    /// The code, e.g. `NoRuleMatched`.
    pub fn code(self) -> &'static str {
        match self {
            DecisionReason::ExemptKind => "ExemptKind",
            DecisionReason::NamespaceSelectorMismatch => "NamespaceSelectorMismatch",
            DecisionReason::ObjectSelectorMismatch => "ObjectSelectorMismatch",
            DecisionReason::ExcludedByRule => "ExcludedByRule",
            DecisionReason::NoRuleMatched => "NoRuleMatched",
            DecisionReason::EquivalentNotTried => "EquivalentNotTried",
            DecisionReason::NoEquivalentMatched => "NoEquivalentMatched",
            DecisionReason::MatchConditionFalse => "MatchConditionFalse",
            DecisionReason::MatchConditionErrorIgnored => "MatchConditionErrorIgnored",
            DecisionReason::MatchConditionError => "MatchConditionError",
            DecisionReason::ReinvocationNotNeeded => "ReinvocationNotNeeded",
            DecisionReason::NamespaceNotFound => "NamespaceNotFound",
            DecisionReason::NamespaceError => "NamespaceError",
            DecisionReason::SelectorUnparsable => "SelectorUnparsable",
            DecisionReason::UnknownKind => "UnknownKind",
            DecisionReason::ConversionFailed => "ConversionFailed",
        }
    }

    /// Returns the number of the rule by which it is so, e.g. `WM-30`.
    pub fn rule(self) -> &'static str {
        match self {
            DecisionReason::ExemptKind => "WM-03",
            DecisionReason::NamespaceSelectorMismatch => "WM-14",
            DecisionReason::ObjectSelectorMismatch => "WM-21",
            DecisionReason::ExcludedByRule => "PO-26",
            DecisionReason::NoRuleMatched => "WM-30",
            DecisionReason::EquivalentNotTried => "WM-45",
            DecisionReason::NoEquivalentMatched => "WM-50",
            DecisionReason::MatchConditionFalse => "WM-72",
            DecisionReason::MatchConditionErrorIgnored | DecisionReason::MatchConditionError => {
                "WM-80"
            }
            DecisionReason::ReinvocationNotNeeded => "DI-42",
            DecisionReason::NamespaceNotFound | DecisionReason::NamespaceError => "WM-16",
            DecisionReason::SelectorUnparsable => "WM-12",
            DecisionReason::UnknownKind => "WM-52",
            DecisionReason::ConversionFailed => "WM-54",
        }
    }
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
