//! The fields of a MutatingAdmissionPolicy (PO-02).

use billhook_apimachinery::record;
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use super::{MatchCondition, MatchResources, ParamKind, Variable};

/// A MutatingAdmissionPolicy. Reading one sets the defaults (PO-02).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MutatingAdmissionPolicy {
    /// `metadata`, in normal form.
    pub metadata: DeepValue,
    /// The policy itself.
    pub spec: MutatingPolicySpec,
}

record! {
    /// `spec` of a MutatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingPolicySpec = "MutatingAdmissionPolicySpec" {
        /// The kind of its parameters, if it has any.
        pub param_kind: Option<ParamKind> = "paramKind",
        /// Which requests it is for.
        pub match_constraints: Option<MatchResources> = "matchConstraints",
        /// Expressions that others use.
        pub variables: Vec<Variable> = "variables",
        /// The changes, in order.
        pub mutations: Vec<Mutation> = "mutations",
        /// The effect of an error: `Fail` or `Ignore`.
        pub failure_policy: Option<String> = "failurePolicy" of "v1.FailurePolicyType",
        /// Conditions that must all hold.
        pub match_conditions: Vec<MatchCondition> = "matchConditions",
        /// Whether it runs again after changes of others: `Never` or `IfNeeded`.
        pub reinvocation_policy: String = "reinvocationPolicy" of "v1.ReinvocationPolicyType",
    }

    /// One change of an object.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Mutation = "Mutation" {
        /// `ApplyConfiguration` or `JSONPatch`.
        pub patch_type: String = "patchType" of "v1.PatchType" @required,
        /// The expression for a configuration that is applied (PO-70).
        pub apply_configuration: Option<MutationExpression> = "applyConfiguration",
        /// The expression for a JSON patch (PO-75).
        pub json_patch: Option<MutationExpression> = "jsonPatch" as "JSONPatch",
    }

    /// The expression of a mutation.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MutationExpression = "ApplyConfiguration" {
        /// The expression.
        pub expression: String = "expression",
    }
}

impl MutatingAdmissionPolicy {
    /// Returns `metadata.name`.
    pub fn name(&self) -> &str {
        self.metadata.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Sets what is absent (PO-02).
    pub fn set_defaults(&mut self) {
        super::set_defaults(&mut self.spec.failure_policy, &mut self.spec.match_constraints);
    }
}
