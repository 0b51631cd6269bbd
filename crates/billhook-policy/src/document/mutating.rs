//! The fields of a MutatingAdmissionPolicy (PO-02).

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;

use super::{MatchCondition, MatchResources, ParamKind, Variable};

record! {
    /// A MutatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingAdmissionPolicy = "MutatingAdmissionPolicy" {
        /// `MutatingAdmissionPolicy`.
        pub kind: String = "kind",
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The metadata.
        pub metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        /// The policy itself.
        pub spec: MutatingPolicySpec = "spec" [2] @required,
    }

    /// `spec` of a MutatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingPolicySpec = "MutatingAdmissionPolicySpec" {
        /// The kind of its parameters, if it has any.
        pub param_kind: Option<ParamKind> = "paramKind" [1],
        /// Which requests it is for.
        pub match_constraints: Option<MatchResources> = "matchConstraints" [2],
        /// Expressions that others use.
        pub variables: Vec<Variable> = "variables" [3],
        /// The changes, in order.
        pub mutations: Vec<Mutation> = "mutations" [4],
        /// The effect of an error: `Fail` or `Ignore`.
        pub failure_policy: Option<String> = "failurePolicy" [5] of "v1.FailurePolicyType",
        /// Conditions that must all hold.
        pub match_conditions: Vec<MatchCondition> = "matchConditions" [6] merge "name",
        /// Whether it runs again after changes of others: `Never` or `IfNeeded`.
        pub reinvocation_policy: String = "reinvocationPolicy" [7] of "v1.ReinvocationPolicyType",
    }

    /// One change of an object.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Mutation = "Mutation" {
        /// `ApplyConfiguration` or `JSONPatch`.
        pub patch_type: String = "patchType" [2] of "v1.PatchType" @required,
        /// The expression for a configuration that is applied (PO-70).
        pub apply_configuration: Option<MutationExpression> = "applyConfiguration" [3],
        /// The expression for a JSON patch (PO-75).
        pub json_patch: Option<JsonPatchExpression> = "jsonPatch" [4] as "JSONPatch",
    }

    /// The expression for a configuration that is applied.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MutationExpression = "ApplyConfiguration" {
        /// The expression.
        pub expression: String = "expression" [1],
    }

    /// The expression for a JSON patch.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct JsonPatchExpression = "JSONPatch" {
        /// The expression.
        pub expression: String = "expression" [1],
    }
}

impl Mutation {
    /// Returns the expression for a configuration that is applied, if there is one.
    pub(crate) fn apply_configuration_expression(&self) -> Option<&str> {
        self.apply_configuration.as_ref().map(|it| it.expression.as_str())
    }

    /// Returns the expression for a JSON patch, if there is one.
    pub(crate) fn json_patch_expression(&self) -> Option<&str> {
        self.json_patch.as_ref().map(|it| it.expression.as_str())
    }
}
