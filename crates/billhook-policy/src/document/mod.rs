//! Policies and bindings as data (PO-01, PO-02).

mod binding;
mod mutating;
mod read;
mod validating;

use billhook_apimachinery::{GroupVersionKind, record, split_api_version};

use billhook::webhook::{MatchCondition, MatchResources};
pub use binding::{
    MutatingAdmissionPolicyBinding, MutatingBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBinding, ValidatingBindingSpec,
};
pub use mutating::{MutatingAdmissionPolicy, MutatingPolicySpec, Mutation, MutationExpression};
pub use read::{PolicyDocument, PolicyError, PolicyKind};
pub use validating::{
    AuditAnnotationExpression, ExpressionWarning, TypeChecking, ValidatingAdmissionPolicy,
    ValidatingPolicySpec, ValidatingPolicyStatus, Validation,
};

/// The API group of policies.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";

record! {
    /// The kind of the parameters of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ParamKind = "ParamKind" {
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The kind.
        pub kind: String = "kind",
    }

    /// An expression that others may use as `variables.<name>`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Variable = "Variable" {
        /// The name.
        pub name: String = "name" @required,
        /// The expression.
        pub expression: String = "expression" @required,
    }
}

impl ParamKind {
    /// Returns the parameters of a kind.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        ParamKind { api_version: api_version.into(), kind: kind.into() }
    }

    pub(crate) fn to_kind(&self) -> GroupVersionKind {
        let (group, version) = split_api_version(&self.api_version);
        GroupVersionKind::new(group, version, self.kind.as_str())
    }
}

/// Fills `failurePolicy` and the fields of constraints (PO-02).
fn set_defaults(failure_policy: &mut Option<String>, constraints: &mut Option<MatchResources>) {
    failure_policy.get_or_insert_with(|| "Fail".to_owned());
    if let Some(constraints) = constraints {
        constraints.set_defaults();
    }
}
