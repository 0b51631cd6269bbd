//! Admission webhooks: reading their configurations, and deciding for a request which of them a
//! server calls, in which version, and why (WCF and WM rules).
//!
//! [`WebhookConfiguration`] is a document, read with its defaults and validated with the server's
//! errors. [`WebhookSet`] holds the webhooks of any number of configurations, ready to match an
//! [`AdmissionAttributes`]; a [`Decision`] says whether a webhook is called, and a [`Trace`] why.

mod attributes;
mod check;
mod compiled_webhook;
mod condition_program;
mod conditions;
mod configuration;
mod decision;
mod decode;
mod defaults;
mod discovery;
mod equivalence;
mod exempt;
mod index;
mod lints;
mod match_conditions_cel;
mod matcher;
mod namespaces;
mod request_variables;
mod review;
mod rule;
mod set;
mod status;
mod trace;
mod validation;

pub use billhook_cel::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, Authorizer, ResourceTarget,
    ServiceAccount,
};

pub use attributes::{AdmissionAttributes, AdmissionRequest, Operation, UnknownOperationError};
pub use billhook_cel::Libraries;
pub use check::ConfigurationCheck;
pub use compiled_webhook::{CompiledWebhook, MatchContext};
pub use conditions::{ConditionInput, ConditionResult, ConditionsError, MatchConditions};
pub use configuration::{
    ConfigurationKind, ConfigurationVersion, MatchCondition, MatchResources, NamedRule, Rule,
    Webhook, WebhookConfiguration,
};
pub use decision::{Decision, DecisionReason, Match};
pub use decode::ConfigurationError;
pub use discovery::ApiResource;
pub use equivalence::EquivalentResources;
pub use index::MatcherIndex;
pub use lints::{Lint, LintCode, LintSeverity, lint_together};
pub use match_conditions_cel::CelConditions;
pub use matcher::{RequestMatcher, Selection};
#[cfg(feature = "k8s-openapi")]
pub use namespaces::namespace_labels;
pub use namespaces::{
    NAMESPACE_NAME_LABEL, NamespaceError, NamespaceLabels, Namespaces, labels_of_name,
    labels_of_namespace,
};
pub use request_variables::{RequestVariables, authorizer_variables};
#[cfg(feature = "kube")]
pub use review::KubeConversionError;
pub use review::{AdmissionResponse, AdmissionReview, ReviewError, ReviewVersion};
pub use rule::Dimension;
pub use set::WebhookSet;
pub use trace::{
    ConditionTrace, RuleMismatch, SeenNamespace, SeenObject, StepVerdict, Trace, TraceStep,
};
pub use validation::{
    ExpressionChecker, ExpressionError, ValidationOptions, expression_error, not_supported,
    reserved_name_warning, validate_conditions, validate_configuration_metadata,
};
