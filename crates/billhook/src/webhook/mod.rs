//! Admission webhooks: reading their configurations, and deciding for a request which of them a
//! server calls, in which version, and why (WCF and WM rules).
//!
//! [`WebhookConfiguration`] is a document, read with its defaults and validated with the server's
//! errors. [`WebhookSet`] holds the webhooks of any number of configurations, ready to match an
//! [`AdmissionAttributes`]; a [`Decision`] says whether a webhook is called, and a [`Trace`] why.

mod api;
mod attributes;
mod built_in;
mod cel;
mod check;
mod conditions;
mod configuration;
mod decision;
mod decode;
mod defaults;
mod encode;
mod equivalence;
mod hook;
mod index;
mod lints;
mod namespaces;
mod rule;
mod set;
mod status;
mod trace;
mod validation;

#[cfg(feature = "k8s-openapi")]
pub use crate::interop::namespace_labels;
pub use api::ApiResource;
pub use attributes::{AdmissionAttributes, Operation, UnknownOperationError};
pub use cel::{CelConditions, UserAuthorizer};
pub use check::ConfigurationCheck;
pub use conditions::{ConditionInput, ConditionResult, MatchConditions};
pub use configuration::{
    ConfigurationKind, ConfigurationVersion, MatchCondition, Rule, Webhook, WebhookConfiguration,
};
pub use decision::{Decision, Match, Reason};
pub use decode::ConfigurationError;
pub use equivalence::EquivalenceRegistry;
pub use hook::{Hook, MatchContext};
pub use lints::{Lint, LintCode, Severity, lint_together};
pub use namespaces::{NamespaceLabels, Namespaces};
pub use rule::Dimension;
pub use set::WebhookSet;
pub use trace::{
    ConditionTrace, RuleMismatch, SeenNamespace, SeenObject, Trace, TraceStep, Verdict,
};
pub use validation::{CelEnvironment, ExpressionChecker, ValidationOptions};
