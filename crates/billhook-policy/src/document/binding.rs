//! The fields of bindings (PO-02).

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;

use super::MatchResources;

record! {
    /// A ValidatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingAdmissionPolicyBinding = "ValidatingAdmissionPolicyBinding" {
        /// `ValidatingAdmissionPolicyBinding`.
        pub kind: String = "kind",
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The metadata.
        pub metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        /// The binding itself.
        pub spec: ValidatingBindingSpec = "spec" [2] @required,
    }

    /// A MutatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingAdmissionPolicyBinding = "MutatingAdmissionPolicyBinding" {
        /// `MutatingAdmissionPolicyBinding`.
        pub kind: String = "kind",
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The metadata.
        pub metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        /// The binding itself.
        pub spec: MutatingBindingSpec = "spec" [2] @required,
    }

    /// `spec` of a ValidatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingBindingSpec = "ValidatingAdmissionPolicyBindingSpec" {
        /// The name of the policy.
        pub policy_name: String = "policyName" [1],
        /// The parameters.
        pub param_ref: Option<ParamRef> = "paramRef" [2],
        /// Which of the requests of the policy it is for; all if absent.
        pub match_resources: Option<MatchResources> = "matchResources" [3],
        /// The consequences of a denial: `Deny`, `Warn` and `Audit`.
        pub validation_actions: Vec<String> = "validationActions" [4] of "[]v1.ValidationAction"
            merge set,
    }

    /// `spec` of a MutatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingBindingSpec = "MutatingAdmissionPolicyBindingSpec" {
        /// The name of the policy.
        pub policy_name: String = "policyName" [1],
        /// The parameters.
        pub param_ref: Option<ParamRef> = "paramRef" [2],
        /// Which of the requests of the policy it is for; all if absent.
        pub match_resources: Option<MatchResources> = "matchResources" [3],
    }

    /// The parameters of a binding (PO-30, PO-31).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ParamRef = "ParamRef" @atomic {
        /// The name of one object.
        pub name: String = "name" [1],
        /// The namespace; that of the request if absent.
        pub namespace: String = "namespace" [2],
        /// Which objects.
        pub selector: Option<LabelSelector> = "selector" [3],
        /// The action if it is absent: `Allow` or `Deny`.
        pub parameter_not_found_action: Option<String> =
            "parameterNotFoundAction" [4] of "v1.ParameterNotFoundActionType",
    }
}
