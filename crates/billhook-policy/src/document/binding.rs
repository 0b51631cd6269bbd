//! The fields of bindings (PO-02).

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::record;
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use super::MatchResources;

/// A ValidatingAdmissionPolicyBinding. Reading one sets the defaults (PO-02).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValidatingAdmissionPolicyBinding {
    /// `metadata`, in normal form.
    pub metadata: DeepValue,
    /// The binding itself.
    pub spec: ValidatingBindingSpec,
}

/// A MutatingAdmissionPolicyBinding. Reading one sets the defaults (PO-02).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MutatingAdmissionPolicyBinding {
    /// `metadata`, in normal form.
    pub metadata: DeepValue,
    /// The binding itself.
    pub spec: MutatingBindingSpec,
}

record! {
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
        /// The action if there is none: `Allow` or `Deny`.
        pub parameter_not_found_action: Option<String> =
            "parameterNotFoundAction" of "v1.ParameterNotFoundActionType",
    }
}

fn name(metadata: &Value) -> &str {
    metadata.get("name").and_then(Value::as_str).unwrap_or_default()
}

impl ValidatingAdmissionPolicyBinding {
    /// Returns `metadata.name`.
    pub fn name(&self) -> &str {
        name(&self.metadata)
    }

    /// Sets what is absent (PO-02).
    pub fn set_defaults(&mut self) {
        self.spec.match_resources.iter_mut().for_each(MatchResources::set_defaults);
    }
}

impl MutatingAdmissionPolicyBinding {
    /// Returns `metadata.name`.
    pub fn name(&self) -> &str {
        name(&self.metadata)
    }

    /// Sets what is absent (PO-02).
    pub fn set_defaults(&mut self) {
        self.spec.match_resources.iter_mut().for_each(MatchResources::set_defaults);
    }
}
