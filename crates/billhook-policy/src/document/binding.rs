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
        pub metadata: ObjectMeta = "metadata" as "ObjectMeta",
        /// The binding itself.
        pub spec: ValidatingBindingSpec = "spec",
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
        pub metadata: ObjectMeta = "metadata" as "ObjectMeta",
        /// The binding itself.
        pub spec: MutatingBindingSpec = "spec",
    }

    /// `spec` of a ValidatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingBindingSpec = "ValidatingAdmissionPolicyBindingSpec" {
        /// The name of the policy.
        pub policy_name: String = "policyName",
        /// The parameters.
        pub param_ref: Option<ParamRef> = "paramRef",
        /// Which of the requests of the policy it is for; all if absent.
        pub match_resources: Option<MatchResources> = "matchResources",
        /// The consequences of a denial: `Deny`, `Warn` and `Audit`.
        pub validation_actions: Vec<String> = "validationActions" of "[]v1.ValidationAction",
    }

    /// `spec` of a MutatingAdmissionPolicyBinding.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MutatingBindingSpec = "MutatingAdmissionPolicyBindingSpec" {
        /// The name of the policy.
        pub policy_name: String = "policyName",
        /// The parameters.
        pub param_ref: Option<ParamRef> = "paramRef",
        /// Which of the requests of the policy it is for; all if absent.
        pub match_resources: Option<MatchResources> = "matchResources",
    }

    /// The parameters of a binding (PO-30, PO-31).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ParamRef = "ParamRef" {
        /// The name of one object.
        pub name: String = "name",
        /// The namespace; that of the request if absent.
        pub namespace: String = "namespace",
        /// Which objects.
        pub selector: Option<LabelSelector> = "selector",
        /// The action if it is absent: `Allow` or `Deny`.
        pub parameter_not_found_action: Option<String> =
            "parameterNotFoundAction" of "v1.ParameterNotFoundActionType",
    }
}
