//! Policies and bindings as data (PO-01, PO-02).

mod binding;
mod mutating;
mod read;
mod validating;

use billhook_apimachinery::{GroupVersionKind, record, split_api_version};

pub(crate) use billhook::webhook::{MatchCondition, MatchResources};
pub use binding::{
    MutatingAdmissionPolicyBinding, MutatingBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBinding, ValidatingBindingSpec,
};
pub use mutating::{
    JsonPatchExpression, MutatingAdmissionPolicy, MutatingPolicySpec, Mutation, MutationExpression,
};
pub use read::{PolicyDocument, PolicyError, PolicyKind};
pub use validating::{
    AuditAnnotationExpression, ExpressionWarning, PolicyCondition, PolicyValidation, TypeChecking,
    ValidatingAdmissionPolicy, ValidatingPolicySpec, ValidatingPolicyStatus,
};

/// The API group of policies.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";

record! {
    /// The kind of the parameters of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ParamKind = "ParamKind" @atomic {
        /// Group and version.
        pub api_version: String = "apiVersion" [1] as "APIVersion",
        /// The kind.
        pub kind: String = "kind" [2],
    }

    /// An expression that others may use as `variables.<name>`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Variable = "Variable" @atomic {
        /// The name.
        pub name: String = "name" [1] @required,
        /// The expression.
        pub expression: String = "expression" [2] @required,
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

/// The fields that both kinds of policies have.
#[derive(Clone, Copy)]
pub(crate) struct PolicyParts<'p> {
    pub(crate) kind: PolicyKind,
    pub(crate) failure_policy: Option<&'p str>,
    pub(crate) param_kind: Option<&'p ParamKind>,
    pub(crate) constraints: Option<&'p MatchResources>,
    pub(crate) conditions: &'p [MatchCondition],
    pub(crate) variables: &'p [Variable],
}

macro_rules! parts {
    ($($spec:ident of $kind:ident,)*) => {$(
        impl $spec {
            pub(crate) fn parts(&self) -> PolicyParts<'_> {
                PolicyParts {
                    kind: PolicyKind::$kind,
                    failure_policy: self.failure_policy.as_deref(),
                    param_kind: self.param_kind.as_ref(),
                    constraints: self.match_constraints.as_ref(),
                    conditions: &self.match_conditions,
                    variables: &self.variables,
                }
            }
        }
    )*};
}

parts! {
    ValidatingPolicySpec of Validating,
    MutatingPolicySpec of Mutating,
}
